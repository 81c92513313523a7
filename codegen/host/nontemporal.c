/* nontemporal.c: results too large for the caches, which nothing of the program reads, are stored past them.
   The innermost loop of such a store runs in blocks: a block is made in a small array and goes to memory as whole lines
   (runtime/device/tile_nontemporal.h). */
#include "codegen/host/host.h"
#include "codegen/text/size.h"

#include <inttypes.h>

/* Half of a server processor's last-level cache: smaller results are still there for who reads them next, larger ones
   are not (measured: bench/cpu/log.md). */
static const int64_t nontemporal_bytes = 16000000;
enum { BLOCK_BYTES = 1024 };

static bool is_read(const Program *p, int tensor) {
    for (int i = 0; i < p->node.n; i++) {
        const Node *n = p->node.p[i];
        for (int j = 0; j < n->arg.n; j++)
            if (n->arg.p[j].tensor == tensor && !(n->kernel && n->kernel->param.p[j].out)) return true;
    }
    return false;
}

bool tensor_is_nontemporal(const Module *m, const Program *p, const Tensor *t) {
    int64_t bytes = elem_bits(t->elem) / 8;
    for (int d = 0; d < t->ndim; d++)
        if (t->dim[d].sym >= 0 || __builtin_mul_overflow(bytes, size_most(m, t->dim[d]), &bytes)) return false;
    return t->role == ROLE_OUTPUT && bytes >= nontemporal_bytes && !is_read(p, t->id);
}

static bool is_plain(const Affine *a) {
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind == TERM_VALUE) return false;
    return true;
}

/* Neighbours of the innermost loop are neighbours in memory, and all of them are inside. */
static bool is_dense(const Nest *n, const Op *store) {
    int16_t inner = n->range[n->n - 1];
    bool found = false;
    for (int d = 0; d < store->sub.n; d++) {
        const Affine *a = &store->sub.p[d].lo;
        bool last = d == store->sub.n - 1;
        if (!is_plain(a)) return false;
        for (int i = 0; i < a->nterm; i++) {
            const Term *t = &a->term[i];
            bool here = t->kind == TERM_POS && t->id == inner;
            if (here && (!last || t->mul != 1 || t->div != 1)) return false;
            found |= here;
        }
    }
    return found;
}

static bool is_nontemporal(const Nest *n, const Op *store) {
    const Fn *f = n->f;
    const Param *p = &f->k->param.p[store->param];
    return n->n && store->mode == STORE_SET && p->out && !p->packet && p->ranks < 0 &&
           f->memory->nontemporal[f->node->arg.p[store->param].tensor] && !region_has_access(f->k->body, store->param, OP_LOAD) &&
           is_dense(n, store);
}

/* The place where a block begins. */
static const CExpr *block_place(Nest *n, const Op *store, RangeText *r, const CExpr *begin, const char **inside) {
    Nest aside = nest_new(n->f, n->range, n->n);
    const CExpr *pos = r->pos;
    r->pos = begin;
    const CExpr *place = nest_place(&aside, store, inside);
    r->pos = pos;
    return place;
}

const CExpr *nontemporal_target(Nest *n, const Op *store) {
    Fn *f = n->f;
    if (!is_nontemporal(n, store)) return NULL;
    RangeText *r = &f->range[n->range[n->n - 1]];
    Elem e = f->k->param.p[store->param].elem;
    const char *begin = c_name(&f->names, fn_text(f, "%s_block", f->k->range.p[n->range[n->n - 1]].name)), *inside;
    const CExpr *to = block_place(n, store, r, cexpr_name(f, begin), &inside);
    if (inside) return NULL;
    n->nontemporal = ARENA_NEW(f->arena, Nontemporal);
    *n->nontemporal =
        (Nontemporal){.begin = begin,
                      .end = c_name(&f->names, fn_text(f, "%s_end", f->k->range.p[n->range[n->n - 1]].name)),
                      .line = c_name(&f->names, "line"),
                      .to = to->text,
                      .elem = e,
                      .count = BLOCK_BYTES * 8 / elem_bits(e)};
    return cexpr_call(f, "%s[%s - %s]", n->nontemporal->line, r->pos->text, begin);
}

void nontemporal_open(Nest *n, const RangeText *r) {
    Fn *f = n->f;
    const Nontemporal *s = n->nontemporal;
    const CExpr *count = cexpr_bare(r->count), *end = cexpr_open(f, "%s + %" PRId64, s->begin, s->count);
    int64_t most;
    bool whole = cexpr_const(count, &most) && most % s->count == 0;
    fn_line(f, "for (int64_t %s = 0; %s < %s; %s += %" PRId64 ") {", s->begin, s->begin, count->text, s->begin,
            s->count);
    f->indent++;
    fn_line(f, "const int64_t %s = %s;", s->end, (whole ? end : cexpr_least(f, end, count))->text);
    fn_line(f, "_Alignas(64) %s %s[%" PRId64 "];", elem_c(s->elem), s->line, s->count);
}

void nontemporal_close(Nest *n) {
    Fn *f = n->f;
    const Nontemporal *s = n->nontemporal;
    fn_line(f, "tile_store_nontemporal(&%s, %s, sizeof *%s * (size_t)(%s - %s));", s->to, s->line, s->line, s->end, s->begin);
    f->indent--;
    fn_line(f, "}");
}
