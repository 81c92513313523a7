/* layout.c: decides where every tile lies on a GPU: in which registers of which lanes of which waves of its
   workgroup.
   Takes: value form without flags. Gives: the form `layout`, the same results; docs/passes/layout.md. */
#include "passes/layout/layout.h"
#include "base/require.h"

#include <string.h>

/* ---- what a GPU's kernels do not do ---- */

static void refuse_op(Lay *l, Op *op) {
    if (op->kind == OP_STORE && op->mode == STORE_ADD && !lay_adds_atomically(l->k->param.p[op->param].elem))
        lay_refuse(l, op->loc, "an atomic sum of %s", elem_text(l->k->param.p[op->param].elem));
    op->region[1] = op->kind == OP_FOR ? NULL : op->region[1]; /* only `split` looks at merge */
}

static void refuse(Lay *l) {
    lay_each(l, l->k->body, refuse_op);
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

void lay_names(Lay *l) {
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

typedef struct {
    PassStep about;
    void (*run)(Lay *);
} LayStep;

static const LayStep steps[] = {
    {{"refuse", "what GPUs do not do is an error", 0, LAY_SUPPORTED, 0}, refuse},
    {{"names", "ranges get names that differ", 0, LAY_NAMES, 0}, lay_names},
    {{"measure", "ranges get extents that are powers of two", 0, LAY_EXTENTS, 0}, lay_measure},
    {{"unpack", "packed elements become bytes", 0, LAY_BYTES, 0}, lay_unpack},
    {{"load_cse", "equal loads of a region become one", 0, 0, 0}, lay_load_cse},
    {{"hoist", "loop-invariant loads go in front of their loop", LAY_EXTENTS, 0, 0}, lay_hoist},
    {{"expand", "products too small for instructions become `mul` and `sum`", LAY_EXTENTS, 0, 0}, lay_expand},
    {{"shrink", "smaller tiles, until registers and memory hold them", LAY_EXTENTS, 0, 0}, lay_shrink_tiles},
    {{"tile_size", "larger tiles for odd rows of a transpose", LAY_EXTENTS, 0, 0}, lay_tile_size},
    {{"occupancy", "smaller tiles, until every processor has a task", LAY_EXTENTS, LAY_SIZES, 0}, lay_occupancy},
    {{"waves", "the workgroup gets its waves", LAY_SIZES, LAY_WAVES, 0}, lay_choose_waves},
    {{"mask", "places past the end of a range get what operations ignore", LAY_BYTES | LAY_SIZES, LAY_STORES, 0},
     lay_prepare},
    {{"matrix", "products get their matrix instructions", LAY_NAMES | LAY_WAVES, LAY_PRODUCTS, 0}, lay_matrix},
    {{"align_rows", "odd rows begin at a multiple of 16 bytes", LAY_WAVES, LAY_ALIGNED, 0}, lay_align_rows},
    {{"classes", "tiles that must share a layout become a class", LAY_STORES | LAY_PRODUCTS | LAY_ALIGNED, LAY_CLASSES,
      0},
     lay_classes},
    {{"transpose", "the tile of a transpose gets two classes", LAY_CLASSES, 0, 0}, lay_transpose},
    {{"choose", "each class gets a layout", LAY_CLASSES, LAY_CHOSEN, 0}, lay_choose},
    {{"insert", "tiles get the layout of their class; conversions stand between", LAY_CHOSEN, LAY_LAYOUTS,
      LAY_CLASSES | LAY_CHOSEN},
     lay_insert},
    {{"schedule_loads", "loads move up", LAY_LAYOUTS, 0, 0}, lay_schedule_loads},
    {{"pipeline_loads", "loads of loops with products are fetched a step before", LAY_LAYOUTS, 0, 0}, lay_pipeline_loads},
    {{"defer_sums", "sums of loops are deferred", LAY_LAYOUTS, 0, 0}, lay_defer_sums},
    {{"compact", "layouts that no tile has are left out", LAY_LAYOUTS, LAY_COMPACT, 0}, compact_layouts},
};

static const PassStep *step_at(size_t i) { return i < sizeof steps / sizeof *steps ? &steps[i].about : NULL; }

static void step_run(Lay *l, const LayStep *s) {
    REQUIRE((l->facts & s->about.needs) == s->about.needs);
    s->run(l);
    l->facts = (l->facts | s->about.gives) & ~s->about.ends;
    if (l->failed) return;
    step_print(l->c, &pass_layout, &s->about, l->k);
    l->failed = l->c->options->verify_each && !lay_check(l, &s->about);
}

static bool layout_kernel(PassContext *c, Kernel *k, const MatrixTarget *target) {
    Lay l = {.c = c, .m = c->m, .k = k, .target = target, .scratch = arena_new()};
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !l.failed; i++) step_run(&l, &steps[i]);
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
        if (!plan_is_whole(&c->m->kernel.p[i]->plan)) good = layout_kernel(c, c->m->kernel.p[i], target) && good;
    return good;
}

const Pass pass_layout = {
    .name = "layout", .help = "give every tile its place in the registers of a GPU's workgroup",
    .needs = 0, .breaks = FORM_FLAGS, .values = true, .run = layout_run, .step = step_at, .fact = lay_fact,
};
