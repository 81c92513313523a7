/* coll.c: collectives, local and blocks: what they take, what they give, their optional arguments.
   all_gather S to R, reduce_scatter P to S, all_reduce P to R, all_to_all S(d) to S(e), stack, broadcast and permute of
   V. */
#include "frontend/program/callee.h"
#include "frontend/program/program.h"

#include <string.h>

typedef struct {
    Prog *c;
    const Expr *e;
    const CollInfo *info;
    const Expected *want;
    ProgValue x;
    int axes;      /* in the order in which they are gone through; -1: not given */
    int axis, dim; /* -1: not given */
    int64_t number;
    bool has_number;
} CollCall;

static const Tensor *source_of(const CollCall *k) {
    Tensor t = value_tensor(k->c->graph, &k->x);
    return arena_copy(k->c->arena, &t, sizeof t);
}

static bool refuse(const CollCall *k, Loc loc, const char *id, const char *message, const char *note) {
    diag_error(k->c->diags, loc, id, "%s", message);
    diag_note(k->c->diags, loc, "%s", note);
    return false;
}

#define SAY(k, ...) arena_format((k)->c->arena, __VA_ARGS__)

/* ---- optional arguments ---- */

static int axis_named(const Prog *c, Name name) {
    for (int a = 0; a < c->m->axis.n; a++)
        if (c->m->axis.p[a].name == name) return a;
    return -1;
}

static int dim_named(const CollCall *k, Name name) {
    const TensorInfo *info = tensor_info(k->c->graph, k->x.tensor);
    for (int d = 0; d < source_of(k)->ndim; d++)
        if (info->dim[value_lead(&k->x) + d].own == name || info->dim[value_lead(&k->x) + d].whole == name) return d;
    return -1;
}

static bool option_unknown(const CollCall *k, const Expr *e) {
    const DimName *dim = tensor_info(k->c->graph, k->x.tensor)->dim + value_lead(&k->x);
    int ndim = source_of(k)->ndim, n = 0;
    const char **list = ARENA_ARRAY(k->c->arena, const char *, k->c->m->axis.n + 2 * ndim + 1);
    for (int a = 0; a < k->c->m->axis.n; a++) list[n++] = k->c->m->axis.p[a].name;
    for (int d = 0; d < ndim; d++) {
        if (dim[d].own) list[n++] = dim[d].own;
        if (dim[d].whole) list[n++] = dim[d].whole;
    }
    const char *near = spelling_nearest(e->name, list, n);
    diag_error(k->c->diags, e->loc, "undefined", "'%s' is neither a mesh axis nor a dimension of '%s'", e->name,
               tensor_text(k->c->graph, &k->x));
    if (near)
        diag_suggest(k->c->diags, e->loc, e->name, near);
    else
        diag_note(k->c->diags, e->loc,
                  "a dimension is named as in the shape of the tensor or of the kernel that made it");
    return false;
}

static bool option_name(CollCall *k, const Expr *e) {
    int axis = axis_named(k->c, e->name), dim = dim_named(k, e->name);
    if (axis >= 0 && !axes_have(k->axes, axis)) return k->axes = axes_join(k->axes, axis), true;
    if (dim >= 0) return k->dim = dim, true;
    return option_unknown(k, e);
}

static bool option_number(CollCall *k, const Expr *e) {
    ProgValue v;
    if (!number_of_expr(k->c->scope, e, &v) || !v.number.is_integer)
        return refuse(k, e->loc, "wrong-arguments", SAY(k, "%s does not take this", k->info->name),
                      "it takes a mesh axis, a dimension or a number");
    if (k->info->argument) return k->number = v.number.i, k->has_number = true;
    if (v.number.i >= 0 && v.number.i < source_of(k)->ndim) return k->dim = (int)v.number.i, true;
    return refuse(
        k, e->loc, "wrong-arguments",
        SAY(k, "'%s' has no dimension %s", tensor_text(k->c->graph, &k->x), number_text(k->c->arena, v.number)),
        "dimensions count from 0");
}

static bool options_read(CollCall *k) {
    for (int i = 1; i < k->e->args.n; i++) {
        const Expr *e = k->e->args.p[i];
        bool good = e->kind == EXPR_NAME ? option_name(k, e) : option_number(k, e);
        if (!good) return false;
    }
    return true;
}

