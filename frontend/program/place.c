/* place.c: placements of what calls give, and the messages about placements that do not fit.
   Takes lowered kernels and placed arguments; the judgement about bodies is place.c's. */
#include "frontend/program/graph.h"

#include "frontend/sema/place.h"

#include <string.h>

static Name axis_name(const Graph *g, int axis) { return g->m->axis.p[axis].name; }

/* ---- whole values ---- */

static const char *part_text(PartOp op) { return op == PART_SUM ? "sum" : "maximum"; }

static bool partial_report(const Graph *g, const ProgValue *v, int axis, const char *where) {
    const TensorInfo *info = tensor_info(g, v->tensor);
    if (info->why)
        diag_error(g->diags, info->cause, "partial-as-whole", "%s", info->why);
    else
        diag_error(g->diags, v->loc, "partial-as-whole", "'%s' is a partial %s over '%s'", tensor_text(g, v),
                   part_text(v->place[axis].op), axis_name(g, axis));
    diag_note(g->diags, v->loc, "%s takes a whole value; reduce it: all_reduce(..) or reduce_scatter(..)%s", where,
              info->why ? ", or gather first: all_gather(..)" : "");
    return false;
}

static bool varies_report(const Graph *g, const ProgValue *v, int axis, const char *where) {
    diag_error(g->diags, v->loc, "varies-as-whole", "'%s' is different on each rank of '%s'", tensor_text(g, v),
               axis_name(g, axis));
    diag_note(g->diags, v->loc, "%s takes one value; gather the ranks' values under a new dimension: stack(..)", where);
    return false;
}

bool value_is_whole(const Graph *g, const ProgValue *v, const char *where) {
    for (int a = 0; a < g->m->axis.n; a++) {
        if (v->place[a].kind == PLACE_P) return partial_report(g, v, a, where);
        if (v->place[a].kind == PLACE_V) return varies_report(g, v, a, where);
    }
    return true;
}

int tensor_split(const Tensor *t, int axis) {
    for (int d = 0; d < t->ndim; d++)
        if (size_is_split_over(t->dim[d], axis)) return d;
    return -1;
}

bool output_takes(const Graph *g, const Tensor *t, int output) {
    if (output < 0) return false;
    const Tensor *out = &g->p->tensor.p[output];
    if (out->ndim != t->ndim || out->elem != t->elem) return false;
    for (int d = 0; d < t->ndim; d++)
        if (!size_equal(out->dim[d], t->dim[d])) return false;
    for (int a = 0; a < g->m->axis.n; a++)
        if (t->place[a].kind == PLACE_P || t->place[a].kind == PLACE_V) return false;
    return true;
}

bool inout_stays(const Graph *g, const Param *p, const ProgValue *v, const Arg *part, const Place *next) {
    if (!value_is_whole(g, v, arena_format(g->arena, "the inout parameter '%s'", p->name))) return false;
    for (int a = 0; a < g->m->axis.n; a++) {
        bool sliced = false;
        for (int d = 0; d < MAX_DIMS; d++) sliced = sliced || axes_have(part->slice[d], a);
        if (!sliced && next[a].kind == v->place[a].kind) continue;
        diag_error(g->diags, v->loc, "inout-placement", "the ranks of '%s' would update '%s' differently",
                   axis_name(g, a), tensor_text(g, v));
        diag_note(g->diags, v->loc,
                  sliced ? "each updates a block: declare it split over '%s'"
                         : "gather or reduce what it is updated with over '%s'",
                  axis_name(g, a));
        return false;
    }
    return true;
}

/* A block is split further by axes behind its own. */
static bool orders_fit(const Graph *g, const ProgValue *v, const Tensor *from, const Tensor *to) {
    int rest;
    for (int d = 0; d < from->ndim; d++) {
        if (axes_begin_with(to->dim[d].axis, from->dim[d].axis, &rest)) continue;
        diag_error(g->diags, v->loc, "placement-mismatch", "dimension %d of '%s' is%s, and '%s' is declared%s", d,
                   tensor_text(g, v), size_split_text(g->m, from->dim[d]), to->name, size_split_text(g->m, to->dim[d]));
        diag_note(g->diags, v->loc, "the first axis splits it, each next one what the axes before it leave");
        return false;
    }
    return true;
}

