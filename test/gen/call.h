/* call.h: a call of a random kernel made for it: what it takes split, whole, summed, or updates in place. */
#ifndef TILEC_TEST_GEN_CALL_H
#define TILEC_TEST_GEN_CALL_H

#include "test/gen/argument.h"

static void call_dim(Call *c, int dim, bool reduced) {
    if (c->k.ndim < KERN_DIMS)
        c->k.dim[c->k.ndim++] = (KernDim){.dim = dim, .reduced = reduced, .axis = -1, .range = -1};
}

static int results_of(const Call *c) {
    int n = 0;
    for (int d = 0; d < c->k.ndim; d++) n += !c->k.dim[d].reduced;
    return n;
}

static bool has_local(const Call *c) {
    for (int d = 0; d < c->k.ndim; d++)
        if (is_local_dim(c->k.dim[d].dim)) return true;
    return false;
}

/* The first argument: its dimensions are the kernel's first ones. Taken whole, in parts, or as what each rank has. */
static const char *base_take(Call *c, int base) {
    Src *g = c->g;
    const SrcTensor *t = &g->tensor.p[base];
    const char *text = t->name;
    for (int d = 0; d < t->ndim; d++) call_dim(c, t->dim[d], false), c->k.dim[d].whole = t->view;
    for (int a = 0; a < g->naxis; a++) {
        c->varies[a] = t->place[a] == PLACE_V;
        if (t->place[a] != PLACE_S) continue;
        int form = DRAW(g, 4);
        KernDim *k = &c->k.dim[t->split[a]];
        if (c->updated >= 0)
            k->axis = a;
        else if (form == 3 && t->ndim > 1 && !has_local(c)) {
            text = SAY(g, "local(%s, %s)", text, axis_name[a]);
            c->varies[a] = g->varies = true;
            k->dim += EXTENT_LOCAL * (a + 1);
            k->reduced = true;
        } else if (form == 2)
            text = SAY(g, "all_gather(%s, %s)", text, axis_name[a]), c->gathered[a] = true;
        else
            k->axis = a;
    }
    return text;
}

static void roles_choose(Call *c) {
    bool update = c->updated >= 0;
    for (int d = 0; d < c->k.ndim && !update; d++)
        if (!is_local_dim(c->k.dim[d].dim))
            c->k.dim[d].reduced = RARELY(c->g, c->k.dim[d].axis >= 0 ? 2 : 4) && results_of(c) > 1;
    while (RARELY(c->g, 3) && c->k.ndim < KERN_DIMS)
        call_dim(c, DRAW(c->g, c->g->ndim), RARELY(c->g, 2) || (update && !c->k.adds));
}

/* Along axes that the first argument leaves free a dimension may be split, for the other arguments. */
static void splits_choose(Call *c) {
    for (int a = 0; a < c->g->naxis && c->updated < 0; a++) {
        int d = DRAW(c->g, c->k.ndim);
        bool free = planned(c, a) < 0 && !c->varies[a] && c->k.dim[d].axis < 0 && is_plain_dim(c->k.dim[d].dim) &&
                    !c->k.dim[d].whole;
        if (free && RARELY(c->g, 2)) c->k.dim[d].axis = a;
    }
    c->summed = -1;
    for (int d = 0; d < c->k.ndim; d++) {
        if (!c->k.dim[d].reduced || c->k.dim[d].axis < 0) continue;
        if (c->summed >= 0)
            c->k.dim[d].reduced = false;
        else
            c->summed = d;
    }
}

static bool dims_of_param(Call *c, KernParam *p, int must) {
    Src *g = c->g;
    *p = (KernParam){.plus = -1};
    if (must >= 0) p->kd[p->ndim++] = must;
    int64_t elements = must >= 0 ? extent_value(g, c->k.dim[must].dim) : 1;
    for (int n = g->many ? 2 + DRAW(g, SRC_RANK - 1) : 1 + DRAW(g, 3); p->ndim < n;) {
        int d = DRAW(g, c->k.ndim);
        bool twice = false;
        for (int i = 0; i < p->ndim; i++) twice = twice || p->kd[i] == d;
        if (twice && (g->many || c->k.dim[d].axis >= 0 || !is_plain_dim(c->k.dim[d].dim) || DRAW(g, 3))) break;
        elements *= extent_value(g, c->k.dim[d].dim);
        if (elements > CALL_WORK) break;
        p->kd[p->ndim++] = d;
    }
    if (p->ndim > 1 && DRAW(g, 2)) {
        int first = p->kd[0];
        p->kd[0] = p->kd[1], p->kd[1] = first;
    }
    return p->ndim > 0;
}

