/* layout.c: where every tile lies on a GPU: in which registers of which lanes of which waves of its workgroup.
   Takes: value form without flags. Gives: the form `layout`, the same results; docs/design/gpu.md. */
#include "passes/layout/layout.h"

#include <string.h>

/* ---- what a GPU's kernels do not do ---- */

static bool adds_atomically(Elem e) { return e == ELEM_F32 || e == ELEM_F64 || e == ELEM_I32 || e == ELEM_I64; }

static void refuse_op(Lay *l, Op *op) {
    if (op->kind == OP_STORE && op->mode == STORE_ADD && !adds_atomically(l->k->param.p[op->param].elem))
        lay_refuse(l, op->loc, "an atomic sum of %s", elem_text(l->k->param.p[op->param].elem));
    op->region[1] = op->kind == OP_FOR ? NULL : op->region[1]; /* only `split` looks at merge */
}

static void refuse_params(Lay *l) {
    for (int i = 0; i < l->k->param.n; i++) {
        const Param *p = &l->k->param.p[i];
        if (elem_is_packed(p->elem) && (p->out || p->inout)) lay_refuse(l, p->loc, "results of %s", elem_text(p->elem));
    }
}

/* ---- ranges: names that differ ---- */

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
    Lay l = {.c = c, .m = c->m, .k = k, .target = target, .scratch = arena_new()};
    static void (*const step[])(Lay *) = {
        name_ranges, lay_measure, lay_unpack, lay_load_cse, lay_hoist, lay_expand, lay_shrink_tiles, lay_tile_size, lay_occupancy, lay_choose_waves, lay_prepare,
        lay_matrix, lay_align_rows, lay_classes, lay_transpose, lay_choose, lay_insert, lay_schedule_loads, lay_pipeline_loads, lay_defer_sums, compact_layouts};
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
    for (int i = 0; i < c->m->kernel.n; i++)
        if (!c->m->kernel.p[i]->schedule) good = layout_kernel(c, c->m->kernel.p[i], target) && good;
    c->m->form |= FORM_LAYOUT;
    return good;
}

const Pass pass_layout = {
    .name = "layout", .help = "give every tile its place in the registers of a GPU's workgroup",
    .needs = 0, .breaks = FORM_FLAGS | FORM_LAYOUT, .run = layout_run,
};
