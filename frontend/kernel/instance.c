/* instance.c: instances of kernels, made once for each set of extents, element types and constants.
   Takes a declaration and the arguments of a call; gives the lowered kernel. */
#include "frontend/sema/instance.h"
#include "frontend/kernel/kernel.h"

#include <string.h>

struct Instance {
    Binding bound;
    uint64_t hash;
    Kernel *kernel;
};

/* A kernel whose body had errors is not lowered again: they were all reported. */
typedef struct {
    int instances;
    bool broken;
} DeclState;

static DeclState *state_of(Lower *lw, const Decl *d) {
    struct Instances *in = instances_of(lw);
    DeclState *s = ptrmap_get(&in->decl, d);
    if (s) return s;
    s = ARENA_NEW(lw->m->arena, DeclState);
    ptrmap_put(lw->m->arena, &in->decl, d, s);
    return s;
}

static uint64_t mix(uint64_t h, uint64_t x) { return (h ^ x) * 0x9e3779b97f4a7c15u ^ (h >> 29); }

static uint64_t size_hash(uint64_t h, Size s) {
    return mix(h, (uint64_t)s.c ^ (uint64_t)(uint16_t)s.sym << 32 ^ (uint64_t)(uint16_t)s.axis << 48);
}

static uint64_t param_hash(uint64_t h, const BoundParam *p) {
    uint64_t number = 0;
    memcpy(&number, &p->f, sizeof number);
    h = mix(mix(mix(h, p->constant), (uint64_t)p->elem), (uint64_t)p->i ^ number ^ p->global);
    if (p->constant == BOUND_SIZE) h = size_hash(h, p->size);
    for (int d = 0; d < p->ndim; d++) h = size_hash(h, p->dim[d]);
    return h;
}

static uint64_t binding_hash(const Binding *b) {
    uint64_t h = (uint64_t)(uintptr_t)b->decl;
    for (int i = 0; i < b->param.n; i++) h = param_hash(h, &b->param.p[i]);
    return h ^ h >> 32;
}

static bool param_equal(const BoundParam *a, const BoundParam *b) {
    if (a->constant != b->constant || a->elem != b->elem || a->ndim != b->ndim || a->i != b->i || a->global != b->global) return false;
    if (a->constant == BOUND_SIZE && !size_equal(a->size, b->size)) return false;
    if (memcmp(&a->f, &b->f, sizeof a->f) != 0) return false;
    for (int d = 0; d < a->ndim; d++)
        if (!size_equal(a->dim[d], b->dim[d])) return false;
    return true;
}

static bool binding_equal(const Binding *a, const Binding *b) {
    if (a->decl != b->decl) return false;
    for (int i = 0; i < a->param.n; i++)
        if (!param_equal(&a->param.p[i], &b->param.p[i])) return false;
    return true;
}

static Instance **slot_find(const struct Instances *in, const Binding *b, uint64_t hash) {
    for (uint64_t i = hash;; i++) {
        Instance **s = &in->slot[i & (uint64_t)(in->cap - 1)];
        if (!*s || ((*s)->hash == hash && binding_equal(&(*s)->bound, b))) return s;
    }
}

static void slots_widen(Arena *a, struct Instances *in) {
    struct Instances wide = *in;
    wide.cap = in->cap ? 2 * in->cap : 64;
    wide.slot = ARENA_ARRAY(a, Instance *, wide.cap);
    for (int i = 0; i < in->cap; i++)
        if (in->slot[i]) *slot_find(&wide, &in->slot[i]->bound, in->slot[i]->hash) = in->slot[i];
    *in = wide;
}

/* matmul, matmul_2, ..: what no kernel of the module is called yet. */
static Name name_fresh(Lower *lw, const Decl *d, int instance) {
    struct Instances *in = instances_of(lw);
    Name name = d->name;
    for (int n = instance; ptrmap_get(&in->taken, name); n++)
        name = name_of(lw->m->names, arena_format(lw->m->arena, "%s_%d", d->name, n + 1));
    ptrmap_put(lw->m->arena, &in->taken, name, (void *)d);
    return name;
}

static Instance *instance_new(Lower *lw, const Binding *b, uint64_t hash) {
    DeclState *state = state_of(lw, b->decl);
    Instance *fresh = ARENA_NEW(lw->m->arena, Instance);
    *fresh = (Instance){.bound = *b, .hash = hash};
    fresh->kernel = kernel_lower(lw, &fresh->bound, name_fresh(lw, b->decl, state->instances), false);
    state->instances++;
    state->broken |= !fresh->kernel;
    return fresh;
}

