/* program.h: a random program: calls of random kernels, expressions over whole tensors, collectives, over a mesh.
   Takes a tape; gives the text of a .tile file that the front end accepts. */
#ifndef TILEC_TEST_GEN_PROGRAM_H
#define TILEC_TEST_GEN_PROGRAM_H

#include "test/gen/kernel.h"

enum { CALL_WORK = 12000 }; /* positions of a call's dimensions, all multiplied */

static bool any_place(const Src *g, const SrcTensor *t, PlaceKind kind) {
    for (int a = 0; a < g->naxis; a++)
        if (t->place[a] == kind) return true;
    return false;
}

static const char *read_tensor(Src *g, int t) {
    g->tensor.p[t].read = true;
    return g->tensor.p[t].name;
}

static const char *elem_random(Src *g, Elem *e) {
    static const Elem list[] = {ELEM_F32, ELEM_BF16, ELEM_F16, ELEM_I32, ELEM_F64, ELEM_I8, ELEM_BOOL, ELEM_F8E4M3, ELEM_I64, ELEM_U8, ELEM_I16,
                                ELEM_F8E5M2, ELEM_F8E4M3FNUZ, ELEM_I4, ELEM_T2};
    *e = list[DRAW(g, 2) ? DRAW(g, (int)(sizeof list / sizeof *list)) : 0];
    return elem_text(*e);
}

/* ---- arguments of a call ---- */

typedef struct {
    Src *g;
    Kern k;
    const char *args;
    bool varies[SRC_AXES];  /* some argument differs along the axis */
    bool is_split[SRC_AXES]; /* some argument is split, as planned in k.dim */
    bool gathered[SRC_AXES]; /* the first argument, before it is taken */
    int summed;             /* the split dimension that is in no result, or -1 */
} Call;

static int planned(const Call *c, int axis) {
    for (int d = 0; d < c->k.ndim; d++)
        if (c->k.dim[d].axis == axis) return d;
    return -1;
}

static bool argument_fits(const Call *c, const SrcTensor *t, const KernParam *p) {
    if (t->ndim != p->ndim) return false;
    for (int d = 0; d < t->ndim; d++) {
        int dim = c->k.dim[p->kd[d]].dim;
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
        c->is_split[a] = c->is_split[a] || (t->place[a] == PLACE_S && planned(c, a) >= 0 && !c->varies[a] && !(text && c->gathered[a]));
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
        bool is_local = dim >= EXTENT_LOCAL && dim < EXTENT_RANKS;
        t.dim[d] = d == p->plus ? EXTENT_PLUS + dim : is_local ? dim % EXTENT_LOCAL : dim;
        if (!is_local && c->k.dim[kd].axis >= 0 && DRAW(g, 3)) a = c->k.dim[kd].axis;
        else if (!is_local) continue;
        if (t.place[a] != PLACE_R) continue;
        t.place[a] = PLACE_S;
        t.split[a] = d;
        if (is_local) local = axis_name[a];
    }
    *tensor = input_add(g, t);
    return *local ? SAY(g, "local(%s, %s)", g->tensor.p[*tensor].name, local) : NULL;
}

static void argument_find(Call *c, KernParam *p) {
    int found[64], n = 0, t;
    for (int i = 0; i < c->g->tensor.n && n < 64; i++)
        if (argument_fits(c, &c->g->tensor.p[i], p)) found[n++] = i;
    const char *text = NULL;
    if (n && DRAW(c->g, 3)) t = found[DRAW(c->g, n)];
    else text = argument_input(c, p, &t);
    memset(c->gathered, 0, sizeof c->gathered);
    argument_take(c, p, t, text);
}

/* ---- a call ---- */

static void call_dim(Call *c, int dim, bool reduced) {
    if (c->k.ndim < KERN_DIMS) c->k.dim[c->k.ndim++] = (KernDim){dim, reduced, -1, -1};
}

static int results_of(const Call *c) {
    int n = 0;
    for (int d = 0; d < c->k.ndim; d++) n += !c->k.dim[d].reduced;
    return n;
}

static bool has_local(const Call *c) {
    for (int d = 0; d < c->k.ndim; d++)
        if (c->k.dim[d].dim >= EXTENT_LOCAL && c->k.dim[d].dim < EXTENT_RANKS) return true;
    return false;
}

