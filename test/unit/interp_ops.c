/* interp_ops.c: operations in small kernels over one row range i and one inner range, against plain C. */
#include "test/unit/interp_build.h"

static int failures;

enum { ROWS = 5, COLS = 11, TILE = 4 };

/* A kernel x[ROWS, COLS], .. -> z, grid i in tiles of 2; bodies are built by the tests. */
typedef struct {
    Bench t;
    int x, z, i, c;
} Row;

static Row row_new(Elem e, Elem out, int out_dims, RangeKind inner) {
    Row r = {.t = bench_new(0)};
    Size dim[] = {size_number(ROWS), size_number(COLS)};
    bench_kernel(&r.t, "row");
    r.x = bench_param(&r.t, "x", e, 2, dim, false, false);
    r.z = bench_param(&r.t, "z", out, out_dims, dim, true, false);
    r.i = bench_range(&r.t, "i", RANGE_TILE, 2, ROWS, true);
    r.c = inner == RANGE_WHOLE ? bench_range(&r.t, "c", RANGE_WHOLE, 0, COLS, true)
                               : bench_range(&r.t, "c", inner, TILE, 0, false);
    int X = bench_tensor(&r.t, "X", e, ROLE_INPUT, 2, dim),
        Z = bench_tensor(&r.t, "Z", out, ROLE_OUTPUT, out_dims, dim);
    bench_call(&r.t, (int[]){X, Z}, 2);
    return r;
}

static Value *row_load(Row *r, Builder *b) { return build_load(b, r->x, (Span[]){at_pos(r->i), at_pos(r->c)}, 2); }

static void row_store(Row *r, Value *v) {
    Span sub[] = {at_pos(r->i), at_pos(r->c)};
    build_store(&r->t.b, r->z, sub, r->t.k->param.p[r->z].ndim, v, STORE_SET);
}

static Array *row_run(Row *r, bool bounds) {
    Array *io = bench_arrays(&r->t, NULL);
    InterpReport report;
    CHECK(bench_run(&r->t, (InterpOptions){.bounds = bounds}, io, &report));
    return io;
}

static double at(const Array *a, int i, int c) { return array_get(a, i * COLS + c); }

static Op *row_loop(Row *r, Value *const *init, int n, Builder *in) {
    Op *loop =
        build_for(&r->t.b, r->c, build_const_i(&r->t.b, ELEM_I64, 0), build_const_i(&r->t.b, ELEM_I64, COLS), init, n);
    *in = r->t.b;
    in->at = loop->region[0];
    return loop;
}

static Value *row_const(Row *r, double x) {
    return build_broadcast(&r->t.b, type_with(type_scalar(ELEM_F32), r->i), build_const_f(&r->t.b, ELEM_F32, x));
}

/* log of the sum of exponentials in one pass: the maximum so far and the sum relative to it are carried. */
static void check_online(void) {
    Row r = row_new(ELEM_F32, ELEM_F32, 1, RANGE_TILE);
    Value *init[] = {row_const(&r, -INFINITY), row_const(&r, 0)};
    Builder b;
    Op *loop = row_loop(&r, init, 2, &b);
    Value *m = loop->region[0]->arg.p[0], *l = loop->region[0]->arg.p[1], *x = row_load(&r, &b);
    int16_t over[] = {(int16_t)r.c};
    Value *mx = build_binary(&b, OP_MAX, m, build_reduce(&b, OP_RMAX, x, over, 1));
    Value *p = build_unary(&b, OP_EXP, build_binary(&b, OP_SUB, x, mx));
    Value *s = build_unary(&b, OP_EXP, build_binary(&b, OP_SUB, m, mx));
    Value *sum = build_binary(&b, OP_ADD, build_binary(&b, OP_MUL, l, s), build_reduce(&b, OP_SUM, p, over, 1));
    build_yield(&b, (Value *[]){mx, sum}, 2);
    row_store(&r, build_binary(&r.t.b, OP_ADD, build_unary(&r.t.b, OP_LOG, loop->res.p[1]), loop->res.p[0]));
    Array *io = row_run(&r, true);
    for (int i = 0; i < ROWS; i++) {
        double e = 0;
        for (int c = 0; c < COLS; c++) e += exp(at(&io[0], i, c));
        double off = fabs(array_get(&io[1], i) - log(e));
        CHECK(off <= io[1].bound[i] && io[1].bound[i] < 1e-3);
    }
    arena_free(r.t.a);
}

/* where(pos(c) <= pos(i), x, -1), then a prefix sum. */
static void check_mask_and_prefix(void) {
    Row r = row_new(ELEM_F32, ELEM_F32, 2, RANGE_WHOLE);
    Builder *b = &r.t.b;
    Value *c = build_binary(b, OP_LE, build_index(b, OP_POS, r.c), build_index(b, OP_POS, r.i));
    row_store(&r, build_prefix(b, OP_CUMSUM, build_select(b, c, row_load(&r, b), build_const_f(b, ELEM_F32, -1)), r.c));
    Array *io = row_run(&r, false);
    for (int i = 0; i < ROWS; i++) {
        double s = 0;
        for (int k = 0; k < COLS; k++) CHECK(at(&io[1], i, k) == (s += k <= i ? at(&io[0], i, k) : -1));
    }
    arena_free(r.t.a);
}