static void params_choose(Call *c, int first_free) {
    Kern *k = &c->k;
    for (int d = first_free; d < k->ndim && k->nparam < KERN_PARAMS; d++) {
        dims_of_param(c, &k->param[k->nparam], d);
        argument_find(c, &k->param[k->nparam++]);
    }
    for (int n = DRAW(c->g, 3); n > 0 && k->nparam < KERN_PARAMS; n--) {
        dims_of_param(c, &k->param[k->nparam], -1);
        argument_find(c, &k->param[k->nparam++]);
    }
    int d = DRAW(c->g, k->ndim);
    if (!RARELY(c->g, 5) || k->dim[d].axis >= 0 || !is_plain_dim(k->dim[d].dim) || k->nparam == KERN_PARAMS) return;
    k->param[k->nparam] = (KernParam){.ndim = 1, .kd = {d}, .plus = 0};
    argument_find(c, &k->param[k->nparam++]);
}

static KernResult result_choose(Call *c) {
    Src *g = c->g;
    KernResult r = {.elem = ELEM_F32};
    for (int d = 0; d < c->k.ndim; d++)
        if (!c->k.dim[d].reduced) r.kd[r.ndim++] = d;
    for (int i = r.ndim - 1; i > 0; i--) {
        int j = i - DRAW(g, i + 1), x = r.kd[i];
        r.kd[i] = r.kd[j], r.kd[j] = x;
    }
    if (c->summed < 0)
        elem_random(g, &r.elem);
    else
        r.max = RARELY(g, 4);
    if (c->summed >= 0 && !r.max && RARELY(g, 4)) r.elem = ELEM_BF16, g->varies = true; /* each rank rounds its part */
    return r;
}

/* A result to which the kernel adds at computed places: some of the grid's ranges are summed over. */
static void result_adds(Call *c, KernResult *r) {
    static const Elem list[] = {ELEM_F32, ELEM_I32, ELEM_F64, ELEM_I64, ELEM_BF16,
                                ELEM_F16, ELEM_I8,  ELEM_I16, ELEM_U8};
    int kept = 0;
    bool partial = false;
    for (int d = 0; d < r->ndim; d++) {
        if (DRAW(c->g, 2))
            r->kd[kept++] = r->kd[d];
        else
            partial = partial || c->k.dim[r->kd[d]].axis >= 0;
    }
    r->ndim = kept == SRC_RANK ? kept - 1 : kept;
    r->places = 2 + DRAW(c->g, 6);
    r->elem = list[DRAW(c->g, partial || DRAW(c->g, 2) ? 2 : (int)(sizeof list / sizeof *list))];
}

static SrcTensor result_tensor(const Call *c, const KernResult *r) {
    SrcTensor t = {.ndim = r->ndim, .elem = r->elem, .exact = r->exact, .max = r->max};
    for (int d = 0; d < r->ndim; d++) t.dim[d] = c->k.dim[r->kd[d]].dim;
    for (int a = 0; a < c->g->naxis; a++) {
        int kd = c->is_split[a] ? planned(c, a) : -1;
        if (kd >= 0) t.place[a] = PLACE_P;
        for (int d = 0; d < r->ndim; d++)
            if (r->kd[d] == kd) t.place[a] = PLACE_S, t.split[a] = d;
        if (c->varies[a]) t.place[a] = PLACE_V;
    }
    if (r->places) dim_prepend(c->g, &t, EXTENT_NUMBER + r->places);
    return t;
}

static bool call_is_small(const Call *c) {
    int64_t work = 1;
    for (int d = 0; d < c->k.ndim; d++) work *= extent_value(c->g, c->k.dim[d].dim);
    return work <= CALL_WORK;
}

static int base_choose(Src *g) {
    int found[64], n = 0;
    for (int i = 0; i < g->tensor.n && n < 64; i++)
        if (g->tensor.p[i].ndim && !any_place(g, &g->tensor.p[i], PLACE_P) && tensor_elements(g, &g->tensor.p[i]) > 0)
            found[n++] = i;
    return n && !RARELY(g, 4) ? found[n - 1 - DRAW(g, n)] : -1;
}