/* The first argument: its dimensions are the kernel's first ones. Taken whole, in parts, or as what each rank has. */
static const char *base_take(Call *c, int base) {
    Src *g = c->g;
    const SrcTensor *t = &g->tensor.p[base];
    const char *text = t->name;
    for (int d = 0; d < t->ndim; d++) call_dim(c, t->dim[d], false);
    for (int a = 0; a < g->naxis; a++) {
        c->varies[a] = t->place[a] == PLACE_V;
        if (t->place[a] != PLACE_S) continue;
        int form = DRAW(g, 5);
        KernDim *k = &c->k.dim[t->split[a]];
        if (form == 4 && t->ndim > 1 && !has_local(c)) {
            text = SAY(g, "local(%s, %s)", text, axis_name[a]);
            c->varies[a] = g->varies = true;
            k->dim += EXTENT_LOCAL * (a + 1);
            k->reduced = true;
        } else if (form == 3) text = SAY(g, "all_gather(%s, %s)", text, axis_name[a]), c->gathered[a] = true;
        else k->axis = a;
    }
    return text;
}

static void roles_choose(Call *c) {
    for (int d = 0; d < c->k.ndim; d++) {
        bool local = c->k.dim[d].dim >= EXTENT_LOCAL && c->k.dim[d].dim < EXTENT_RANKS;
        if (!local) c->k.dim[d].reduced = RARELY(c->g, 4) && results_of(c) > 1;
    }
    while (RARELY(c->g, 3) && c->k.ndim < KERN_DIMS) call_dim(c, DRAW(c->g, c->g->ndim), RARELY(c->g, 2));
}

/* Along axes that the first argument leaves free a dimension may be split, for the other arguments. */
static void splits_choose(Call *c) {
    for (int a = 0; a < c->g->naxis; a++) {
        int d = DRAW(c->g, c->k.ndim);
        bool free = planned(c, a) < 0 && !c->varies[a] && c->k.dim[d].axis < 0 && is_plain_dim(c->k.dim[d].dim);
        if (free && RARELY(c->g, 2)) c->k.dim[d].axis = a;
    }
    c->summed = -1;
    for (int d = 0; d < c->k.ndim; d++) {
        if (!c->k.dim[d].reduced || c->k.dim[d].axis < 0) continue;
        if (c->summed >= 0) c->k.dim[d].reduced = false;
        else c->summed = d;
    }
}