static void check_extremes(void) {
    const OpKind kind[] = {OP_ARGMAX, OP_ARGMIN};
    for (int k = 0; k < 2; k++) {
        Row r = row_new(ELEM_I32, ELEM_I64, 1, RANGE_WHOLE);
        row_store(&r, build_reduce(&r.t.b, kind[k], row_load(&r, &r.t.b), (int16_t[]){(int16_t)r.c}, 1));
        Array *io = row_run(&r, false);
        for (int i = 0; i < ROWS; i++) {
            int best = 0;
            for (int c = 1; c < COLS; c++)
                if (k ? at(&io[0], i, c) < at(&io[0], i, best) : at(&io[0], i, c) > at(&io[0], i, best)) best = c;
            CHECK(array_get(&io[1], i) == best);
        }
        arena_free(r.t.a);
    }
}

/* Two carried values exchanged in every iteration, a branch on the tile's number: the odd tiles' sums are subtracted.
 */
static void check_exchange_and_branch(void) {
    Row r = row_new(ELEM_F32, ELEM_F32, 1, RANGE_TILE);
    Value *init[] = {row_const(&r, 0), row_const(&r, 100)};
    Builder b, in;
    Op *loop = row_loop(&r, init, 2, &b);
    Value *v = loop->region[0]->arg.p[0], *w = loop->region[0]->arg.p[1];
    Value *s = build_reduce(&b, OP_SUM, row_load(&r, &b), (int16_t[]){(int16_t)r.c}, 1);
    Value *t = build_binary(&b, OP_DIV, build_index(&b, OP_BEGIN, r.c), build_const_i(&b, ELEM_I64, TILE));
    Value *odd = build_binary(&b, OP_MOD, t, build_const_i(&b, ELEM_I64, 2));
    Op *branch = build_if(&b, build_binary(&b, OP_EQ, odd, build_const_i(&b, ELEM_I64, 1)), &s->type, 1);
    in = b, in.at = branch->region[0];
    build_yield(&in, (Value *[]){build_unary(&in, OP_NEG, s)}, 1);
    in.at = branch->region[1];
    build_yield(&in, &s, 1);
    build_yield(&b, (Value *[]){w, build_binary(&b, OP_ADD, v, branch->res.p[0])}, 2);
    row_store(&r, loop->res.p[1]);
    Array *io = row_run(&r, false);
    for (int i = 0; i < ROWS; i++) {
        double carried[2] = {0, 100};
        for (int tile = 0; tile * TILE < COLS; tile++) {
            double sum = 0, old = carried[0];
            for (int c = tile * TILE; c < COLS && c < (tile + 1) * TILE; c++) sum += at(&io[0], i, c);
            carried[0] = carried[1];
            carried[1] = old + (tile % 2 ? -sum : sum);
        }
        CHECK(array_get(&io[1], i) == carried[1]);
    }
    arena_free(r.t.a);
}

/* x[i, c - 1] + x[i, 2 c] + x[i, (3 c + i) mod 7] + x[i / 2, 10]: windows, strides, gathers; outside reads 0. */
static void check_subscripts(void) {
    Row r = row_new(ELEM_F32, ELEM_F32, 2, RANGE_WHOLE);
    Builder *b = &r.t.b;
    Affine before = affine_term(TERM_POS, r.c, 1, 1);
    before.c = -1;
    Value *c3 = build_binary(b, OP_MUL, build_index(b, OP_POS, r.c), build_const_i(b, ELEM_I64, 3));
    Value *g = build_binary(b, OP_MOD, build_binary(b, OP_ADD, c3, build_index(b, OP_POS, r.i)),
                            build_const_i(b, ELEM_I64, 7));
    Span i = at_pos(r.i);
    Value *sum = build_load(b, r.x, (Span[]){i, span_of(before)}, 2);
    sum = build_binary(b, OP_ADD, sum, build_load(b, r.x, (Span[]){i, span_of(affine_term(TERM_POS, r.c, 2, 1))}, 2));
    sum = build_binary(b, OP_ADD, sum, build_load(b, r.x, (Span[]){i, span_of(affine_value(g))}, 2));
    Span half = span_of(affine_term(TERM_POS, r.i, 1, 2)), ten = span_of(affine_const(10));
    row_store(&r, build_binary(b, OP_ADD, sum, build_load(b, r.x, (Span[]){half, ten}, 2)));
    Array *io = row_run(&r, false);
    for (int k = 0; k < ROWS; k++)
        for (int c = 0; c < COLS; c++) {
            double left = c ? at(io, k, c - 1) : 0, twice = 2 * c < COLS ? at(io, k, 2 * c) : 0;
            CHECK(at(&io[1], k, c) == left + twice + at(io, k, (3 * c + k) % 7) + at(io, k / 2, 10));
        }
    arena_free(r.t.a);
}