/* Constants and scalars that the kernel reads. */
static void numbers_print(Call *c) {
    Src *g = c->g;
    static const char *const scalar[] = {"0.75", "-2", "a"};
    int form = c->k.scalar_read ? DRAW(g, 3) : 0;
    g->scalar = g->scalar || form == 2;
    if (c->k.scalar_read) c->args = SAY(g, "%s, %s", c->args, scalar[form]);
    if (c->k.flag_read) c->args = SAY(g, "%s, %s", c->args, DRAW(g, 2) ? "true" : "false");
    if (c->k.number_read) c->args = SAY(g, "%s, %s", c->args, !g->dim[0].runtime && DRAW(g, 2) ? "N0 + 1" : "3");
}

/* The next version of what is updated: under its name, or under a new one. */
static const char *updated_name(Call *c) {
    Src *g = c->g;
    SrcTensor *t = &g->tensor.p[c->updated];
    if (t->kind == KIND_TEMPORARY && c->updated >= g->outside && DRAW(g, 2)) t->name = SAY(g, "t%d", g->nname++);
    t->exact = c->k.param[0].exact;
    t->read = t->distinct = false;
    t->assigned = true;
    return t->name;
}

static bool call_write(Call *c) {
    Src *g = c->g;
    KernResult r[2] = {result_choose(c), {0}};
    int n = c->summed < 0 && RARELY(g, 4) ? 2 : 1;
    if (n == 2) r[1] = result_choose(c);
    if (c->summed < 0 && c->updated < 0 && RARELY(g, 6)) result_adds(c, &r[0]);
    if (c->updated >= 0 && DRAW(g, 2)) n--;
    const char *name = SAY(g, "k%d", g->nkernel++), *left = "";
    c->k.scalar = RARELY(g, 3);
    c->k.flag = RARELY(g, 4);
    c->k.number = RARELY(g, 4);
    if (!kernel_write(&c->k, name, r, n)) return false;
    if (c->updated >= 0) left = updated_name(c);
    for (int i = 0; i < n; i++) {
        SrcTensor t = result_tensor(c, &r[i]);
        left = SAY(g, "%s%s%s", left, *left ? ", " : "", target_name(g, &t));
    }
    numbers_print(c);
    statement_print(g, left, SAY(g, "%s(%s)", name, c->args));
    return true;
}

/* Dropped calls leave their arguments as they were. */
static void reads_restore(Src *g, const bool *read, int n) {
    for (int i = 0; i < g->tensor.n; i++) g->tensor.p[i].read = i < n && read[i];
}

/* ---- updates in place ---- */

/* States and temporaries whose memory no other name means; inside a repeat no temporary of outside but the one it
 * carries. */
static bool may_update(const Src *g, int tensor) {
    const SrcTensor *t = &g->tensor.p[tensor];
    bool own = t->kind == KIND_TEMPORARY && !t->view && (tensor >= g->outside || tensor == g->carried);
    for (int i = 0; i < g->tensor.n; i++) own = own && (i == tensor || g->tensor.p[i].root != t->root);
    return (own || t->kind == KIND_STATE) && is_whole_place(g, t) && !has_local_dim(t) && t->ndim > 0;
}

/* A kernel that gives different places; those outside of what is updated are dropped. */
static int places_make(Src *g) {
    static const char *const form[] = {"pos(i)", "n - 1 - pos(i)", "2 * pos(i) + 1", "pos(i) - 1", "(pos(i) ^ 1)"};
    SrcTensor t = {.ndim = 1, .dim = {DRAW(g, g->ndim)}, .elem = ELEM_I32};
    int from = given_add(g, t, KIND_INPUT);
    const char *name = SAY(g, "k%d", g->nkernel++);
    text_printf(&g->kernels,
                "kernel %s(x: i32[n]) -> (o: i32[n]) {\n  each i: 4 of n { o[i] = i32(%s) + (x[i] & 0); }\n}\n", name,
                form[DRAW(g, 5)]);
    t.name = SAY(g, "t%d", g->nname++);
    t.exact = t.distinct = true;
    statement_print(g, t.name, SAY(g, "%s(%s)", name, read_tensor(g, from)));
    return tensor_new(g, t);
}

static int places_find(Src *g, int updated) {
    int found[16], n = 0;
    for (int i = 0; i < g->tensor.n && n < 16; i++)
        if (g->tensor.p[i].distinct && i != g->carried && i != updated) found[n++] = i;
    return n && DRAW(g, 2) ? found[DRAW(g, n)] : places_make(g);
}