static bool dims_of_param(Call *c, KernParam *p, int must) {
    Src *g = c->g;
    *p = (KernParam){.plus = -1};
    if (must >= 0) p->kd[p->ndim++] = must;
    for (int n = 1 + DRAW(g, 3); p->ndim < n;) {
        int d = DRAW(g, c->k.ndim);
        bool twice = false;
        for (int i = 0; i < p->ndim; i++) twice = twice || p->kd[i] == d;
        if (twice && (c->k.dim[d].axis >= 0 || !is_plain_dim(c->k.dim[d].dim) || DRAW(g, 3))) break;
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
    if (c->summed < 0) elem_random(g, &r.elem);
    else r.max = RARELY(g, 4);
    return r;
}

static SrcTensor result_tensor(const Call *c, const KernResult *r) {
    SrcTensor t = {.ndim = r->ndim, .elem = r->elem, .exact = r->exact, .max = r->max};
    for (int d = 0; d < r->ndim; d++) t.dim[d] = c->k.dim[r->kd[d]].dim;
    for (int a = 0; a < c->g->naxis; a++) {
        int kd = c->is_split[a] ? planned(c, a) : -1;
        if (kd >= 0) t.place[a] = c->k.dim[kd].reduced ? PLACE_P : PLACE_S;
        for (int d = 0; d < r->ndim; d++)
            if (r->kd[d] == kd) t.split[a] = d;
        if (c->varies[a]) t.place[a] = PLACE_V;
    }
    return t;
}

/* Names a new tensor: a result of the program now and then, where it may be one. */
static const char *target_name(Src *g, SrcTensor *t) {
    bool local = false;
    for (int d = 0; d < t->ndim; d++) local = local || (t->dim[d] >= EXTENT_LOCAL && t->dim[d] < EXTENT_RANKS);
    t->output = is_whole_place(g, t) && !local && RARELY(g, 4);
    t->name = SAY(g, "%s%d", t->output ? "y" : "t", g->nname++);
    if (t->output) text_printf(&g->outputs, "%s%s: %s", g->outputs.n ? ", " : "", t->name, type_text(g, t));
    tensor_add(g, *t);
    return t->name;
}

static bool call_is_small(const Call *c) {
    int64_t work = 1;
    for (int d = 0; d < c->k.ndim; d++) work *= extent_value(c->g, c->k.dim[d].dim);
    return work <= CALL_WORK;
}

static int base_choose(Src *g) {
    int found[64], n = 0;
    for (int i = 0; i < g->tensor.n && n < 64; i++)
        if (!any_place(g, &g->tensor.p[i], PLACE_P) && tensor_elements(g, &g->tensor.p[i]) > 0) found[n++] = i;
    return n && !RARELY(g, 4) ? found[n - 1 - DRAW(g, n)] : -1;
}

static bool call_write(Call *c) {
    Src *g = c->g;
    KernResult r[2] = {result_choose(c), {0}};
    int n = c->summed < 0 && RARELY(g, 4) ? 2 : 1;
    if (n == 2) r[1] = result_choose(c);
    const char *name = SAY(g, "k%d", g->nkernel++), *left = "";
    c->k.scalar = RARELY(g, 3);
    c->k.flag = RARELY(g, 4);
    if (!kernel_write(&c->k, name, r, n)) return false;
    for (int i = 0; i < n; i++) {
        SrcTensor t = result_tensor(c, &r[i]);
        left = SAY(g, "%s%s%s", left, i ? ", " : "", target_name(g, &t));
    }
    if (c->k.scalar_read) c->args = SAY(g, "%s, %s", c->args, DRAW(g, 2) ? "0.75" : "-2");
    if (c->k.flag_read) c->args = SAY(g, "%s, %s", c->args, DRAW(g, 2) ? "true" : "false");
    text_printf(&g->body, "  %s = %s(%s);\n", left, name, c->args);
    return true;
}

/* Dropped calls leave their arguments as they were. */
static void reads_restore(Src *g, const bool *read, int n) {
    for (int i = 0; i < g->tensor.n; i++) g->tensor.p[i].read = i < n && read[i];
}

static void call_make(Src *g) {
    int before = g->tensor.n;
    bool *read = ARENA_ARRAY(g->arena, bool, before + 1);
    for (int i = 0; i < before; i++) read[i] = g->tensor.p[i].read;
    Call c = {.g = g, .k = {.g = g}, .args = ""};
    int base = base_choose(g), first = 0;
    const char *text = NULL;
    if (base >= 0) {
        text = base_take(&c, base);
        first = c.k.ndim;
    } else
        for (int n = 1 + DRAW(g, 3); n > 0; n--) call_dim(&c, DRAW(g, g->ndim), false);
    roles_choose(&c);
    if (!call_is_small(&c)) return;
    splits_choose(&c);
    if (base >= 0) {
        KernParam *p = &c.k.param[c.k.nparam++];
        *p = (KernParam){.ndim = first, .plus = -1};
        for (int d = 0; d < first; d++) p->kd[d] = d;
        argument_take(&c, p, base, text);
    }
    params_choose(&c, first);
    if (!call_write(&c)) reads_restore(g, read, before);
    text_free(&c.k.out);
}

/* ---- expressions over whole tensors ---- */

static bool same_dims(const SrcTensor *a, const SrcTensor *b) {
    return a->ndim == b->ndim && memcmp(a->dim, b->dim, sizeof(int) * (size_t)a->ndim) == 0;
}

/* Placements of a sum of two tensors; false where there is none. */
static bool places_join(const Src *g, SrcTensor *to, const SrcTensor *t) {
    for (int a = 0; a < g->naxis; a++) {
        PlaceKind x = to->place[a], y = t->place[a];
        if (x == y && (x != PLACE_S || to->split[a] == t->split[a]) && (x != PLACE_P || !(to->max || t->max))) continue;
        bool free_dim = true;
        if (x == PLACE_R && y == PLACE_S)
            for (int b = 0; b < g->naxis; b++) free_dim = free_dim && !(b != a && to->place[b] == PLACE_S && to->split[b] == t->split[a]);
        if (x == PLACE_R && y != PLACE_P && free_dim) to->place[a] = y, to->split[a] = t->split[a];
        else if (!(y == PLACE_R && x != PLACE_P)) return false;
    }
    return true;
}

static int map_base(Src *g) {
    int found[64], n = 0;
    for (int i = 0; i < g->tensor.n && n < 64; i++) {
        const SrcTensor *t = &g->tensor.p[i];
        if (t->elem == ELEM_F32 && !t->max) found[n++] = i;
    }
    return n ? found[n - 1 - DRAW(g, n)] : -1;
}

static void map_make(Src *g) {
    int base = map_base(g);
    if (base < 0) return;
    SrcTensor r = g->tensor.p[base];
    bool linear = any_place(g, &r, PLACE_P);
    const char *text = read_tensor(g, base);
    static const char *const one[] = {"exp(min(%s, 1.0))", "max(%s, 0)", "sigmoid(%s)", "tanh(%s)", "where(%s > 5.0e9, 0.0, 1.0)", "bf16(%s)"};
    if (!linear && DRAW(g, 2)) {
        const char *form = one[DRAW(g, 6)], *at = strstr(form, "%s");
        text = SAY(g, "%.*s%s%s", (int)(at - form), form, text, at + 2);
    }
    for (int i = 0; i < g->tensor.n; i++) {
        SrcTensor *t = &g->tensor.p[i];
        if (i == base || t->elem != ELEM_F32 || !same_dims(t, &r) || DRAW(g, 2) || !places_join(g, &r, t)) continue;
        text = SAY(g, "%s %s %s", text, linear || DRAW(g, 2) ? "+" : "-", read_tensor(g, i));
    }
    if (DRAW(g, 2)) text = SAY(g, "0.5 * (%s)", text);
    else text = SAY(g, "%s * 2", SAY(g, "(%s)", text));
    r.exact = r.read = false;
    const char *name = target_name(g, &r);
    text_printf(&g->body, "  %s = %s;\n", name, text);
}

/* ---- collectives ---- */

static int split_dim_of(const Src *g, const SrcTensor *t, int but) {
    int found[SRC_RANK], n = 0;
    for (int d = 0; d < t->ndim; d++) {
        bool free = d != but && is_plain_dim(t->dim[d]);
        for (int a = 0; a < g->naxis; a++) free = free && !(t->place[a] == PLACE_S && t->split[a] == d);
        if (free) found[n++] = d;
    }
    return n ? found[tape_draw(g->tape, n)] : -1;
}

static const char *move_split(Src *g, SrcTensor *t, int a, const char *x) {
    int to = split_dim_of(g, t, t->split[a]);
    if (to >= 0 && DRAW(g, 2)) {
        t->split[a] = to;
        return SAY(g, "all_to_all(%s, %s, %d)", x, axis_name[a], to);
    }
    t->place[a] = PLACE_R;
    return SAY(g, "all_gather(%s, %s)", x, axis_name[a]);
}

static const char *move_partial(Src *g, SrcTensor *t, int a, const char *x) {
    int to = split_dim_of(g, t, -1);
    t->max = false;
    if (to >= 0 && DRAW(g, 2)) {
        t->place[a] = PLACE_S;
        t->split[a] = to;
        return SAY(g, "reduce_scatter(%s, %s, %d)", x, axis_name[a], to);
    }
    t->place[a] = PLACE_R;
    return SAY(g, "all_reduce(%s, %s)", x, axis_name[a]);
}

static const char *move_different(Src *g, SrcTensor *t, int a, const char *x) {
    int form = t->ndim < SRC_RANK ? DRAW(g, 3) : DRAW(g, 2);
    if (form == 1) return SAY(g, "permute(%s, %s, %d)", x, axis_name[a], 1 + DRAW(g, 3));
    t->place[a] = PLACE_R;
    if (form == 0) return SAY(g, "broadcast(%s, %s, %d)", x, axis_name[a], DRAW(g, (int)g->ranks[a]));
    memmove(t->dim + 1, t->dim, sizeof *t->dim * (size_t)t->ndim++);
    t->dim[0] = EXTENT_RANKS + a;
    for (int b = 0; b < g->naxis; b++) t->split[b]++;
    return SAY(g, "stack(%s, %s)", x, axis_name[a]);
}

static void move_make(Src *g, int tensor, bool last) {
    SrcTensor t = g->tensor.p[tensor];
    for (int a = 0; a < g->naxis; a++) {
        const char *x = g->tensor.p[tensor].name, *text;
        if (t.place[a] == PLACE_S && !last) text = move_split(g, &t, a, x);
        else if (t.place[a] == PLACE_P) text = move_partial(g, &t, a, x);
        else if (t.place[a] == PLACE_V) text = move_different(g, &t, a, x);
        else continue;
        read_tensor(g, tensor);
        t.read = false;
        const char *name = target_name(g, &t);
        text_printf(&g->body, "  %s = %s;\n", name, text);
        return;
    }
}

static void move_some(Src *g) {
    int found[64], n = 0;
    for (int i = 0; i < g->tensor.n && n < 64; i++)
        if (any_place(g, &g->tensor.p[i], PLACE_S) || !is_whole_place(g, &g->tensor.p[i])) found[n++] = i;
    if (n) move_make(g, found[n - 1 - DRAW(g, n)], false);
}

/* ---- the program ---- */

static void dims_choose(Src *g) {
    static const int edge[] = {15, 16, 17, 31, 32, 33, 63, 64, 65, 70};
    g->ndim = 1 + DRAW(g, 5);
    for (int d = 0; d < g->ndim; d++) {
        g->dim[d].size = RARELY(g, 4) ? edge[DRAW(g, 10)] : 1 + DRAW(g, RARELY(g, 3) ? 24 : 8);
        g->dim[d].runtime = RARELY(g, 6);
    }
    g->naxis = DRAW(g, 4) ? RARELY(g, 4) ? 2 : 1 : 0;
    for (int a = 0; a < g->naxis; a++) g->ranks[a] = g->naxis == 1 ? 1 + (DRAW(g, 5) + 1) % 5 : 1 + (DRAW(g, 3) + 1) % 3;
}

static void results_finish(Src *g) {
    for (int i = 0; i < g->tensor.n; i++)
        if (!g->tensor.p[i].read && !is_whole_place(g, &g->tensor.p[i])) move_make(g, i, true);
    for (int i = 0; i < g->tensor.n; i++) {
        SrcTensor *t = &g->tensor.p[i];
        if (t->read || t->output) continue;
        text_printf(&g->outputs, "%sy%d: %s", g->outputs.n ? ", " : "", g->nname, type_text(g, t));
        text_printf(&g->body, "  y%d = %s;\n", g->nname++, t->name);
    }
}

static void source_print(Src *g, Text *to) {
    for (int d = 0; d < g->ndim; d++) text_printf(to, "dim N%d %s %" PRId64 ";\n", d, g->dim[d].runtime ? "<=" : "=", g->dim[d].size);
    for (int a = 0; a < g->naxis; a++) text_printf(to, "mesh %s = %" PRId64 ";\n", axis_name[a], g->ranks[a]);
    text_printf(to, "%sprogram generated(%s) -> (%s) {\n%s}\n", text_str(&g->kernels), text_str(&g->inputs), text_str(&g->outputs), text_str(&g->body));
}

/* False where the decisions give no program. *varies: its results depend on the number of ranks. */
static bool program_generate(Arena *arena, Tape *tape, Text *to, bool *varies) {
    Src g = {.arena = arena, .tape = tape};
    dims_choose(&g);
    for (int n = 1 + DRAW(&g, 6); n > 0; n--) {
        int span = tape_open(tape), form = DRAW(&g, 8);
        if (form < 4 || g.tensor.n == 0) call_make(&g);
        else if (form < 6) move_some(&g);
        else map_make(&g);
        tape_close(tape, span);
    }
    results_finish(&g);
    bool good = g.outputs.n && g.inputs.n;
    if (good) source_print(&g, to);
    *varies = g.varies;
    text_free(&g.kernels), text_free(&g.inputs), text_free(&g.outputs), text_free(&g.body);
    return good;
}

#endif
