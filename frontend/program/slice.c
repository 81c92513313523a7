/* slice.c: agreement of the arguments of a call along each mesh axis.
   Takes placements; gives, for each replicated argument, the dimensions of which the kernel sees only this rank's
   block. */
#include "frontend/program/graph.h"

typedef struct {
    Graph *g;
    const Decl *d;
    ProgValue *arg;
    int narg, axis;
} Slice;

static const Tensor *arg_tensor(const Slice *s, int i) {
    if (s->arg[i].kind != PROG_TENSOR) return NULL;
    Tensor t = value_tensor(s->g, &s->arg[i]);
    return value_is_part(&s->arg[i]) ? arena_copy(s->g->arena, &t, sizeof t) : &s->g->p->tensor.p[t.id];
}

static const Exprs *arg_shape(const Slice *s, int i) { return &s->d->params.p[i].type.shape; }

static int first_placed(const Slice *s, PlaceKind kind) {
    for (int i = 0; i < s->narg; i++)
        if (arg_tensor(s, i) && s->arg[i].place[s->axis].kind == kind) return i;
    return -1;
}

static bool mixed_report(const Slice *s, int a, int b, const char *what_a, const char *what_b, const char *fix) {
    Graph *g = s->g;
    Name axis = g->m->axis.p[s->axis].name;
    diag_error(g->diags, s->arg[a].loc, "mixed-placements", "'%s' is %s along '%s', and '%s' is %s",
               tensor_text(g, &s->arg[a]), what_a, axis, tensor_text(g, &s->arg[b]), what_b);
    diag_note(g->diags, s->arg[a].loc, "%s", fix);
    return false;
}

/* One axis carries one kind of placement beside replication. */
static bool kinds_agree(const Slice *s) {
    int split = first_placed(s, PLACE_S), part = first_placed(s, PLACE_P), own = first_placed(s, PLACE_V);
    if (own >= 0 && split >= 0)
        return mixed_report(s, split, own, "split", "different on each rank",
                            "gather it with all_gather(..), or take each rank's block with local(..)");
    if (own >= 0 && part >= 0)
        return mixed_report(s, part, own, "partial", "different on each rank", "reduce it first: all_reduce(..)");
    if (part >= 0 && split >= 0)
        return mixed_report(s, part, split, "partial", "split",
                            "reduce it first: all_reduce(..) or reduce_scatter(..)");
    return true;
}

/* ---- the dimensions of the kernel that are split ---- */

typedef struct {
    Name name;
    int axes;
    int arg; /* the first that is split so far */
} SplitName;

typedef VEC(SplitName) SplitNames;

static SplitName *split_named(const SplitNames *names, const Expr *e) {
    for (int i = 0; i < names->n && e->kind == EXPR_NAME; i++)
        if (names->p[i].name == e->name) return &names->p[i];
    return NULL;
}

static bool not_in_parts(const Slice *s, int i, int axes) {
    Graph *g = s->g;
    diag_error(g->diags, s->arg[i].loc, "split-not-parallel",
               "'%s' is split over '%s' along a dimension that %s does not take in parts", tensor_text(g, &s->arg[i]),
               axes_text(g->m, axes, "', '"), s->d->name);
    diag_note(g->diags, s->arg[i].loc, "gather it first: all_gather(%s)", tensor_text(g, &s->arg[i]));
    return false;
}

static bool orders_differ(const Slice *s, const SplitName *n, int i, int axes) {
    Graph *g = s->g;
    diag_error(g->diags, s->arg[i].loc, "split-twice", "'%s' of %s is split over '%s' in '%s', and over '%s' in '%s'",
               n->name, s->d->name, axes_text(g->m, axes, "', '"), tensor_text(g, &s->arg[i]),
               axes_text(g->m, n->axes, "', '"), tensor_text(g, &s->arg[n->arg]));
    diag_note(g->diags, s->arg[n->arg].loc, "gather one of them; a block is split further only by axes behind its own");
    return false;
}

/* What local(..) gives is different on each rank, not split. */
static int split_axes(const ProgValue *v, Size s) {
    int axes = -1;
    for (int a = s.axis; a >= 0 && v->place[axes_first(a)].kind == PLACE_S; a = axes_rest(a))
        axes = axes_join(axes, axes_first(a));
    return axes;
}

/* Of arguments split over tp, and over (tp, dp), the first are taken in part. */
static bool split_add(const Slice *s, SplitNames *names, int i, const Expr *e, int axes) {
    SplitName *n = split_named(names, e);
    int rest;
    if (e->kind != EXPR_NAME) return not_in_parts(s, i, axes);
    if (!n) {
        vec_push(s->g->arena, names, ((SplitName){e->name, axes, i}));
    } else if (axes_begin_with(axes, n->axes, &rest)) {
        n->axes = axes;
        n->arg = i;
    } else if (!axes_begin_with(n->axes, axes, &rest))
        return orders_differ(s, n, i, axes);
    return true;
}

/* More than one may be split over an axis, such as heads and their groups. */
static bool split_names(const Slice *s, SplitNames *names) {
    for (int i = 0; i < s->narg; i++) {
        const Tensor *t = arg_tensor(s, i);
        for (int d = 0; t && d < t->ndim && d < arg_shape(s, i)->n; d++) {
            int axes = split_axes(&s->arg[i], t->dim[d]);
            if (axes >= 0 && !split_add(s, names, i, arg_shape(s, i)->p[d], axes)) return false;
        }
    }
    return true;
}

/* ---- arguments taken in part ---- */

static bool is_replicated(const ProgValue *v, int axes) {
    for (; axes >= 0; axes = axes_rest(axes))
        if (v->place[axes_first(axes)].kind != PLACE_R) return false;
    return true;
}

/* A block of a view is taken of a copy. */
static bool view_copy(const Slice *s, int i, Arg *out) {
    s->arg[i] = value_whole(s->g, s->arg[i]);
    *out = value_arg(&s->arg[i]);
    return s->arg[i].kind == PROG_TENSOR;
}

static bool slice_argument(const Slice *s, int i, const SplitNames *names, Arg *out) {
    const Tensor *t = arg_tensor(s, i);
    for (int d = 0; t && d < t->ndim && d < arg_shape(s, i)->n; d++) {
        const SplitName *n = split_named(names, arg_shape(s, i)->p[d]);
        int rest;
        if (!n || !axes_begin_with(n->axes, t->dim[d].axis, &rest) || rest < 0) continue;
        if (!is_replicated(&s->arg[i], rest)) continue;
        if (s->arg[i].view && !view_copy(s, i, out)) return false;
        out->slice[value_lead(&s->arg[i]) + d] = (int16_t)rest;
    }
    return true;
}

bool slices_find(Graph *g, const Decl *d, ProgValue *arg, int n, Arg *out) {
    Slice s = {g, d, arg, n < d->params.n ? n : d->params.n, 0};
    SplitNames names = {0};
    for (int i = 0; i < n; i++) out[i] = value_arg(&arg[i]);
    for (s.axis = 0; s.axis < g->m->axis.n; s.axis++)
        if (!kinds_agree(&s)) return false;
    if (!split_names(&s, &names)) return false;
    for (int i = 0; i < s.narg; i++)
        if (!slice_argument(&s, i, &names, &out[i])) return false;
    return true;
}