/* Stores to computed places along a dimension that is not split: one at a time, a tile of different ones, or sums. */
static void scatter_choose(Call *c, int *places) {
    Kern *k = &c->k;
    int form = DRAW(c->g, 5), d = DRAW(c->g, k->ndim);
    if (form < 2 || k->dim[d].axis >= 0 || (form == 2 && k->ndim < 2) || k->ndim == KERN_DIMS) return;
    if (form == 4 && c->g->tensor.p[c->updated].elem == ELEM_BOOL) return;
    k->adds = form == 4;
    k->scattered = d;
    k->dim[d].reduced = true;
    if (k->adds) call_dim(c, DRAW(c->g, c->g->ndim), false);
    if (form != 3) return;
    *places = places_find(c->g, c->updated);
    k->places = true;
    call_dim(c, c->g->tensor.p[*places].dim[0], false);
}

/* ---- the call ---- */

static void base_argument(Call *c, int base, const char *text, int places) {
    Kern *k = &c->k;
    KernParam *p = &k->param[k->nparam++];
    *p = (KernParam){.ndim = c->g->tensor.p[base].ndim, .plus = -1, .inout = c->updated >= 0};
    for (int d = 0; d < p->ndim; d++) p->kd[d] = d;
    argument_take(c, p, base, text);
    if (places < 0) return;
    k->param[k->nparam] = (KernParam){.ndim = 1, .kd = {p->ndim}, .plus = -1, .unique = true};
    argument_take(c, &k->param[k->nparam++], places, NULL);
}

/* ---- groups of rows ---- */

/* A kernel that gives starts of groups, from 0 to the dimension: of like lengths, of unlike ones, all in one. */
static const char *starts_make(Call *c, int d) {
    Src *g = c->g;
    static const char *const form[] = {"n * pos(i) / %d", "n * pos(i) * pos(i) / (%d * %d)", "where(pos(i) == 0, 0, n)",
                                       "where(pos(i) == %d, n, 0)", "where(pos(i) == %d, n, min(n, pos(i)))"};
    SrcTensor t = {.ndim = 1, .dim = {c->k.dim[d].dim}, .elem = ELEM_I32};
    int from = given_add(g, t, KIND_INPUT), groups = c->k.groups;
    const char *name = SAY(g, "k%d", g->nkernel++), *at = SAY(g, form[DRAW(g, 5)], groups, groups);
    text_printf(&g->kernels,
                "kernel %s(x: i32[n]) -> (o: i32[%d]) {\n  each i: 2 of %d { o[i] = i32(%s) + (x[0] & 0); }\n}\n", name,
                groups + 1, groups + 1, at);
    return SAY(g, "%s(%s)", name, read_tensor(g, from));
}

static void ragged_choose(Call *c) {
    Kern *k = &c->k;
    int d = DRAW(c->g, k->ndim);
    const KernDim *of = &k->dim[d];
    bool fits = of->axis < 0 && !of->reduced && !of->whole && is_plain_dim(of->dim) && k->scattered < 0;
    if (!fits || !RARELY(c->g, 6)) return;
    k->ragged = d;
    k->groups = 1 + DRAW(c->g, 5);
}

static void call_make(Src *g) {
    int before = g->tensor.n;
    bool *read = ARENA_ARRAY(g->arena, bool, before + 1);
    for (int i = 0; i < before; i++) read[i] = g->tensor.p[i].read;
    Call c = {.g = g, .k = {.g = g, .scattered = -1, .ragged = -1}, .args = "", .updated = -1};
    int base = base_choose(g), first = 0, places = -1;
    const char *text = NULL;
    if (base >= 0) {
        if (may_update(g, base) && DRAW(g, 2)) c.updated = base;
        text = base_take(&c, base);
        if (c.updated >= 0) scatter_choose(&c, &places);
        first = c.k.ndim - c.k.adds;
    } else
        for (int n = g->many ? 4 + DRAW(g, 5) : 1 + DRAW(g, 3); n > 0; n--) call_dim(&c, DRAW(g, g->ndim), false);
    roles_choose(&c);
    if (!call_is_small(&c)) return;
    splits_choose(&c);
    ragged_choose(&c);
    if (base >= 0) base_argument(&c, base, text, places);
    params_choose(&c, first);
    if (c.k.ragged >= 0) c.args = SAY(g, "%s, %s", c.args, starts_make(&c, c.k.ragged));
    if (!call_write(&c)) reads_restore(g, read, before);
    text_free(&c.k.out);
}

#endif
