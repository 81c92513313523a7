/* memory.c: where temporaries, flag words and counters of a program lie, for the largest sizes. */
#include "codegen/text/nest.h"
#include "codegen/host/host.h"

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* Bytes: less than the 2^47 of an address space; larger tensors count as that. */
static const int64_t byte_limit = INT64_C(1) << 46;

static int64_t tensor_bytes(const Module *m, const Tensor *t) {
    int64_t bytes = t->packet ? 8 : (elem_bits(t->elem) + 7) / 8;
    for (int d = 0; d < t->ndim; d++)
        if (__builtin_mul_overflow(bytes, size_most(m, t->dim[d]), &bytes) || bytes > byte_limit) return byte_limit;
    return round_up(elem_is_packed(t->elem) ? ceil_div(bytes * elem_bits(t->elem), 8) : bytes, 64);
}

static bool place_temporary(Memory *l, const Module *m, const Tensor *t) {
    int64_t *end = t->symmetric >= 0 ? &l->symmetric : &l->local;
    l->bytes[t->id] = tensor_bytes(m, t);
    l->offset[t->id] = *end;
    if (*end < byte_limit) *end += l->bytes[t->id] * t->slots;
    bool shared = elem_is_packed(t->elem) && t->symmetric >= 0;
    if (*end < byte_limit && !shared) return true;
    if (shared)
        diag_error(m->diags, t->loc, "unsupported", "not supported yet by the host's code generator: collectives of %s",
                   elem_text(t->elem));
    else
        diag_error(m->diags, t->loc, "tensor-too-large", "temporary '%s' does not fit the address space", t->name);
    return false;
}

static bool check_argument(const Module *m, const Tensor *t) {
    if (t->symmetric >= 0 || t->slots > 1)
        diag_error(m->diags, t->loc, "unsupported",
                   "not supported yet: argument '%s' in memory that other ranks address", t->name);
    else
        return true;
    return false;
}

/* Words and counters are counted in cache lines: as many bytes of them fit as of temporaries. */
static bool place_flag(Memory *l, const Module *m, const Program *p, const Flag *flag) {
    FlagPlace at = {.word = l->words, .count = l->counts, .words = 1};
    int64_t ranks = flag->axis >= 0 ? m->axis.p[flag->axis].ranks : 1, most = byte_limit / 64 / ranks;
    for (int i = 0; i < flag->dim.n; i++) {
        const FlagDim *d = &flag->dim.p[i];
        int64_t tasks = d->size ? ceil_div(size_most(m, d->of), d->size) : 1;
        if (d->ragged) tasks += 1 + size_most(m, d->groups);
        at.extent[i] = d->group > 0 ? ceil_div(tasks, d->group) : 1;
        if (at.extent[i] < 1) at.extent[i] = 1;
        at.words = at.words > most / at.extent[i] ? most : at.words * at.extent[i];
    }
    l->words += at.words * ranks;
    l->counts += at.words * ranks;
    l->flag[flag->id] = at;
    if (l->words < byte_limit / 64) return true;
    diag_error(m->diags, p->loc, "flags-too-large", "the words of flag '%s' do not fit the address space", flag->name);
    diag_note(m->diags, p->loc, "larger tiles need fewer; --off=flags needs one word for each pair of kernels");
    return false;
}

bool memory_make(Arena *a, const Module *m, const Program *p, Memory *l) {
    *l = (Memory){.offset = ARENA_ARRAY(a, int64_t, p->tensor.n + 1),
                  .bytes = ARENA_ARRAY(a, int64_t, p->tensor.n + 1),
                  .arg = ARENA_ARRAY(a, int, p->tensor.n + 1),
                  .nontemporal = ARENA_ARRAY(a, bool, p->tensor.n + 1),
                  .flag = ARENA_ARRAY(a, FlagPlace, p->flag.n + 1)};
    bool good = true;
    for (int i = 0; i < p->tensor.n; i++) l->arg[i] = -1;
    for (int i = 0; i < p->io.n; i++) l->arg[p->io.p[i]] = i;
    for (int i = 0; i < p->tensor.n; i++)
        good &= l->arg[i] < 0 ? place_temporary(l, m, &p->tensor.p[i]) : check_argument(m, &p->tensor.p[i]);
    for (int i = 0; i < p->tensor.n; i++) l->nontemporal[i] = tensor_is_nontemporal(m, p, &p->tensor.p[i]);
    for (int i = 0; good && i < p->flag.n; i++) good = place_flag(l, m, p, &p->flag.p[i]);
    return good;
}
