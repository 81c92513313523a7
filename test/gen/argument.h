/* argument.h: arguments of a call: tensors that are there and fit, or new ones that the program is given. */
#ifndef TILEC_TEST_GEN_ARGUMENT_H
#define TILEC_TEST_GEN_ARGUMENT_H

#include "test/gen/given.h"
#include "test/gen/kernel.h"

enum { CALL_WORK = 12000 }; /* positions of a call's dimensions, all multiplied; elements of an argument */

typedef struct {
    Src *g;
    Kern k;
    const char *args;
    bool varies[SRC_AXES];   /* some argument differs along the axis */
    bool is_split[SRC_AXES]; /* some argument is split, as planned in k.dim */
    bool gathered[SRC_AXES]; /* the first argument, before it is taken */
    int summed;              /* the split dimension that is in no result, or -1 */
    int updated;             /* the tensor that is updated in place, or -1 */
} Call;

static int planned(const Call *c, int axis) {
    for (int d = 0; d < c->k.ndim; d++)
        if (c->k.dim[d].axis == axis) return d;
    return -1;
}

static bool argument_fits(const Call *c, const SrcTensor *t, const KernParam *p) {
    if (t->ndim != p->ndim || (p->unique && !t->distinct) || (p->plus >= 0 && t->elem != ELEM_I32)) return false;
    if (c->updated >= 0 && c->g->tensor.p[c->updated].root == t->root) return false;
    for (int d = 0; d < t->ndim; d++) {
        int dim = c->k.dim[p->kd[d]].dim;
        if (t->view && c->k.dim[p->kd[d]].axis >= 0) return false;
        if (t->dim[d] != (d == p->plus ? EXTENT_PLUS + dim : dim)) return false;
    }
    for (int a = 0; a < c->g->naxis; a++) {
        if (t->place[a] == PLACE_P || (t->place[a] == PLACE_V && !c->varies[a])) return false;
        if (t->place[a] == PLACE_S && p->kd[t->split[a]] != planned(c, a)) return false;
    }
    return true;
}

static void argument_take(Call *c, KernParam *p, int tensor, const char *text) {
    const SrcTensor *t = &c->g->tensor.p[tensor];
    p->elem = t->elem;
    p->exact = t->exact;
    for (int a = 0; a < c->g->naxis; a++)
        c->is_split[a] = c->is_split[a] ||
                         (t->place[a] == PLACE_S && planned(c, a) >= 0 && !c->varies[a] && !(text && c->gathered[a]));
    c->args = SAY(c->g, "%s%s%s", c->args, *c->args ? ", " : "", text ? text : read_tensor(c->g, tensor));
    c->g->tensor.p[tensor].read = true;
}

static const char *argument_input(Call *c, const KernParam *p, int *tensor) {
    Src *g = c->g;
    SrcTensor t = {.ndim = p->ndim};
    const char *local = "";
    elem_random(g, &t.elem);
    if (p->plus >= 0) t.elem = ELEM_I32;
    for (int d = 0; d < p->ndim; d++) {
        int kd = p->kd[d], dim = c->k.dim[kd].dim, a = dim / EXTENT_LOCAL - 1;
        bool is_local = is_local_dim(dim);
        t.dim[d] = d == p->plus ? EXTENT_PLUS + dim : is_local ? dim % EXTENT_LOCAL : dim;
        if (!is_local && c->k.dim[kd].axis >= 0 && DRAW(g, 3))
            a = c->k.dim[kd].axis;
        else if (!is_local)
            continue;
        if (t.place[a] != PLACE_R) continue;
        t.place[a] = PLACE_S;
        t.split[a] = d;
        if (is_local) local = axis_name[a];
    }
    *tensor = given_add(g, t, !*local && RARELY(g, 8) ? KIND_STATE : KIND_INPUT);
    return *local ? SAY(g, "local(%s, %s)", g->tensor.p[*tensor].name, local) : NULL;
}

static void argument_find(Call *c, KernParam *p) {
    int found[64], n = 0, t;
    for (int i = 0; i < c->g->tensor.n && n < 64; i++)
        if (argument_fits(c, &c->g->tensor.p[i], p)) found[n++] = i;
    const char *text = NULL;
    if (n && DRAW(c->g, 3))
        t = found[DRAW(c->g, n)];
    else
        text = argument_input(c, p, &t);
    memset(c->gathered, 0, sizeof c->gathered);
    argument_take(c, p, t, text);
}

#endif
