/* interp_agents.c: all-gather by pushes into the peers' inbox and a matrix product that waits for each rank's block.
   Right flags have no fault and one result under every schedule; each way to be wrong is found under every schedule. */
#include "test/unit/interp_build.h"

#include <string.h>

static int failures;

enum { M = 9, N = 5, K = 10, TILE = 4, ANY = 100 };

typedef struct {
    int ranks;
    int64_t group; /* of the tiles of M in the flag */
    int slots;
    bool packet, no_wait, no_signal, early_signal, relaxed_wait, relaxed_signal, device_wait, device_signal;
    int64_t lag, arrivals, shift; /* shift: the wait's tile is this many too low */
} Variant;

typedef struct {
    Bench t;
    Variant v;
    int A, B, C, inbox;
    Size block;
} Gather;

static Affine flag_index(const Gather *g, int range, int64_t shift) {
    Affine a = affine_term(TERM_INDEX, range, 1, g->v.group > 1 ? g->v.group : 1);
    a.c = -shift;
    return a;
}

static Op *sync_op(Gather *g, Builder *b, OpKind kind, Affine peer, int tile, int64_t shift) {
    Op *op = op_append(b, kind);
    op->scope = SCOPE_SYSTEM;
    op->order = ORDER_ACQ_REL;
    op->dest = span_of(peer);
    vec_push(g->t.a, &op->sub, span_of(affine_const(0)));
    vec_push(g->t.a, &op->sub, span_of(g->v.group ? flag_index(g, tile, shift) : affine_const(0)));
    vec_push(g->t.a, &op->sub, span_of(affine_const(0)));
    return op;
}

static void signal_op(Gather *g, int dest, int tile) {
    if (g->v.no_signal || g->v.packet) return;
    Op *op = sync_op(g, &g->t.b, OP_SIGNAL, affine_term(TERM_POS, dest, 1, 1), tile, 0);
    if (g->v.relaxed_signal) op->order = ORDER_RELAXED;
    if (g->v.device_signal) op->scope = SCOPE_DEVICE;
}

static void wait_op(Gather *g, Builder *b, int source, int tile) {
    if (g->v.no_wait || g->v.packet) return;
    Op *op = sync_op(g, b, OP_WAIT, affine_term(TERM_POS, source, 1, 1), tile, g->v.shift);
    op->lag = g->v.lag;
    if (g->v.relaxed_wait) op->order = ORDER_RELAXED;
    if (g->v.device_wait) op->scope = SCOPE_DEVICE;
}

static int inbox_param(Gather *g, bool out) {
    Size dim[] = {size_number(g->v.ranks), size_number(M), g->block};
    int p = bench_param(&g->t, "inbox", ELEM_F32, 3, dim, out, true);
    g->t.k->param.p[p].packet = g->v.packet;
    return p;
}

/* inbox of d [this rank, i, c] = a[i, c] */
static void push_node(Gather *g) {
    Bench *t = &g->t;
    bench_kernel(t, "push");
    int a = bench_param(t, "a", ELEM_F32, 2, (Size[]){size_number(M), split(K)}, false, false),
        inbox = inbox_param(g, true);
    int d = bench_range(t, "d", RANGE_POSITION, 1, g->v.ranks, true),
        i = bench_range(t, "i", RANGE_TILE, TILE, M, true);
    int c = bench_range(t, "c", RANGE_WHOLE, 0, 0, true);
    t->k->range.p[c].of = split(K);
    if (g->v.early_signal) signal_op(g, d, i);
    Value *x = build_load(&t->b, a, (Span[]){at_pos(i), at_pos(c)}, 2);
    build_store(&t->b, inbox, (Span[]){at_pos(d), at_rank(), at_pos(i), at_pos(c)}, 4, x, STORE_SET);
    if (!g->v.early_signal) signal_op(g, d, i);
    bench_call(t, (int[]){g->A, g->inbox}, 2);
}

