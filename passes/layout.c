/* layout.c: where every tile lies on a GPU: in which registers of which lanes of which waves of its workgroup.
   Takes: value form without flags, one rank. Gives: the form `layout`, the same results; docs/gpu.md. */
#include "passes/layout.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void lay_refuse(Lay *l, Loc loc, const char *format, ...) {
    char text[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    l->failed = true;
    diag_error(l->m->diags, loc, "unsupported", "not supported yet on %s: %s", l->target->name, text);
}

void lay_each(Lay *l, Region *r, LayVisit *visit) {
    for (Op *op = r ? r->first : NULL, *next; op; op = next) {
        next = op->next;
        visit(l, op);
        for (int i = 0; i < 2; i++) lay_each(l, op->region[i], visit);
    }
}

void lay_replace(Region *r, const Value *v, Value *by) {
    for (Op *op = r ? r->first : NULL; op; op = op->next) {
        for (int i = 0; i < op->arg.n; i++)
            if (op->arg.p[i] == v) op->arg.p[i] = by;
        for (int d = 0; d < op->sub.n; d++)
            for (int i = 0; i < op->sub.p[d].lo.nterm; i++)
                if (op->sub.p[d].lo.term[i].value == v) {
                    op->sub.p[d].lo.term[i].value = by;
                    op->sub.p[d].hi = op->sub.p[d].lo;
                }
        lay_replace(op->region[0], v, by);
        lay_replace(op->region[1], v, by);
    }
}

Layout lay_slice(const Lay *l, const Layout *of, Type t) {
    const char *name[MAX_RANGES];
    Layout to = {0};
    for (int i = 0; i < t.nrange; i++) name[i] = l->k->range.p[t.range[i]].name;
    layout_slice(&to, of, name, t.nrange);
    return to;
}

int lay_number(Lay *l, const Layout *wanted) {
    for (int i = 0; i < l->k->layout.n; i++)
        if (layout_equal(&l->k->layout.p[i], wanted)) return i + 1;
    vec_push(l->m->arena, &l->k->layout, *wanted);
    return l->k->layout.n;
}

int64_t lay_elements(const Lay *l, Type t) {
    int64_t n = 1;
    for (int i = 0; i < t.nrange; i++) n *= l->extent[t.range[i]];
    return n;
}

int lay_words(Elem e) { return elem_bits(e) > 32 ? 2 : 1; }

/* ---- what a GPU's kernels do not do ---- */

static void refuse_op(Lay *l, Op *op) {
    if (op_info[op->kind].class == CLASS_SYNC) lay_refuse(l, op->loc, "waits and signals inside kernels");
    if (op->kind == OP_LOAD && l->k->param.p[op->param].out)
        lay_refuse(l, op->loc, "a kernel that reads its own result");
    op->region[1] = op->kind == OP_FOR ? NULL : op->region[1]; /* only `split` looks at merge */
}

static void refuse_params(Lay *l) {
    for (int i = 0; i < l->k->param.n; i++) {
        const Param *p = &l->k->param.p[i];
        if (p->ranks >= 0) lay_refuse(l, p->loc, "memory of other ranks");
        if (elem_bits(p->elem) < 8) lay_refuse(l, p->loc, "tensors of %s", elem_text(p->elem));
    }
}

/* ---- ranges: names that differ, extents that are powers of two ---- */

static Name plain_name(const Lay *l, Name name) {
    char *plain = arena_text(l->m->arena, name, strlen(name));
    for (char *c = plain; *c; c++)
        if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') && !(c > plain && *c >= '0' && *c <= '9')) *c = '_';
    return name_of(l->m->names, *plain ? plain : "_");
}

static bool name_is_taken(const Kernel *k, int before, Name name) {
    for (int i = 0; i < before; i++)
        if (k->range.p[i].name == name) return true;
    return false;
}

static void name_ranges(Lay *l) {
    for (int i = 0; i < l->k->range.n; i++) {
        Name plain = plain_name(l, l->k->range.p[i].name), name = plain;
        for (int n = 2; name_is_taken(l->k, i, name); n++)
            name = name_of(l->m->names, arena_format(l->m->arena, "%s_%d", plain, n));
        l->k->range.p[i].name = name;
    }
}

static int64_t power_above(int64_t n) {
    int64_t p = 1;
    while (p < n) p *= 2;
    return p;
}