/* ---- what it takes ---- */

static bool is_reduction(const CollCall *k) { return k->info->takes == PLACE_P; }

static const char *kind_text(PlaceKind p) {
    return p == PLACE_S ? "split" : p == PLACE_P ? "a partial value" : "different on each rank";
}

static bool source_report(const CollCall *k) {
    const char *id = k->info->takes == PLACE_S   ? "not-split"
                     : k->info->takes == PLACE_P ? "not-partial"
                                                 : "not-different";
    const char *over = k->axis >= 0 ? SAY(k, " over '%s'", k->c->m->axis.p[k->axis].name) : "";
    const char *note = k->c->m->axis.n == 0 ? "this file has no mesh: declare one, such as mesh tp = 4;"
                       : k->info->takes == PLACE_V
                           ? "take each rank's block with local(..)"
                           : SAY(k, "%s is for values that are; leave it away here", k->info->name);
    return refuse(k, k->x.loc, id,
                  SAY(k, "'%s' is not %s%s", tensor_text(k->c->graph, &k->x), kind_text(k->info->takes), over), note);
}

static bool axes_have_all(int axes, int wanted) {
    for (; wanted >= 0; wanted = axes_rest(wanted))
        if (!axes_have(axes, axes_first(wanted))) return false;
    return true;
}

/* All that one dimension is split over, or that the declared result splits one over. */
static int axes_together(const CollCall *k, int found) {
    const Tensor *t = k->info->gathers ? source_of(k) : k->info->splits ? k->want->like : NULL;
    if (!k->info->several_axes) return -1;
    for (int d = 0; t && d < t->ndim; d++)
        if (axes_have_all(t->dim[d].axis, found) && axes_have_all(found, t->dim[d].axis)) return t->dim[d].axis;
    return -1;
}

static bool axes_choose(CollCall *k) {
    int found = -1;
    for (int a = 0; a < k->c->m->axis.n; a++)
        if (k->x.place[a].kind == k->info->takes) found = axes_join(found, a);
    k->axes = axes_rest(found) < 0 ? found : axes_together(k, found);
    if (found < 0) return source_report(k);
    if (k->axes >= 0) return true;
    return refuse(
        k, k->e->loc, "which-axis",
        SAY(k, "'%s' is %s over several mesh axes", tensor_text(k->c->graph, &k->x), kind_text(k->info->takes)),
        SAY(k, "name one: %s(.., %s)", k->info->name, k->c->m->axis.p[axes_first(found)].name));
}

/* Blocks are put together from the last axis to the first. */
static bool gather_order(CollCall *k) {
    const Tensor *t = source_of(k);
    int order = -1;
    for (int d = 0; d < t->ndim; d++)
        for (int a = t->dim[d].axis; axes_have(k->axes, axes_last(a)); a = axes_without_last(a))
            order = axes_join(order, axes_last(a));
    for (int a = k->axes; a >= 0; a = axes_rest(a)) {
        if (axes_have(order, axes_first(a))) continue;
        return refuse(
            k, k->e->loc, "split-order",
            SAY(k, "'%s' is split further behind '%s'", tensor_text(k->c->graph, &k->x),
                k->c->m->axis.p[axes_first(a)].name),
            SAY(k, "the last axis goes first; all_gather(%s) gathers all of them", tensor_text(k->c->graph, &k->x)));
    }
    k->axes = order;
    return true;
}

static bool axes_find(CollCall *k) {
    if (k->axes < 0 && !axes_choose(k)) return false;
    for (int a = k->axes; a >= 0; a = axes_rest(a)) {
        k->axis = axes_first(a);
        if (k->x.place[k->axis].kind != k->info->takes) return source_report(k);
    }
    if (!k->info->several_axes && axes_rest(k->axes) >= 0)
        return refuse(k, k->e->loc, "wrong-arguments", SAY(k, "%s takes one mesh axis", k->info->name),
                      "write one after the other");
    return !k->info->gathers || gather_order(k);
}