/* c[i, j] = sum over r, p of inbox[r, i, p] b[r B + p, j] */
static void product_node(Gather *g) {
    Bench *t = &g->t;
    bench_kernel(t, "product");
    int inbox = inbox_param(g, false),
        b = bench_param(t, "b", ELEM_F32, 2, (Size[]){size_number(K), size_number(N)}, false, false);
    int c = bench_param(t, "c", ELEM_F32, 2, (Size[]){size_number(M), size_number(N)}, true, false);
    int i = bench_range(t, "i", RANGE_TILE, TILE, M, true), j = bench_range(t, "j", RANGE_TILE, 3, N, true);
    int r = bench_range(t, "r", RANGE_POSITION, 1, 0, false), p = bench_range(t, "p", RANGE_WHOLE, 0, 0, false);
    Builder *o = &t->b, in, in2;
    Value *zero = build_broadcast(o, type_with(type_with(type_scalar(ELEM_F32), i), j), build_const_f(o, ELEM_F32, 0));
    Value *first = build_const_i(o, ELEM_I64, 0);
    Op *ranks = build_for(o, r, first, build_const_i(o, ELEM_I64, g->v.ranks), &zero, 1);
    in = *o, in.at = ranks->region[0];
    wait_op(g, &in, r, i);
    Value *begin = build_binary(&in, OP_MUL, build_index(&in, OP_POS, r), build_const_i(&in, ELEM_I64, g->block.c));
    Value *left = build_binary(&in, OP_SUB, build_const_i(&in, ELEM_I64, K), begin);
    Value *end = build_binary(&in, OP_MIN, left, build_const_i(&in, ELEM_I64, g->block.c));
    Op *loop = build_for(&in, p, first, end, &ranks->region[0]->arg.p[0], 1);
    in2 = in, in2.at = loop->region[0];
    Affine row = affine_term(TERM_POS, r, g->block.c, 1), pos = affine_term(TERM_POS, p, 1, 1);
    affine_add(&row, &pos, 1);
    Value *x = build_load(&in2, inbox, (Span[]){at_rank(), at_pos(r), at_pos(i), at_pos(p)}, 4);
    Value *y = build_load(&in2, b, (Span[]){span_of(row), at_pos(j)}, 2);
    build_yield(&in2, (Value *[]){build_dot(&in2, x, y, loop->region[0]->arg.p[0])}, 1);
    build_yield(&in, &loop->res.p[0], 1);
    build_store(o, c, (Span[]){at_pos(i), at_pos(j)}, 2, ranks->res.p[0], STORE_SET);
    bench_call(t, (int[]){g->inbox, g->B, g->C}, 3);
}

static void add_flag(Gather *g) {
    Bench *t = &g->t;
    Flag f = {.id = 0,
              .name = bench_name(t, "ready"),
              .producer = 0,
              .consumer = 1,
              .axis = 0,
              .scope = SCOPE_SYSTEM,
              .arrivals = g->v.arrivals};
    vec_push(t->a, &f.dim, ((FlagDim){.of = size_number(g->v.ranks), .size = 1, .group = GROUP_DEST}));
    vec_push(t->a, &f.dim, ((FlagDim){.of = size_number(M), .size = TILE, .group = g->v.group}));
    vec_push(t->a, &f.dim, ((FlagDim){.of = split(K), .size = 0, .group = GROUP_DROP}));
    vec_push(t->a, &t->p->flag, f);
}

static Gather gather_new(Variant v) {
    Gather g = {.t = bench_new(v.ranks), .v = v, .block = size_number((K + v.ranks - 1) / v.ranks)};
    Bench *t = &g.t;
    t->m->form = FORM_FLAGS;
    g.A = bench_tensor(t, "A", ELEM_F32, ROLE_INPUT, 2, (Size[]){size_number(M), split(K)});
    g.B = bench_tensor(t, "B", ELEM_F32, ROLE_INPUT, 2, (Size[]){size_number(K), size_number(N)});
    g.C = bench_tensor(t, "C", ELEM_F32, ROLE_OUTPUT, 2, (Size[]){size_number(M), size_number(N)});
    g.inbox = bench_tensor(t, "inbox", ELEM_F32, ROLE_TEMP, 3, (Size[]){size_number(v.ranks), size_number(M), g.block});
    Tensor *inbox = &t->p->tensor.p[g.inbox];
    inbox->symmetric = 0;
    inbox->slots = v.slots;
    inbox->packet = v.packet;
    inbox->place[0].kind = PLACE_V;
    if (!v.packet) add_flag(&g);
    push_node(&g);
    product_node(&g);
    return g;
}

