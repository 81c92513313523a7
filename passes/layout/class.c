/* class.c: which tiles must share a layout, and which must lie beside each other.
   Takes: a kernel. Gives: classes of values (union-find), and pairs where one has some of the other's ranges. */
#include "passes/layout/layout.h"

static int root_of(const Lay *l, int v) {
    while (l->parent[v] != v) v = l->parent[v];
    return v;
}

int lay_class(const Lay *l, const Value *v) { return v->id < l->nvalue ? root_of(l, v->id) : -1; }

static void unite(Lay *l, const Value *a, const Value *b) {
    int x = root_of(l, a->id), y = root_of(l, b->id);
    if (x == y) return;
    LayClass *cx = &l->class[x], *cy = &l->class[y];
    if (elem_bits(cy->type.elem) > elem_bits(cx->type.elem)) cx->type.elem = cy->type.elem;
    if (cx->fastest < 0 || (cy->fastest >= 0 && elem_bits(cy->memory) > elem_bits(cx->memory))) {
        cx->fastest = cy->fastest >= 0 ? cy->fastest : cx->fastest;
        cx->memory = cy->fastest >= 0 ? cy->memory : cx->memory;
    }
    if (cy->run < cx->run) cx->run = cy->run;
    if (cy->plain_run < cx->plain_run) cx->plain_run = cy->plain_run;
    cx->stored |= cy->stored;
    l->parent[y] = x;
}

static bool same_ranges(Type a, Type b) {
    b.elem = a.elem;
    return type_equal(a, b);
}

/* An operand that is wanted where the elements of `at` are. */
static void meet(Lay *l, const Value *x, const Value *at) {
    if (x->type.nrange == 0 || at->type.nrange == 0) return;
    if (same_ranges(x->type, at->type))
        unite(l, at, x);
    else
        vec_push(l->scratch, &l->pair, ((LayPair){x->id, at->id}));
}

static void meet_subscripts(Lay *l, const Op *op, const Value *at) {
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++)
            if (op->sub.p[d].lo.term[i].kind == TERM_VALUE) meet(l, op->sub.p[d].lo.term[i].value, at);
}

int lay_fastest(const Kernel *k, const Op *op) {
    const Affine *last = op->sub.n ? &op->sub.p[op->sub.n - 1].lo : NULL;
    for (int i = 0; last && i < last->nterm; i++) {
        const Term *t = &last->term[i];
        if (t->kind == TERM_POS && t->mul == 1 && t->div == 1 && k->range.p[t->id].kind != RANGE_POSITION) return t->id;
    }
    return -1;
}

/* Elements: 16 bytes, the longest access of a thread, of 8-bit elements. */
enum { LONGEST_RUN = 16 };

static int run_in(Size s, int run) {
    if (!size_is_number(s)) return 1;
    while (s.c % run) run /= 2;
    return run;
}

/* Rows are multiples of a run: then each begins where so many elements may be taken at once. */
static int run_of(const Kernel *k, const Op *op) {
    const Param *p = &k->param.p[op->param];
    return p->ndim > 1 ? run_in(p->dim[p->ndim - 1], LONGEST_RUN) : LONGEST_RUN;
}

/* Shorter ones are loaded by the vectors around; not where products want the registers. */
static bool is_covered(const Kernel *k, const Op *op, int fastest, int run) {
    return op->kind == OP_LOAD && !region_has_dot(k->body) && run * elem_bits(k->param.p[op->param].elem) < LAY_ODD_BITS &&
           load_may_cover(k, op, fastest);
}

static void note_run(LayClass *c, const Kernel *k, const Op *op, int fastest) {
    if (k->range.p[fastest].aligned) return;
    c->stored |= op->kind == OP_STORE;
    int run = run_of(k, op);
    if (run < c->plain_run) c->plain_run = run;
    if (run < c->run && !is_covered(k, op, fastest, run)) c->run = run;
}

static void note_access(Lay *l, const Op *op, const Value *v) {
    LayClass *c = &l->class[root_of(l, v->id)];
    int fastest = lay_fastest(l->k, op);
    if (fastest >= 0 && type_has(v->type, fastest)) {
        c->fastest = fastest;
        c->memory = l->k->param.p[op->param].elem;
        note_run(c, l->k, op, fastest);
    }
    meet_subscripts(l, op, v);
}