/* The dimension that becomes split: as named, as the declared result has it, or the only one possible. */
static bool target_dim(CollCall *k, int taken) {
    const Tensor *t = source_of(k);
    const Tensor *like = k->want->like;
    int wanted = like && like->ndim == t->ndim ? tensor_split(like, k->axis) : -1;
    if (k->dim < 0) k->dim = wanted;
    for (int d = 0, n = 0; k->dim < 0 && d < t->ndim && t->ndim - (taken >= 0) == 1; d++)
        if (d != taken && n++ == 0) k->dim = d;
    Name own = tensor_info(k->c->graph, k->x.tensor)->dim[0].own;
    if (k->dim < 0)
        return refuse(k, k->e->loc, "which-dimension",
                      SAY(k, "which dimension of '%s' is split over '%s'?", tensor_text(k->c->graph, &k->x),
                          k->c->m->axis.p[k->axis].name),
                      SAY(k, "name it: %s(.., %s), or declare the result's placement", k->info->name, own ? own : "0"));
    return true;
}

/* Blocks of different lengths have no common shape. */
static bool blocks_equal(const CollCall *k) {
    int d = tensor_split(source_of(k), k->axis);
    if (d < 0) return true;
    Size s = source_of(k)->dim[d];
    if (k->info->gives == PLACE_V && s.sym < 0 && s.c % axes_ranks(k->c->m, s.axis) == 0) return true;
    return refuse(k, k->x.loc, "uneven-blocks",
                  SAY(k, "the ranks' values of '%s' may differ in extent, and %s needs equal ones",
                      tensor_text(k->c->graph, &k->x), k->info->name),
                  "a kernel that reduces the split dimension gives equal ones; all_gather(..) takes blocks");
}

static bool number_fits(CollCall *k) {
    int64_t ranks = k->c->m->axis.p[k->axis].ranks;
    if (!k->has_number && k->info->argument == ARG_SHIFT)
        return refuse(k, k->e->loc, "wrong-arguments", SAY(k, "%s takes a shift", k->info->name),
                      SAY(k, "write %s(x, 1): each rank receives from the rank before it", k->info->name));
    if (k->info->argument == ARG_SHIFT) return k->number %= ranks, true;
    if (k->number >= 0 && k->number < ranks) return true;
    return refuse(k, k->e->loc, "wrong-arguments", SAY(k, "there is no rank %lld", (long long)k->number),
                  "ranks count from 0");
}

/* Each rank has its block, as long as blocks are. */
static bool are_blocks(const CollCall *k) {
    if (tensor_split(source_of(k), k->axis) >= 0) return true;
    return refuse(k, k->x.loc, "not-blocks",
                  SAY(k, "the ranks' values of '%s' are no blocks of a dimension over '%s'", tensor_text(k->c->graph, &k->x),
                      k->c->m->axis.p[k->axis].name),
                  "blocks(..) takes what kernels make of local(..), in its extents; stack(..) puts other values side by side");
}

static bool call_fits(CollCall *k) {
    const CollInfo *info = k->info;
    if (info == &coll_blocks) return are_blocks(k);
    if (info->splits && !target_dim(k, info->gathers ? tensor_split(source_of(k), k->axis) : -1)) return false;
    if (info->argument && !number_fits(k)) return false;
    return info->takes != PLACE_V || blocks_equal(k);
}

/* ---- what it gives ---- */

static void dims_of_result(const CollCall *k, Tensor *t, TensorInfo *info) {
    int split = tensor_split(t, k->axis);
    if (k->info->gathers) t->dim[split] = size_gathered(t->dim[split]);
    if (k->info->splits) t->dim[k->dim] = size_split(t->dim[k->dim], k->axis);
    if (!k->info->stacks) return;
    memmove(t->dim + 1, t->dim, sizeof *t->dim * (size_t)t->ndim);
    memmove(info->dim + 1, info->dim, sizeof *info->dim * (size_t)t->ndim);
    t->dim[0] = size_number(k->c->m->axis.p[k->axis].ranks);
    info->dim[0] = (DimName){NULL, k->c->m->axis.p[k->axis].name};
    t->ndim++;
}

static Elem elem_reduced(const CollCall *k, Elem whole) {
    return k->want->has_elem && elem_is_float(k->want->elem) ? k->want->elem : whole;
}

