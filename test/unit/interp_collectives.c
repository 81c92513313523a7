/* interp_collectives.c: every collective for 1 to 5 ranks and extents that do not divide, against what it means on the
   global arrays; replicated results that differ between ranks are found. */
#include "test/unit/interp_build.h"

static int failures;

enum { M = 7, N = 6 };

static int temp(Bench *t, const char *name, Elem e, const Size *dim, int ndim, PlaceKind place) {
    int id = bench_tensor(t, name, e, ROLE_TEMP, ndim, dim);
    t->p->tensor.p[id].place[0].kind = place;
    return id;
}

static void collective(Bench *t, Coll coll, int src, int dst, int dim, int dim2, int64_t shift) {
    program_node(t->m, t->p,
                 (Node){.kind = NODE_COLLECTIVE,
                        .coll = coll,
                        .axis = 0,
                        .dim = dim,
                        .dim2 = dim2,
                        .shift = shift,
                        .src = src,
                        .dst = dst});
}

/* y = x (+ rank when different) on whole local tensors of one shape; a dimension that is split is local. */
static void copy_node(Bench *t, int from, int to, const Size *dim, bool add_rank, const int16_t *slice) {
    bench_kernel(t, "copy");
    int x = bench_param(t, "x", ELEM_F32, 2, dim, false, false), y = bench_param(t, "y", ELEM_F32, 2, dim, true, false);
    int i = bench_range(t, "i", RANGE_TILE, 2, 0, true), j = bench_range(t, "j", RANGE_WHOLE, 0, 0, true);
    t->k->range.p[i].of = dim[0];
    t->k->range.p[j].of = dim[1];
    Span sub[] = {at_pos(i), at_pos(j)};
    Value *v = build_load(&t->b, x, sub, 2);
    if (add_rank) v = build_binary(&t->b, OP_ADD, v, build_cast(&t->b, ELEM_F32, build_rank(&t->b, 0)));
    build_store(&t->b, y, sub, 2, v, STORE_SET);
    Node *n = bench_call(t, (int[]){from, to}, 2);
    for (int d = 0; slice && d < 2; d++) n->arg.p[0].slice[d] = slice[d];
}

typedef struct {
    Bench t;
    int ranks, in, out;
} Two; /* a program in -> out of two global matrices */

static Two two_new(int ranks, const Size *in, const Size *out) {
    Two x = {.t = bench_new(ranks), .ranks = ranks};
    x.in = bench_tensor(&x.t, "in", ELEM_F32, ROLE_INPUT, 2, in);
    x.out = bench_tensor(&x.t, "out", ELEM_F32, ROLE_OUTPUT, 2, out);
    return x;
}

static Array *two_run(Two *x, bool good) {
    Array *io = bench_arrays(&x->t, NULL);
    InterpReport report;
    CHECK(bench_run(&x->t, (InterpOptions){0}, io, &report) == good);
    CHECK(good || report.fault.p[0].kind == FAULT_RANKS);
    return io;
}

static void check_same(const Array *io, double factor, double plus) {
    for (int64_t i = 0; i < M * N; i++) CHECK(array_get(&io[1], i) == array_get(&io[0], i) * factor + plus);
}

static const Size rows[] = {{M, -1, 0}, {N, -1, -1}}, columns[] = {{M, -1, -1}, {N, -1, 0}},
                  whole[] = {{M, -1, -1}, {N, -1, -1}};

/* Split inputs gathered to a replicated output; along either dimension. */
static void check_gather(int ranks) {
    for (int dim = 0; dim < 2; dim++) {
        Two x = two_new(ranks, dim ? columns : rows, whole);
        collective(&x.t, COLL_ALL_GATHER, x.in, x.out, dim, 0, 0);
        check_same(two_run(&x, true), 1, 0);
        arena_free(x.t.a);
    }
}

static void check_all_to_all(int ranks) {
    Two x = two_new(ranks, rows, columns);
    collective(&x.t, COLL_ALL_TO_ALL, x.in, x.out, 0, 1, 0);
    check_same(two_run(&x, true), 1, 0);
    arena_free(x.t.a);
}

/* Each rank holds in + rank; the sum over ranks is ranks * in + 0 + 1 + .. */
static void check_reduce(int ranks, Coll coll, PartOp op) {
    Two x = two_new(ranks, whole, coll == COLL_ALL_REDUCE ? whole : columns);
    int part = temp(&x.t, "part", ELEM_F32, whole, 2, PLACE_P);
    x.t.p->tensor.p[part].place[0].op = op;
    copy_node(&x.t, x.in, part, whole, true, NULL);
    collective(&x.t, coll, part, x.out, 1, 0, 0);
    if (op == PART_SUM)
        check_same(two_run(&x, true), ranks, (double)ranks * (ranks - 1) / 2);
    else
        check_same(two_run(&x, true), 1, ranks - 1);
    arena_free(x.t.a);
}

/* What rank r holds after the collective is stacked, so that all ranks' values show. */
static void check_ring(int ranks, Coll coll, int64_t shift) {
    Two x = two_new(ranks, whole, whole);
    Size stacked[] = {size_number(ranks), size_number(M), size_number(N)};
    int all = bench_tensor(&x.t, "all", ELEM_F32, ROLE_OUTPUT, 3, stacked);
    int mine = temp(&x.t, "mine", ELEM_F32, whole, 2, PLACE_V), got = temp(&x.t, "got", ELEM_F32, whole, 2, PLACE_V);
    copy_node(&x.t, x.in, mine, whole, true, NULL);
    collective(&x.t, coll, mine, got, 0, 0, shift);
    collective(&x.t, COLL_STACK, got, all, 0, 0, 0);
    collective(&x.t, COLL_BROADCAST, x.in, x.out, 0, 0, 0);
    Array *io = two_run(&x, true);
    for (int64_t r = 0; r < ranks; r++) {
        int64_t from = coll == COLL_BROADCAST ? shift : ((r - shift) % ranks + ranks) % ranks;
        for (int64_t i = 0; i < M * N; i++)
            CHECK(array_get(&io[2], r * M * N + i) == array_get(&io[0], i) + (double)from);
    }
    arena_free(x.t.a);
}

/* A replicated argument sliced to its block. */
static void check_slice(int ranks) {
    Two x = two_new(ranks, whole, rows);
    copy_node(&x.t, x.in, x.out, rows, false, (int16_t[]){0, -1});
    check_same(two_run(&x, true), 1, 0);
    arena_free(x.t.a);
}

static void check_difference(int ranks) {
    Two x = two_new(ranks, whole, whole);
    copy_node(&x.t, x.in, x.out, whole, true, NULL);
    two_run(&x, ranks == 1);
    arena_free(x.t.a);
}

int main(void) {
    for (int ranks = 1; ranks <= 5; ranks++) {
        check_gather(ranks);
        check_all_to_all(ranks);
        check_reduce(ranks, COLL_ALL_REDUCE, PART_SUM);
        check_reduce(ranks, COLL_ALL_REDUCE, PART_MAX);
        check_reduce(ranks, COLL_REDUCE_SCATTER, PART_SUM);
        check_ring(ranks, COLL_PERMUTE, 1 % ranks);
        check_ring(ranks, COLL_PERMUTE, -2 % ranks);
        check_ring(ranks, COLL_BROADCAST, ranks - 1);
        check_slice(ranks);
        check_difference(ranks);
    }
    return failures != 0;
}
