/* dims.c: the run-time dimensions that a program uses: each is an argument of its calls.
   Takes a program as it was lowered or parsed; gives Program.dim. Passes use no others. */
#include "ir/ir.h"

typedef struct {
    bool *used; /* by symbol */
    bool *seen; /* by kernel */
} Uses;

static void use_size(Uses *u, Size s) {
    if (s.sym >= 0) u->used[s.sym] = true;
}

static void use_affine(Uses *u, const Affine *a) {
    for (int i = 0; i < a->nterm; i++)
        if (a->term[i].kind == TERM_BLOCK || a->term[i].kind == TERM_SIZE) use_size(u, a->term[i].size);
}

static void use_span(Uses *u, const Span *s) {
    use_affine(u, &s->lo);
    use_affine(u, &s->hi);
}

static void use_region(Uses *u, const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r)) {
        if (op->kind == OP_SIZE || op->kind == OP_ORIGIN) use_size(u, op->size);
        for (int i = 0; i < op->sub.n; i++) use_span(u, &op->sub.p[i]);
        use_span(u, &op->dest);
    }
}

static void use_kernel(Uses *u, const Kernel *k) {
    if (u->seen[k->id]) return;
    u->seen[k->id] = true;
    for (int i = 0; i < k->param.n; i++)
        for (int d = 0; d < k->param.p[i].ndim; d++) use_size(u, k->param.p[i].dim[d]);
    for (int i = 0; i < k->ngrid; i++) use_size(u, k->range.p[i].of);
    use_region(u, k->body);
}

static void use_tensor(Uses *u, const Tensor *t) {
    for (int d = 0; d < t->ndim; d++) use_size(u, t->dim[d]);
    if (!t->checked) return;
    use_size(u, t->least);
    use_size(u, t->past);
}

static void use_flag(Uses *u, const Flag *f) {
    for (int i = 0; i < f->dim.n; i++) use_size(u, f->dim.p[i].of);
}

void program_dims(const Module *m, Program *p) {
    Arena *scratch = arena_new();
    Uses u = {ARENA_ARRAY(scratch, bool, m->symbol.n + 1), ARENA_ARRAY(scratch, bool, m->kernel.n + 1)};
    for (int i = 0; i < p->tensor.n; i++) use_tensor(&u, &p->tensor.p[i]);
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]->kernel) use_kernel(&u, p->node.p[i]->kernel);
    for (int i = 0; i < p->flag.n; i++) use_flag(&u, &p->flag.p[i]);
    for (int i = 0; i < m->symbol.n; i++)
        if (u.used[i]) vec_push(m->arena, &p->dim, i);
    arena_free(scratch);
}

int program_dim_of(const Program *p, int sym) {
    for (int i = 0; i < p->dim.n; i++)
        if (p->dim.p[i] == sym) return i;
    return -1;
}