static void meet_yield(Lay *l, const Op *op, const Region *r) {
    for (int i = 0; r && i < op->res.n; i++) meet(l, r->last->arg.p[i], op->res.p[i]);
}

static void meet_op(Lay *l, Op *op) {
    OpClass class = op_info[op->kind].class;
    const Value *v = op->res.n ? op->res.p[0] : NULL;
    bool element = op_is_elementwise(op) || class == CLASS_PREFIX;
    for (int i = 0; i < op->arg.n && element; i++) meet(l, op->arg.p[i], v);
    for (int i = 1; i < op->arg.n && class == CLASS_PRINT; i++) meet(l, op->arg.p[i], op->arg.p[0]);
    if (class == CLASS_REDUCE) meet(l, v, op->arg.p[0]);
    if (op->kind == OP_DOT && op->arg.n == 3) meet(l, op->arg.p[2], v);
    if (op->kind == OP_LOAD && v->type.nrange) note_access(l, op, v);
    if (op->kind == OP_STORE && op->arg.p[0]->type.nrange) note_access(l, op, op->arg.p[0]);
    if (op->kind != OP_FOR && op->kind != OP_IF) return;
    for (int i = 0; i < op->res.n && op->kind == OP_FOR; i++) {
        meet(l, op->arg.p[i + 2], op->res.p[i]);
        meet(l, op->region[0]->arg.p[i], op->res.p[i]);
    }
    meet_yield(l, op, op->region[0]);
    if (op->kind == OP_IF) meet_yield(l, op, op->region[1]);
}

/* An operand that is converted for an instruction: the registers of its fragment that count along what is contracted.
 */
static void note_operand(Lay *l, const Value *fragment, int range) {
    if (!fragment->def || fragment->def->kind != OP_CONVERT || !fragment->layout) return;
    LayClass *c = &l->class[root_of(l, fragment->def->arg.p[0]->id)];
    const Layout *to = &l->k->layout.p[fragment->layout - 1];
    int at, first, d = layout_place(to, "reg", &first);
    layout_index(to, l->k->range.p[range].name, &at);
    c->inner = range;
    c->inner_bits = 0;
    while (c->inner_bits < to->place[d].bits && to->column[first + c->inner_bits] == UINT64_C(1)
                                                                                         << (at + c->inner_bits))
        c->inner_bits++;
}

static void note_operands(Lay *l, Op *op) {
    for (int i = 0; i < 2 && op->kind == OP_DOT && op->by; i++) note_operand(l, op->arg.p[i], op->over[0]);
}

/* A tile with further ranges, but of one position each, is accessed as the smaller one is that it is made of. */
static void note_pair(Lay *l, const LayPair *p) {
    const LayClass *small = &l->class[root_of(l, p->small)];
    LayClass *large = &l->class[root_of(l, p->large)];
    if (large->fastest >= 0 || small->fastest < 0 || lay_elements(l, small->type) != lay_elements(l, large->type))
        return;
    large->fastest = small->fastest;
    large->memory = small->memory;
    large->run = small->run;
    large->plain_run = small->plain_run;
}

static void note_value(Lay *l, Value *v) {
    l->value.p[v->id] = v;
    l->class[v->id] = (LayClass){.type = v->type,
                                 .fastest = -1,
                                 .memory = v->type.elem,
                                 .inner = -1,
                                 .run = LONGEST_RUN,
                                 .plain_run = LONGEST_RUN};
}

static void note_values(Lay *l, const Region *r) {
    for (int i = 0; r && i < r->arg.n; i++) note_value(l, r->arg.p[i]);
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        for (int i = 0; i < op->res.n; i++) note_value(l, op->res.p[i]);
        note_values(l, op->region[0]);
        note_values(l, op->region[1]);
    }
}

void lay_classes(Lay *l) {
    int n = l->nvalue = l->k->nvalue;
    l->value.n = l->pair.n = 0;
    l->parent = ARENA_ARRAY(l->scratch, int, n + 1);
    l->class = ARENA_ARRAY(l->scratch, LayClass, n + 1);
    for (int i = 0; i < n; i++) vec_push(l->scratch, &l->value, NULL);
    for (int i = 0; i < n; i++) l->parent[i] = i;
    note_values(l, l->k->body);
    lay_each(l, l->k->body, meet_op);
    lay_each(l, l->k->body, note_operands);
    for (int i = 0; i < l->pair.n; i++) note_pair(l, &l->pair.p[i]);
}