/* x[i, i] and a store of which half is outside. */
static void check_diagonal(void) {
    Row r = row_new(ELEM_F32, ELEM_F32, 1, RANGE_WHOLE);
    Builder *b = &r.t.b;
    Value *d = build_load(b, r.x, (Span[]){at_pos(r.i), at_pos(r.i)}, 2);
    build_store(b, r.z, (Span[]){span_of(affine_term(TERM_POS, r.i, 2, 1))}, 1, d, STORE_SET);
    Array *io = row_run(&r, false);
    for (int i = 0; i < 3; i++) CHECK(array_get(&io[1], 2 * i) == at(io, i, i));
    arena_free(r.t.a);
}

/* A loop over the positions of a run-time interval: sum of x[i, p] for p in [i, 2 i). */
static void check_positions(void) {
    Row r = row_new(ELEM_F64, ELEM_F64, 1, RANGE_POSITION);
    r.t.k->range.p[r.i].kind = RANGE_POSITION;
    r.t.k->range.p[r.i].size = 1;
    Builder *b = &r.t.b, in;
    Value *i = build_index(b, OP_POS, r.i), *zero = build_const_f(b, ELEM_F64, 0);
    Value *end = build_binary(b, OP_MUL, i, build_const_i(b, ELEM_I64, 2));
    Op *loop = build_for(b, r.c, i, end, &zero, 1);
    in = *b, in.at = loop->region[0];
    build_yield(&in, (Value *[]){build_binary(&in, OP_ADD, loop->region[0]->arg.p[0], row_load(&r, &in))}, 1);
    build_store(b, r.z, (Span[]){at_pos(r.i)}, 1, loop->res.p[0], STORE_SET);
    Array *io = row_run(&r, false);
    for (int k = 0; k < ROWS; k++) {
        double s = 0;
        for (int p = k; p < 2 * k; p++) s += at(io, k, p);
        CHECK(array_get(&io[1], k) == s);
    }
    arena_free(r.t.a);
}

typedef struct {
    OpKind op;
    Elem e;
    int64_t x, y, z;
} Case;

/* Floor division, wrapping, shifts; every case in one run. */
static void check_integers(void) {
    static const Case cases[] = {
        {OP_DIV, ELEM_I32, -7, 2, -4},
        {OP_MOD, ELEM_I32, -7, 2, 1},
        {OP_MOD, ELEM_I32, 7, -2, -1},
        {OP_DIV, ELEM_I32, INT32_MIN, -1, INT32_MIN},
        {OP_DIV, ELEM_I64, 5, 0, 0},
        {OP_ADD, ELEM_I8, 127, 1, -128},
        {OP_MUL, ELEM_U8, 16, 17, 16},
        {OP_SHL, ELEM_I16, 1, 15, -32768},
        {OP_SHR, ELEM_I32, -8, 1, -4},
        {OP_XOR, ELEM_BOOL, 1, 1, 0},
        {OP_SUB, ELEM_I64, INT64_MIN, 1, INT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *x = &cases[i];
        Row r = row_new(ELEM_F32, ELEM_I64, 1, RANGE_WHOLE);
        Builder *b = &r.t.b;
        Value *v = build_binary(b, x->op, build_const_i(b, x->e, x->x), build_const_i(b, x->e, x->y));
        build_store(b, r.z, (Span[]){at_pos(r.i)}, 1, build_cast(b, ELEM_I64, v), STORE_SET);
        Array *io = row_run(&r, false);
        CHECK(array_get_int(&io[1], 0) == x->z);
        arena_free(r.t.a);
    }
}

static void check_casts(void) {
    static const struct {
        Elem to;
        double x, z;
    } cases[] = {
        {ELEM_I32, -2.7, -2},    {ELEM_I8, 300, 127},        {ELEM_I32, NAN, 0},          {ELEM_U8, -4, 0},
        {ELEM_BOOL, 0.5, 1},     {ELEM_BF16, 1.00390625, 1}, {ELEM_F16, 70000, INFINITY}, {ELEM_F8E4M3, 500, 448},
        {ELEM_I64, 1e30, 0x1p63}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Row r = row_new(ELEM_F32, ELEM_F64, 1, RANGE_WHOLE);
        Builder *b = &r.t.b;
        Value *v = build_cast(b, cases[i].to, build_const_f(b, ELEM_F32, cases[i].x));
        build_store(b, r.z, (Span[]){at_pos(r.i)}, 1, build_cast(b, ELEM_F64, v), STORE_SET);
        Array *io = row_run(&r, false);
        CHECK(array_get(&io[1], 0) == cases[i].z);
        arena_free(r.t.a);
    }
}

int main(void) {
    check_online();
    check_mask_and_prefix();
    check_extremes();
    check_exchange_and_branch();
    check_subscripts();
    check_diagonal();
    check_positions();
    check_integers();
    check_casts();
    return failures != 0;
}