bool place_fits(const Graph *g, const ProgValue *v, const ProgValue *target, Loc loc) {
    const char *where = arena_format(g->arena, "'%s'", g->p->tensor.p[target->tensor].name);
    if (!value_is_whole(g, v, where)) return false;
    Tensor from = value_tensor(g, v), to = value_tensor(g, target);
    for (int a = 0; a < g->m->axis.n; a++) {
        int have = tensor_split(&from, a), want = tensor_split(&to, a);
        if (have < 0 || have == want) continue;
        diag_error(g->diags, v->loc, "split-as-whole", "'%s' is split over '%s' along dimension %d, and %s is %s",
                   tensor_text(g, v), axis_name(g, a), have, where, want < 0 ? "whole" : "split along another");
        diag_note(g->diags, loc,
                  want < 0 ? "gather it: all_gather(..), or declare %s split" : "move the split: all_to_all(..) to %s",
                  where);
        return false;
    }
    return orders_fit(g, v, &from, &to);
}

bool shape_fits(const Graph *g, const ProgValue *v, const Tensor *like, Loc loc) {
    const Tensor seen = value_tensor(g, v), *t = &seen;
    if (t->ndim != like->ndim) {
        diag_error(g->diags, v->loc, "shape-mismatch", "this is %s, and '%s' is %s", shape_text(g->f, t), like->name,
                   shape_text(g->f, like));
        return false;
    }
    for (int d = 0; d < t->ndim; d++) {
        if (size_equal(size_whole(t->dim[d]), size_whole(like->dim[d]))) continue;
        diag_error(g->diags, v->loc, "shape-mismatch", "dimension %d of this is %s, and that of '%s' is %s", d,
                   extent_text(g->f, t->dim[d]), like->name, extent_text(g->f, like->dim[d]));
        diag_note(g->diags, loc, "'%s' is declared here", like->name);
        return false;
    }
    return true;
}

/* ---- results of calls ---- */

typedef struct {
    const Graph *g;
    const Decl *d;
    const Kernel *k;
    const ProgValue *arg;
    int narg, axis;
} Judge;

static int placed(const Judge *j, PlaceKind kind) {
    for (int i = 0; i < j->narg; i++)
        if (j->arg[i].kind == PROG_TENSOR && j->arg[i].place[j->axis].kind == kind) return i;
    return -1;
}

/* The kernel's name for the split dimension of argument i. */
static const char *dim_text(const Judge *j, int i) {
    Tensor t = value_tensor(j->g, &j->arg[i]);
    int d = tensor_split(&t, j->axis);
    const Exprs *shape = &j->d->params.p[i].type.shape;
    return d >= 0 && d < shape->n && shape->p[d]->kind == EXPR_NAME ? shape->p[d]->name : "a dimension";
}

/* What a whole-tensor expression is made into has no name, but for calls of functions. */
static const char *kernel_text(const Judge *j) {
    return j->d->made && strcmp(j->d->name, "map") == 0 ? "this expression" : j->d->name;
}

static const char *split_text(const Judge *j, int i) {
    return arena_format(j->g->arena, "'%s' is split over '%s' along '%s'", tensor_text(j->g, &j->arg[i]),
                        axis_name(j->g, j->axis), dim_text(j, i));
}

/* The argument that is read where the fault is, if it is whole; -1: none. */
static int whole_argument(const Judge *j, const PlaceQuery *q) {
    if (q->fault != PLACE_NOT_PARALLEL || !q->at || q->at->kind != OP_LOAD) return -1;
    for (int i = 0, p = 0; i < j->narg; i++)
        if (j->arg[i].kind == PROG_TENSOR && p++ == q->at->param)
            return j->arg[i].place[j->axis].kind == PLACE_R ? i : -1;
    return -1;
}

