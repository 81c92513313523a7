/* program_slice.c: agreement of the arguments of a call along each mesh axis.
   Takes placements; gives, for each replicated argument, the dimensions of which the kernel sees only this rank's
   block. */
#include "frontend/program.h"

typedef struct {
    Prog *c;
    const Decl *d;
    const ProgValue *arg;
    int narg, axis;
} Slice;

static const Tensor *arg_tensor(const Slice *s, int i) {
    if (s->arg[i].kind != PROG_TENSOR) return NULL;
    Tensor t = value_tensor(s->c, &s->arg[i]);
    return s->arg[i].lead || s->arg[i].view ? arena_copy(s->c->arena, &t, sizeof t) : &s->c->p->tensor.p[t.id];
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
    diag_error(c->diags, s->arg[a].loc, "mixed-placements", "'%s' is %s along '%s', and '%s' is %s",
               tensor_text(c, &s->arg[a]), what_a, axis, tensor_text(c, &s->arg[b]), what_b);
    diag_note(c->diags, s->arg[a].loc, "%s", fix);
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

static int split_dim(const Slice *s, int i) {
    const Tensor *t = arg_tensor(s, i);
    return t && s->arg[i].place[s->axis].kind == PLACE_S ? tensor_split(t, s->axis) : -1;
}

static bool is_named(const NameList *names, Name name) {
    for (int i = 0; i < names->n; i++)
        if (names->p[i] == name) return true;
    return false;
}

/* The dimensions of the kernel that are split over the axis; more than one may be right, such as heads and their
 * groups. */
static bool split_names(const Slice *s, NameList *names) {
    for (int i = 0; i < s->narg; i++) {
        int d = split_dim(s, i);
        if (d < 0 || d >= arg_shape(s, i)->n) continue;
        const Expr *e = arg_shape(s, i)->p[d];
        if (e->kind != EXPR_NAME) {
            diag_error(s->c->diags, s->arg[i].loc, "split-not-parallel",
                       "'%s' is split over '%s' along a dimension that %s does not take in parts",
                       tensor_text(s->c, &s->arg[i]), s->c->m->axis.p[s->axis].name, s->d->name);
            diag_note(s->c->diags, s->arg[i].loc, "gather it first: all_gather(%s)", tensor_text(s->c, &s->arg[i]));
            return false;
        }
        if (!is_named(names, e->name)) vec_push(s->c->arena, names, e->name);
    }
    return true;
}

static bool two_axes(const Slice *s, int i, Name name) {
    diag_error(s->c->diags, s->arg[i].loc, "unsupported", "not supported yet: '%s' of %s split over two mesh axes",
               name, s->d->name);
    return false;
}

static bool slice_argument(const Slice *s, int i, const NameList *names, Arg *out) {
    const Tensor *t = arg_tensor(s, i);
    if (!t || s->arg[i].place[s->axis].kind != PLACE_R) return true;
    for (int d = 0; d < t->ndim && d < arg_shape(s, i)->n; d++) {
        const Expr *e = arg_shape(s, i)->p[d];
        if (e->kind != EXPR_NAME || !is_named(names, e->name)) continue;
        if (t->dim[d].axis >= 0 || out->slice[s->arg[i].lead + d] >= 0) return two_axes(s, i, e->name);
        if (s->arg[i].view) {
            diag_error(s->c->diags, s->arg[i].loc, "unsupported", "not supported yet: a block of a view, along '%s'", e->name);
            return false;
        }
        out->slice[s->arg[i].lead + d] = (int16_t)s->axis;
    }
    return true;
}

bool slices_find(Prog *c, const Decl *d, const ProgValue *arg, int n, Arg *out) {
    for (int i = 0; i < n; i++) {
        out[i] = value_arg(&arg[i]);
    }
    for (int a = 0; a < c->m->axis.n; a++) {
        Slice s = {c, d, arg, n < d->params.n ? n : d->params.n, a};
        NameList names = {0};
        if (!kinds_agree(&s) || !split_names(&s, &names)) return false;
        for (int i = 0; i < s.narg; i++)
            if (!slice_argument(&s, i, &names, &out[i])) return false;
    }
    return true;
}