static int result_tensor(const CollCall *k, bool last) {
    Prog *c = k->c;
    Tensor t = *source_of(k);
    TensorInfo info = *tensor_info(c->graph, k->x.tensor);
    t.role = ROLE_TEMP;
    t.checked = false;
    t.loc = k->e->loc;
    t.name = last && k->want->name ? k->want->name : name_of(c->m->names, SAY(k, "%s_%s", t.name, k->info->suffix));
    memcpy(t.place, k->x.place, sizeof t.place);
    t.place[k->axis] = (Place){.kind = k->info->gives};
    /* Shares of a sum stay as wide as they are until the last axis is summed over. */
    bool partial = places_have_partial(c->m, t.place);
    if (is_reduction(k) && elem_is_float(t.elem) && !partial) t.elem = elem_reduced(k, info.whole_elem);
    dims_of_result(k, &t, &info);
    if (!partial) info.whole_elem = t.elem;
    return last && output_takes(c->graph, &t, k->want->into) ? k->want->into : tensor_new(c->graph, t, &info);
}

static ProgValue node_add(CollCall *k, bool last) {
    Prog *c = k->c;
    int split = tensor_split(source_of(k), k->axis);
    if (k->info->stacks && source_of(k)->ndim == SOURCE_DIMS) {
        refuse(k, k->x.loc, "too-many-dims",
               SAY(k, "'%s' has %d dimensions, at most %d are possible", tensor_text(c->graph, &k->x), SOURCE_DIMS,
                   SOURCE_DIMS),
               "stack adds one");
        return prog_error(k->e->loc);
    }
    Node n = {.kind = NODE_COLLECTIVE,
              .loc = k->e->loc,
              .coll = (Coll)(k->info - coll_info),
              .axis = k->axis,
              .shift = k->number,
              .src = k->x.tensor};
    const bool gathers = k->info->gathers, splits = k->info->splits;
    n.dim = splits && !gathers ? k->dim : split >= 0 && !k->info->stacks ? split : 0;
    n.dim2 = splits && gathers ? k->dim : 0;
    n.dst = result_tensor(k, last);
    node_new(c->graph, n);
    return prog_tensor(c->graph, n.dst, k->e->loc);
}

static ProgValue placed_view(const CollCall *k) {
    ProgValue v = k->x;
    v.loc = k->e->loc;
    v.place[k->axis] = (Place){.kind = k->info->gives};
    return v;
}

static Expected source_expected(const CollInfo *info, const Expected *want) {
    Expected e = {.has_elem = want->has_elem, .elem = want->elem, .into = -1};
    e.reduced = info->takes == PLACE_P;
    return e;
}

/* One collective along each axis. */
static ProgValue axes_lower(CollCall *k) {
    for (int a = k->axes; a >= 0; a = axes_rest(a)) {
        k->axis = axes_first(a);
        if (!call_fits(k)) return prog_error(k->e->loc);
        k->x = coll_is_view(k->info) ? placed_view(k) : node_add(k, axes_rest(a) < 0);
        if (k->x.kind != PROG_TENSOR) return k->x;
    }
    return k->x;
}

/* Collectives take whole tensors: of a scalar, the tensor of one element. */
static ProgValue source_whole(Prog *c, ProgValue v) {
    if (v.kind != PROG_TENSOR || !value_is_part(&v)) return v;
    if (!value_is_scalar(c->graph, &v)) v = value_whole(c->graph, v);
    return value_is_scalar(c->graph, &v) ? value_unspotted(&v) : v;
}

ProgValue collective_lower(Prog *c, const Expr *e, const CollInfo *info, const Expected *want) {
    CollCall k = {.c = c, .e = e, .info = info, .want = want, .axes = -1, .axis = -1, .dim = -1};
    if (e->args.n == 0) {
        refuse(&k, e->loc, "wrong-arguments", SAY(&k, "%s takes a tensor", e->name),
               "the mesh axis and the dimension may follow it");
        return prog_error(e->loc);
    }
    Expected inner = source_expected(k.info, want);
    k.x = tensor_lower(c, e->args.p[0], &inner);
    bool scalar = k.x.kind == PROG_TENSOR && value_tensor(c->graph, &k.x).ndim == 0;
    if (!coll_is_view(k.info)) k.x = source_whole(c, k.x);
    if (k.x.kind != PROG_TENSOR || !options_read(&k) || !axes_find(&k)) return prog_error(e->loc);
    ProgValue r = axes_lower(&k);
    bool whole = r.kind == PROG_TENSOR && !k.info->stacks && !coll_is_view(k.info);
    return scalar && whole ? scalar_of(c->graph, r) : r;
}