/* Some argument of the call is split along the dimension of this name. */
static bool name_is_split(const Judge *j, Name name) {
    for (int i = 0; i < j->narg; i++) {
        if (j->arg[i].kind != PROG_TENSOR) continue;
        Tensor t = value_tensor(j->g, &j->arg[i]);
        const Exprs *shape = &j->d->params.p[i].type.shape;
        for (int d = 0; d < shape->n && d < t.ndim; d++)
            if (t.dim[d].axis >= 0 && shape->p[d]->kind == EXPR_NAME && shape->p[d]->name == name) return true;
    }
    return false;
}

/* U[n_whole, 2]: the type of a parameter without the names of split dimensions; NULL: it has none of them. */
static const char *type_apart(const Judge *j, const TypeExpr *type) {
    const char *s = arena_format(j->g->arena, "%s[", type->elem);
    bool shares = false;
    for (int d = 0; d < type->shape.n; d++) {
        const Expr *e = type->shape.p[d];
        if (e->kind != EXPR_NAME && e->kind != EXPR_INT) return NULL;
        bool split = e->kind == EXPR_NAME && name_is_split(j, e->name);
        shares = shares || split;
        s = e->kind == EXPR_INT
                ? arena_format(j->g->arena, "%s%s%lld", s, d ? ", " : "", (long long)e->i)
                : arena_format(j->g->arena, "%s%s%s%s", s, d ? ", " : "", e->name, split ? "_whole" : "");
    }
    return shares ? arena_format(j->g->arena, "%s]", s) : NULL;
}

/* A whole argument that shares a dimension's name with a split one. true: this was the fix to tell. */
static bool names_note(const Judge *j, int whole) {
    const ParamDecl *p = whole >= 0 ? &j->d->params.p[whole] : NULL;
    const char *apart = p && !j->d->made ? type_apart(j, &p->type) : NULL;
    if (!apart) return false;
    diag_note(j->g->diags, p->loc, "a whole argument has dimensions of its own: name them apart, '%s: %s'", p->name,
              apart);
    return true;
}

static void fault_note(const Judge *j, const PlaceQuery *q, int whole) {
    Diags *diags = j->g->diags;
    if (!q->at) return;
    if (whole >= 0)
        diag_note(diags, q->at->loc, "'%s' is whole, and where this reads it goes with the block",
                  tensor_text(j->g, &j->arg[whole]));
    else if (q->fault == PLACE_NOT_PARALLEL)
        diag_note(diags, q->at->loc, "this is not the task's own place of that dimension alone");
    else if (q->fault == PLACE_BOUND)
        diag_note(diags, q->at->loc, "the length of the dimension is used here");
    else
        diag_note(diags, q->at->loc, "partial results do not add up through %s here", op_phrase(q->at->kind));
}

/* Another argument whose split dimension has another name than that of argument i; -1: none. */
static int split_elsewhere(const Judge *j, int i) {
    for (int k = i + 1; k < j->narg; k++)
        if (j->arg[k].kind == PROG_TENSOR && j->arg[k].place[j->axis].kind == PLACE_S &&
            dim_text(j, k) != dim_text(j, i))
            return k;
    return -1;
}

static bool twice_report(const Judge *j, int i, int k) {
    const char *other = tensor_text(j->g, &j->arg[k]);
    diag_error(j->g->diags, j->arg[k].loc, "split-twice", "%s of %s, and '%s' along '%s'", split_text(j, i),
               kernel_text(j), other, dim_text(j, k));
    diag_note(j->g->diags, j->arg[k].loc, "a mesh axis splits one of them; gather the other: all_gather(%s)", other);
    return false;
}

