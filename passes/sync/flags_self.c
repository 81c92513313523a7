/* flags_self.c: tasks of one node that read what others of it write, or add to one place: a task waits for those before it,
   in the order of the grid, that it needs. Takes: accesses of one node. Gives: a word for each task, and waits for words of lower tickets.
   Needed tiles [own + a, own + b] along each dimension, without the task itself and what is later: for each dimension
   that decides, own in those before it, own + a .. own + min(b, -1) in it, a .. b in those behind it. */
#include "passes/sync/flags.h"
#include "passes/proof/symbolic.h"

/* Tiles needed along a dimension of the grid, relative to the task's own. */
typedef enum { SHIFT_ALL, SHIFT_FIXED, SHIFT_FREE } ShiftKind; /* FREE: in terms of loops */

typedef struct {
    ShiftKind kind;
    int64_t lo, hi;
} Shift;

static const Shift every = {.kind = SHIFT_ALL};

static Affine own_tile(int dim, int64_t shift) {
    Affine a = affine_term(TERM_INDEX, dim, 1, 1);
    a.c = shift;
    return a;
}

static Shift shift_of(const Need *n, int dim) {
    if (!n->known) return every;
    Affine own = own_tile(dim, 0), lo = n->lo, hi = n->hi;
    bool fixed = affine_add(&lo, &own, -1) && affine_add(&hi, &own, -1) && affine_is_const(&lo) && affine_is_const(&hi);
    return fixed ? (Shift){SHIFT_FIXED, lo.c, hi.c} : (Shift){.kind = SHIFT_FREE};
}

static Span span_shifted(int dim, int64_t lo, int64_t hi) { return (Span){.lo = own_tile(dim, lo), .hi = own_tile(dim, hi)}; }

/* Everything that is needed, whether it is earlier or not. */
static Span span_needed(const Edge *e, const Shift *s, int dim) {
    if (s->kind == SHIFT_ALL) return (Span){.lo = affine_const(0), .hi = affine_const(SPAN_END)};
    return (Span){.lo = e->dim[dim].lo, .hi = e->dim[dim].hi};
}

static Span span_before(const Shift *s, int dim, bool chain) {
    if (s->kind == SHIFT_FIXED) return span_shifted(dim, s->lo, s->hi < -1 ? s->hi : -1);
    if (chain) return span_shifted(dim, -1, -1);
    return (Span){.lo = affine_const(0), .hi = own_tile(dim, -1)};
}

static bool shift_has_own(const Shift *s) { return s->kind == SHIFT_ALL || (s->lo <= 0 && s->hi >= 0); }
static bool shift_has_before(const Shift *s) { return s->kind == SHIFT_ALL || s->lo < 0; }

/* ---- families and waits ---- */

typedef struct {
    Flags *f;
    const Edge *e;
    const Kernel *k;
    int flag;
    bool chain; /* the task just before has waited for all before it */
    Shift shift[MAX_RANGES];
} Self;

static bool is_kept(const Self *s, int d) { return s->f->p->flag.p[s->flag].dim.p[d].group == 1; }

static int self_family(Flags *f, const Edge *e) {
    const Kernel *k = f->p->node.p[e->from->node]->kernel;
    FlagDim dim[MAX_RANGES];
    for (int d = 0; d < k->ngrid; d++) {
        const Range *r = &k->range.p[d];
        dim[d] = flag_dim(k, d, grid_is_one_tile(f->m, r) ? GROUP_DROP : 1);
    }
    Span dest = span_of(affine_const(0));
    return flags_family(f, e, dim, &dest);
}

/* Waits for what is earlier because of dimension `at`; -1: for all that is needed, which loops keep earlier. */
static void wait_because(const Self *s, int at) {
    Span sub[MAX_RANGES];
    for (int d = 0; d < s->k->ngrid; d++) {
        if (!is_kept(s, d)) sub[d] = span_of(affine_const(0));
        else if (d < at) sub[d] = span_shifted(d, 0, 0);
        else sub[d] = d == at ? span_before(&s->shift[d], d, s->chain) : span_needed(s->e, &s->shift[d], d);
    }
    flags_wait(s->f, s->e, s->flag, sub, 0, false);
}

static void waits_insert(const Self *s) {
    for (int d = 0; d < s->k->ngrid; d++)
        if (is_kept(s, d) && s->shift[d].kind == SHIFT_FREE) {
            wait_because(s, -1);
            return;
        }
    for (int d = 0; d < s->k->ngrid; d++) {
        if (!is_kept(s, d)) continue;
        if (shift_has_before(&s->shift[d])) wait_because(s, d);
        if (!shift_has_own(&s->shift[d])) return;
    }
}

static Edge self_edge(const Flags *f, const Access *from, const Access *to) {
    Edge e = edge_of(f->p, from, to);
    e.axis = -1;
    return e;
}

/* Sums of tasks that all wait for their predecessor, which the proof for given sizes follows. */
static bool chain_holds(const Self *s) {
    bool holds = s->e->to->write && !program_has_symbols(s->f->p);
    for (int d = 0; d < s->k->ngrid; d++) {
        const Shift *t = &s->shift[d];
        holds = holds && (!is_kept(s, d) || t->kind == SHIFT_ALL || (t->kind == SHIFT_FIXED && t->lo == 0 && t->hi == 0));
    }
    return holds;
}

void flags_insert_self(Flags *f, const Access *from, const Access *to) {
    Edge e = self_edge(f, from, to);
    Self s = {.f = f, .e = &e, .k = f->p->node.p[from->node]->kernel};
    s.flag = self_family(f, &e);
    for (int d = 0; d < s.k->ngrid; d++) s.shift[d] = shift_of(&e.dim[d], d);
    s.chain = chain_holds(&s);
    waits_insert(&s);
}

/* ---- coarser ---- */

static void drop_waits(Region *r, int flag) {
    for (Op *op = walk(r), *next; op; op = next) {
        next = walk_next(op, r);
        if (op->kind == OP_WAIT && op->flag == flag) op_remove(op);
    }
}

static void insert_coarse(Flags *f, const Access *from, const Access *to) {
    Edge e = self_edge(f, from, to);
    Self s = {.f = f, .e = &e, .k = f->p->node.p[from->node]->kernel};
    s.flag = self_family(f, &e);
    if (!f->coarse[from->node]) drop_waits(s.k->body, s.flag);
    f->coarse[from->node] = true;
    for (int d = 0; d < s.k->ngrid; d++) s.shift[d] = every;
    waits_insert(&s);
}

bool flags_coarsen_self(Flags *f, int node) {
    const AccessList *list = &f->access[node];
    const Kernel *k = f->p->node.p[node]->kernel;
    if (f->coarse[node]) return false;
    for (int i = 0; i < list->n; i++)
        for (int j = 0; j < list->n; j++)
            if (siblings_need_order(k, &list->p[j], &list->p[i])) insert_coarse(f, &list->p[j], &list->p[i]);
    return f->coarse[node];
}