/* Errors in another file's kernel: which call has made it so. */
static void instance_note(Lower *lw, const Binding *b, Loc call) {
    const char *types = "";
    for (int i = 0; i < b->param.n; i++)
        if (b->param.p[i].constant == BOUND_NOTHING)
            types = arena_format(lw->m->arena, "%s%s%s: %s", types, *types ? ", " : "", b->param.p[i].decl->name,
                                 elem_text(b->param.p[i].elem));
    diag_note(lw->m->diags, call, "%s is called here with %s", b->decl->name, types);
}

Kernel *kernel_instantiate(Lower *lw, const Decl *d, const ActualArg *arg, int narg, const ExpectedResult *expected,
                           int nresult, Loc call) {
    struct Instances *in = instances_of(lw);
    Binding b;
    if (state_of(lw, d)->broken || !binding_of_call(lw, d, arg, narg, expected, nresult, call, &b)) return NULL;
    if (2 * (in->n + 1) > in->cap) slots_widen(lw->m->arena, in);
    uint64_t hash = binding_hash(&b);
    Instance **slot = slot_find(in, &b, hash);
    if (!*slot) {
        int errors = lw->m->diags->errors;
        *slot = instance_new(lw, &b, hash);
        in->n++;
        if (lw->m->diags->errors > errors && call.file != d->loc.file) instance_note(lw, &b, call);
    }
    return (*slot)->kernel;
}

/* ---- kernels that nobody calls ---- */

/* Large powers of two, falling: quotients of extents such as h / g come out whole and not 0. */
static Size extent_guess(int n) { return size_number((int64_t)1 << (n < 17 ? 20 - n : 3)); }

typedef struct {
    Lower *lw;
    VEC(BoundDim) dim;
} Guess;

static BoundDim *guess_find(Guess *g, Name name) {
    for (int i = 0; i < g->dim.n; i++)
        if (g->dim.p[i].name == name) return &g->dim.p[i];
    return NULL;
}

static void guess_name(Guess *g, const Expr *e) {
    if (e->kind == EXPR_BINARY) {
        guess_name(g, e->lhs);
        guess_name(g, e->rhs);
    }
    if (e->kind != EXPR_NAME || guess_find(g, e->name)) return;
    vec_push(g->lw->m->arena, &g->dim, ((BoundDim){.name = e->name, .size = extent_guess(g->dim.n)}));
}

static Found guess_resolve(const Resolver *r, Name name, Loc loc, Size *s) {
    BoundDim *d = guess_find(r->context, name);
    if (!d) return global_find(r->lw, name, loc, s);
    *s = d->size;
    return FOUND;
}

static void guess_unknown(const Resolver *r, const Expr *e) {
    diag_error(r->lw->m->diags, e->loc, "undefined", "'%s' is not a dimension", e->name);
}

static ActualArg guess_arg(Guess *g, const ParamDecl *p, bool truth) {
    bool number = strcmp(p->type.elem, "bool") != 0;
    ActualArg a = {
        .is_const = p->is_const, .number = number_integer(number || truth), .ndim = p->type.shape.n, .loc = p->loc};
    Resolver r = {.lw = g->lw, .context = g, .find = guess_resolve, .unknown = guess_unknown};
    if (!elem_parse(p->type.elem, &a.elem)) a.elem = ELEM_F32;
    for (int d = 0; d < a.ndim && d < MAX_DIMS; d++)
        if (!size_of_expr(&r, p->type.shape.p[d], &a.dim[d])) a.dim[d] = size_number(1);
    return a;
}

/* Lowered into a module of its own, which is then forgotten. */
static void check_with(Lower *lw, const Decl *d, bool truth) {
    Lower scratch = *lw;
    scratch.m = module_new(lw->m->arena, lw->m->names, lw->m->diags);
    scratch.instances = NULL;
    Guess g = {.lw = &scratch};
    ActualArg *arg = ARENA_ARRAY(lw->m->arena, ActualArg, d->params.n);
    for (int i = 0; i < d->params.n; i++)
        for (int k = 0; k < d->params.p[i].type.shape.n; k++) guess_name(&g, d->params.p[i].type.shape.p[k]);
    for (int i = 0; i < d->params.n; i++) arg[i] = guess_arg(&g, &d->params.p[i], truth);
    Binding b;
    if (binding_of_call(&scratch, d, arg, d->params.n, NULL, 0, d->loc, &b)) kernel_lower(&scratch, &b, d->name, true);
}

/* Both branches of conditions on a const bool are looked at. */
void kernel_check(Lower *lw, const Decl *d) {
    bool conditions = false;
    if (state_of(lw, d)->instances > 0 || state_of(lw, d)->broken) return;
    for (int i = 0; i < d->params.n; i++)
        conditions |= d->params.p[i].is_const && strcmp(d->params.p[i].type.elem, "bool") == 0;
    int before = lw->m->diags->errors;
    check_with(lw, d, true);
    if (conditions && lw->m->diags->errors == before) check_with(lw, d, false);
}