static bool fault_report(const Judge *j, const PlaceQuery *q) {
    Diags *diags = j->g->diags;
    int split = placed(j, PLACE_S), part = placed(j, PLACE_P);
    int i = part >= 0 ? part : split;
    int other = part < 0 && q->fault == PLACE_NOT_PARALLEL ? split_elsewhere(j, i) : -1;
    const char *arg = tensor_text(j->g, &j->arg[i]);
    if (other >= 0) return twice_report(j, i, other);
    if (part >= 0)
        diag_error(diags, j->arg[i].loc, "partial-not-linear",
                   "'%s' is a partial %s over '%s', and %s does not keep it one", arg,
                   part_text(j->arg[i].place[j->axis].op), axis_name(j->g, j->axis), kernel_text(j));
    else if (q->fault == PLACE_NOT_PARALLEL)
        diag_error(diags, j->arg[i].loc, "split-not-parallel", "%s, where %s reaches beyond its own block",
                   split_text(j, i), kernel_text(j));
    else
        diag_error(diags, j->arg[i].loc, "split-not-reducible", "%s, which %s needs whole", split_text(j, i),
                   kernel_text(j));
    int whole = whole_argument(j, q);
    fault_note(j, q, whole);
    if (part >= 0)
        diag_note(diags, j->arg[i].loc, "reduce it first: all_reduce(%s) or reduce_scatter(%s)", arg, arg);
    else if (!names_note(j, whole))
        diag_note(diags, j->arg[i].loc, "gather it first: all_gather(%s)%s", arg,
                  q->fault == PLACE_NOT_LINEAR ? "; or end the kernel before this, reduce what it gives, all_reduce(..), and go on with that" : "");
    return false;
}

/* A whole argument at the places of a split range: each rank reads it where its own positions are in the whole. */
static int readable_whole(const Judge *j, const PlaceQuery *q) {
    int whole = whole_argument(j, q);
    bool position = false; /* global places are values */
    if (whole >= 0 && j->k->param.p[q->at->param].dim[q->dim].axis >= 0) return -1; /* the kernel takes it in blocks */
    for (int t = 0; whole >= 0 && t < q->at->sub.p[q->dim].lo.nterm; t++)
        position = position || q->at->sub.p[q->dim].lo.term[t].kind == TERM_POS;
    return position && j->d->params.p[whole].mode == PARAM_IN ? whole : -1;
}

static void cause_set(const Judge *j, PartOp op, TensorInfo *cause) {
    int split = placed(j, PLACE_S), part = placed(j, PLACE_P);
    if (cause->why) return;
    if (part >= 0) {
        cause->cause = tensor_info(j->g, j->arg[part].tensor)->cause;
        cause->why = tensor_info(j->g, j->arg[part].tensor)->why;
    } else if (split >= 0) {
        cause->cause = j->arg[split].loc;
        cause->why =
            arena_format(j->g->arena, "%s, which %s %s: the result is a partial %s", split_text(j, split),
                         kernel_text(j), op == PART_SUM ? "contracts" : "takes the maximum over", part_text(op));
    }
}

static bool judge_axis(const Judge *j, Place (*out)[MAX_AXES], TensorInfo *cause, int *whole) {
    const Kernel *k = j->k;
    Arena *arena = j->g->arena;
    if (placed(j, PLACE_V) >= 0) {
        for (int i = 0; i < k->param.n; i++) out[i][j->axis] = (Place){.kind = PLACE_V};
        return true;
    }
    if (placed(j, PLACE_S) < 0 && placed(j, PLACE_P) < 0) return true;
    Place *in = ARENA_ARRAY(arena, Place, k->param.n);
    PlaceQuery q = {.m = j->g->m, .k = k, .axis = j->axis, .in = in, .out = ARENA_ARRAY(arena, Place, k->param.n)};
    for (int i = 0, p = 0; i < j->narg; i++)
        if (j->arg[i].kind == PROG_TENSOR) in[p++] = j->arg[i].place[j->axis];
    if (!kernel_place(&q)) return (*whole = readable_whole(j, &q)) >= 0 ? false : fault_report(j, &q);
    for (int i = 0; i < k->param.n; i++) {
        out[i][j->axis] = q.out[i];
        if (q.out[i].kind == PLACE_P) cause_set(j, q.out[i].op, cause);
    }
    return true;
}

bool places_find(const Graph *g, const Decl *d, const Kernel *k, const ProgValue *arg, int n, Place (*out)[MAX_AXES],
                 TensorInfo *cause, int *whole) {
    bool good = true;
    *whole = -1;
    for (int a = 0; a < g->m->axis.n && *whole < 0; a++) {
        Judge j = {g, d, k, arg, n, a};
        good = judge_axis(&j, out, cause, whole) && good;
    }
    return good;
}