static bool gather_right(const Array *io) {
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++) {
            double s = 0;
            for (int64_t p = 0; p < K; p++) s += array_get(&io[0], i * K + p) * array_get(&io[1], p * N + j);
            if (array_get(&io[2], i * N + j) != s) return false;
        }
    return true;
}

static Variant good(int ranks) { return (Variant){.ranks = ranks, .group = 1, .slots = 2}; }

static void check_kind(const Gather *g, const char *name, const InterpReport *report, FaultKind kind) {
    for (int i = 0; i < report->fault.n; i++)
        if (report->fault.p[i].kind == kind || kind == (FaultKind)ANY) return;
    fprintf(stderr, "%s:\n", name);
    interp_report_print(g->t.p, report, stderr);
    CHECK(!"a fault of this kind");
}

/* kind < 0: no fault is expected. */
static void check_seeds(const char *name, Variant v, int kind) {
    for (int seed = 0; seed < 30; seed++) {
        Gather g = gather_new(v);
        Array *io = bench_arrays(&g.t, NULL);
        InterpReport report;
        InterpOptions o = {.concurrent = true, .seed = (uint64_t)seed, .workers = 1 + seed % 3, .generations = 4};
        bool fine = bench_run(&g.t, o, io, &report);
        if (fine != (kind < 0)) fprintf(stderr, "%s, seed %d:\n", name, seed);
        if (!fine && kind < 0) interp_report_print(g.t.p, &report, stderr);
        CHECK(fine == (kind < 0));
        if (fine) CHECK(gather_right(io));
        if (!fine && kind >= 0) check_kind(&g, name, &report, (FaultKind)kind);
        arena_free(g.t.a);
    }
}

static void check_right(void) {
    for (int ranks = 1; ranks <= 4; ranks++) {
        Variant v = good(ranks);
        check_seeds("kept", v, -1);
        v.group = 2;
        check_seeds("divided", v, -1);
        v.group = GROUP_DROP;
        check_seeds("dropped", v, -1);
        v.packet = true;
        check_seeds("packets", v, -1);
    }
}

static void check_wrong(void) {
    Variant v = good(3);
    check_seeds("one slot", (v.slots = 1, v), FAULT_RACE), v = good(3);
    check_seeds("no wait", (v.no_wait = true, v), FAULT_RACE), v = good(3);
    check_seeds("early signal", (v.early_signal = true, v), FAULT_RACE), v = good(3);
    check_seeds("relaxed wait", (v.relaxed_wait = true, v), FAULT_RACE), v = good(3);
    check_seeds("relaxed signal", (v.relaxed_signal = true, v), FAULT_RACE), v = good(3);
    check_seeds("device wait", (v.device_wait = true, v), FAULT_RACE), v = good(3);
    check_seeds("device signal", (v.device_signal = true, v), FAULT_RACE), v = good(3);
    check_seeds("one generation back", (v.lag = 1, v), FAULT_RACE), v = good(3);
    check_seeds("another tile", (v.shift = 1, v), FAULT_RACE), v = good(3);
    check_seeds("no signal", (v.no_signal = true, v), FAULT_DEADLOCK), v = good(3);
    check_seeds("one arrival more", (v.arrivals = 2, v), FAULT_DEADLOCK), v = good(3);
    v.group = GROUP_DROP;
    check_seeds("one arrival less", (v.arrivals = 2, v), FAULT_RACE), v = good(3);
    v.packet = true;
    check_seeds("packets in one slot", (v.slots = 1, v), ANY);
}

/* Without agents the same module is its sequential meaning. */
static void check_sequential(void) {
    Gather g = gather_new(good(4));
    Array *io = bench_arrays(&g.t, NULL);
    InterpReport report;
    CHECK(bench_run(&g.t, (InterpOptions){.generations = 3}, io, &report));
    CHECK(gather_right(io) && report.waits == 0);
    arena_free(g.t.a);
}

int main(void) {
    check_right();
    check_wrong();
    check_sequential();
    return failures != 0;
}
