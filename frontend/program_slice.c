/* program_slice.c: agreement of the arguments of a call along each mesh axis.
   Takes placements; gives, for each replicated argument, the dimensions of which the kernel sees only this rank's block. */
#include "frontend/program.h"

typedef struct {
    Prog *c;
    const Decl *d;
    const ProgValue *arg;
    int narg, axis;
} Slice;

static const Tensor *arg_tensor(const Slice *s, int i) {
    return s->arg[i].kind == PROG_TENSOR ? &s->c->p->tensor.p[s->arg[i].tensor] : NULL;
}

static const Exprs *arg_shape(const Slice *s, int i) { return &s->d->params.p[i].type.shape; }

static int first_placed(const Slice *s, PlaceKind kind) {
    for (int i = 0; i < s->narg; i++)
        if (arg_tensor(s, i) && s->arg[i].place[s->axis].kind == kind) return i;
    return -1;
}

static bool mixed_report(const Slice *s, int a, int b, const char *what_a, const char *what_b, const char *fix) {
    Prog *c = s->c;
    Name axis = c->m->axis.p[s->axis].name;
    diag_error(c->diags, s->arg[a].loc, "mixed-placements", "'%s' is %s along '%s', and '%s' is %s", tensor_text(c, &s->arg[a]),
               what_a, axis, tensor_text(c, &s->arg[b]), what_b);
    diag_note(c->diags, s->arg[a].loc, "%s", fix);
    return false;
}

/* One axis carries one kind of placement beside replication. */
static bool kinds_agree(const Slice *s) {
    int split = first_placed(s, PLACE_S), part = first_placed(s, PLACE_P), own = first_placed(s, PLACE_V);
    if (own >= 0 && split >= 0)
        return mixed_report(s, split, own, "split", "different on each rank", "gather it with all_gather(..), or take each rank's block with local(..)");
    if (own >= 0 && part >= 0)
        return mixed_report(s, part, own, "partial", "different on each rank", "reduce it first: all_reduce(..)");
    if (part >= 0 && split >= 0)
        return mixed_report(s, part, split, "partial", "split", "reduce it first: all_reduce(..) or reduce_scatter(..)");
    return true;
}

static int split_dim(const Slice *s, int i) {
    const Tensor *t = arg_tensor(s, i);
    for (int d = 0; t && d < t->ndim; d++)
        if (t->dim[d].axis == s->axis && s->arg[i].place[s->axis].kind == PLACE_S) return d;
    return -1;
}

static void twice_report(const Slice *s, int i, Name a, Name b) {
    Prog *c = s->c;
    diag_error(c->diags, s->arg[i].loc, "split-twice", "'%s' is split over '%s' along '%s' of %s, and another argument along '%s'",
               tensor_text(c, &s->arg[i]), c->m->axis.p[s->axis].name, b, s->d->name, a);
    diag_note(c->diags, s->arg[i].loc, "gather one of them: all_gather(%s)", tensor_text(c, &s->arg[i]));
}

/* The dimension of the kernel that is split over the axis. false after errors; *name NULL: none. */
static bool split_name(const Slice *s, Name *name) {
    *name = NULL;
    for (int i = 0; i < s->narg; i++) {
        int d = split_dim(s, i);
        if (d < 0 || d >= arg_shape(s, i)->n) continue;
        const Expr *e = arg_shape(s, i)->p[d];
        if (e->kind != EXPR_NAME) {
            diag_error(s->c->diags, s->arg[i].loc, "split-not-parallel", "'%s' is split over '%s' along a dimension that %s does not take in parts",
                       tensor_text(s->c, &s->arg[i]), s->c->m->axis.p[s->axis].name, s->d->name);
            diag_note(s->c->diags, s->arg[i].loc, "gather it first: all_gather(%s)", tensor_text(s->c, &s->arg[i]));
            return false;
        }
        if (*name && *name != e->name) return twice_report(s, i, *name, e->name), false;
        *name = e->name;
    }
    return true;
}

static bool two_axes(const Slice *s, int i, Name name) {
    diag_error(s->c->diags, s->arg[i].loc, "unsupported", "not supported yet: '%s' of %s split over two mesh axes", name, s->d->name);
    return false;
}

static bool slice_argument(const Slice *s, int i, Name name, Arg *out) {
    const Tensor *t = arg_tensor(s, i);
    if (!t || s->arg[i].place[s->axis].kind != PLACE_R) return true;
    for (int d = 0; d < t->ndim && d < arg_shape(s, i)->n; d++) {
        const Expr *e = arg_shape(s, i)->p[d];
        if (e->kind != EXPR_NAME || e->name != name) continue;
        if (t->dim[d].axis >= 0 || out->slice[d] >= 0) return two_axes(s, i, name);
        out->slice[d] = (int16_t)s->axis;
    }
    return true;
}

bool slices_find(Prog *c, const Decl *d, const ProgValue *arg, int n, Arg *out) {
    for (int i = 0; i < n; i++) {
        out[i].tensor = arg[i].tensor;
        for (int k = 0; k < MAX_DIMS; k++) out[i].slice[k] = -1;
    }
    for (int a = 0; a < c->m->axis.n; a++) {
        Slice s = {c, d, arg, n < d->params.n ? n : d->params.n, a};
        Name name;
        if (!kinds_agree(&s) || !split_name(&s, &name)) return false;
        for (int i = 0; i < s.narg && name; i++)
            if (!slice_argument(&s, i, name, &out[i])) return false;
    }
    return true;
}