static void measure_ranges(Lay *l) {
    const int64_t most_positions = 1 << 24;
    l->extent = ARENA_ARRAY(l->scratch, int64_t, l->k->range.n + 1);
    for (int i = 0; i < l->k->range.n; i++) {
        int64_t most = range_most(l->m, l->k, i);
        const Range *r = &l->k->range.p[i];
        if (most < 0 || most > most_positions) lay_refuse(l, r->loc, "range '%s', whose tiles have no bound", r->name);
        l->extent[i] = power_above(most < 0 || most > most_positions ? 1 : most);
    }
}

/* ---- waves: so many that a thread has a handful of each tile, and that all of them fit ---- */

static void widest_tile(Lay *l, const Region *r, int64_t *words) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        for (int i = 0; i < op->res.n; i++) {
            int64_t n = lay_elements(l, op->res.p[i]->type) * lay_words(op->res.p[i]->type.elem);
            if (n > *words && op->kind != OP_POS) *words = n;
        }
        widest_tile(l, op->region[0], words);
        widest_tile(l, op->region[1], words);
    }
}

static void choose_waves(Lay *l) {
    enum { HANDFUL = 16, PLENTY = 128, COMMON_THREADS = 256, MOST_THREADS = 1024 };
    int64_t words = 1;
    widest_tile(l, l->k->body, &words);
    int waves = 1, lanes = l->target->wave;
    bool alone = l->k->level == LEVEL_WAVE;
    while (!alone && words > HANDFUL * lanes * waves && lanes * waves < COMMON_THREADS) waves *= 2;
    while (!alone && words > PLENTY * lanes * waves && lanes * waves < MOST_THREADS) waves *= 2;
    int budget = l->target->registers / (lanes * waves);
    if (budget > l->target->most_registers) budget = l->target->most_registers;
    int64_t wants = words / (lanes * waves);
    if (wants > budget * 3 / 4)
        lay_refuse(l, l->k->loc, "a tile of '%s' takes %lld registers of each of %d threads, of %d that a thread has", l->k->name,
                   (long long)wants, lanes * waves, budget);
    l->k->waves = waves;
    l->wave_bits = __builtin_ctz((unsigned)waves);
    for (int b = 0; b < LAY_WAVE_BITS; b++) l->wave[b].range = -1;
}

/* ---- the list of layouts, without those that no tile has in the end ---- */

typedef struct {
    int *renumbered, n;
    VEC(Layout) kept;
} Compact;

static void keep_layout(Lay *l, Compact *c, Value *v) {
    if (!v->layout) return;
    int *to = &c->renumbered[v->layout];
    if (!*to) {
        vec_push(l->m->arena, &c->kept, l->k->layout.p[v->layout - 1]);
        *to = c->kept.n;
    }
    v->layout = *to;
}

static void keep_region(Lay *l, Compact *c, Region *r) {
    if (!r) return;
    for (int i = 0; i < r->arg.n; i++) keep_layout(l, c, r->arg.p[i]);
    for (Op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->res.n; i++) keep_layout(l, c, op->res.p[i]);
        for (int i = 0; i < 2; i++) keep_region(l, c, op->region[i]);
    }
}

static void compact_layouts(Lay *l) {
    Compact c = {.renumbered = ARENA_ARRAY(l->scratch, int, l->k->layout.n + 1)};
    keep_region(l, &c, l->k->body);
    memcpy(&l->k->layout, &c.kept, sizeof c.kept);
}

/* ---- the pass ---- */

static bool layout_kernel(PassContext *c, Kernel *k, const MatrixTarget *target) {
    Lay l = {.m = c->m, .k = k, .target = target, .scratch = arena_new()};
    static void (*const step[])(Lay *) = {name_ranges, measure_ranges, lay_expand, choose_waves, lay_prepare, lay_matrix,
                                          lay_classes, lay_choose,     lay_insert,   compact_layouts};
    lay_each(&l, k->body, refuse_op);
    refuse_params(&l);
    for (size_t i = 0; i < sizeof step / sizeof *step && !l.failed; i++) step[i](&l);
    arena_free(l.scratch);
    return !l.failed;
}

static bool layout_run(PassContext *c) {
    const MatrixTarget *target = matrix_target(c->options->target);
    bool good = true;
    if (!target) {
        diag_error(c->m->diags, (Loc){0}, "unsupported", "the pass 'layout' wants a GPU: --target=%s", matrix_targets[0].name);
        return false;
    }
    for (int i = 0; i < c->m->kernel.n; i++) good = layout_kernel(c, c->m->kernel.p[i], target) && good;
    c->m->form |= FORM_LAYOUT;
    return good;
}

const Pass pass_layout = {
    .name = "layout", .help = "give every tile its place in the registers of a GPU's workgroup",
    .needs = 0, .breaks = FORM_FLAGS | FORM_LAYOUT, .run = layout_run,
};
