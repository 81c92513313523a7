/* ir_build.c: builders compute types; sizes, meshes and affine sums calculate as ir.h says. */
#include "ir/ir.h"
#include "test/unit/check.h"

typedef struct {
    Module *m;
    Kernel *k;
    int i, j, p, r;
    Builder b;
} Fixture;

static Fixture fixture(Arena *a) {
    Fixture f = {.m = module_new(a, names_new(a), diags_new(a))};
    Name x = name_of(f.m->names, "x");
    Symbol s = {.name = name_of(f.m->names, "S"), .bound = 100};
    Axis tp = {.name = name_of(f.m->names, "tp"), .ranks = 4}, dp = {.name = name_of(f.m->names, "dp"), .ranks = 3};
    vec_push(a, &f.m->symbol, s);
    vec_push(a, &f.m->axis, tp);
    vec_push(a, &f.m->axis, dp);
    f.k = kernel_new(f.m, x, (Loc){0});
    Size n = size_number(100);
    f.i =
        kernel_range(f.m, f.k, (Range){.name = x, .kind = RANGE_TILE, .size = 16, .of = n, .owner = -1, .grid = true});
    f.r = kernel_range(f.m, f.k, (Range){.name = x, .kind = RANGE_POSITION, .of = n, .owner = -1, .grid = true});
    f.j = kernel_range(f.m, f.k, (Range){.name = x, .kind = RANGE_WHOLE, .of = n, .owner = -1, .grid = true});
    f.p = kernel_range(f.m, f.k, (Range){.name = x, .kind = RANGE_TILE, .size = 8, .owner = -1});
    kernel_param(f.m, f.k, (Param){.name = x, .elem = ELEM_BF16, .ndim = 2, .dim = {n, n}, .ranks = -1});
    f.b = (Builder){f.m, f.k, f.k->body, {0}};
    return f;
}

static Value *load(Fixture *f, int r0, int r1) {
    Span sub[] = {span_of(affine_term(TERM_POS, r0, 1, 1)), span_of(affine_term(TERM_POS, r1, 1, 1))};
    return build_load(&f->b, 0, sub, 2);
}

static int test_types(Arena *a) {
    int failures = 0;
    Fixture f = fixture(a);
    Value *x = load(&f, f.p, f.i), *y = load(&f, f.p, f.j), *s = load(&f, f.r, f.r);
    CHECK(x->type.nrange == 2 && x->type.range[0] == f.i && x->type.range[1] == f.p);
    CHECK(s->type.nrange == 0 && s->type.elem == ELEM_BF16);
    Value *d = build_dot(&f.b, x, y, NULL);
    CHECK(d->type.elem == ELEM_F32 && type_has(d->type, f.i) && type_has(d->type, f.j) && !type_has(d->type, f.p));
    int16_t over[] = {(int16_t)f.p, (int16_t)f.i};
    CHECK(build_reduce(&f.b, OP_ARGMAX, build_cast(&f.b, ELEM_F32, x), over, 1)->type.elem == ELEM_I64);
    CHECK(build_reduce(&f.b, OP_SUM, x, over, 2)->type.nrange == 0);
    CHECK(build_cast(&f.b, ELEM_F32, d) == d);
    CHECK(build_broadcast(&f.b, x->type, x) == x);
    CHECK(type_equal(build_broadcast(&f.b, x->type, s)->type, x->type));
    CHECK(build_binary(&f.b, OP_LT, d, d)->type.elem == ELEM_BOOL);
    CHECK(build_index(&f.b, OP_POS, f.r)->type.nrange == 0 && build_index(&f.b, OP_POS, f.i)->type.nrange == 1);
    return failures;
}

static int test_list(Arena *a) {
    int failures = 0;
    Fixture f = fixture(a);
    Op *first = build_const_i(&f.b, ELEM_I32, 1)->def, *last = build_const_i(&f.b, ELEM_I32, 2)->def;
    Op *middle = op_new(f.m, OP_CONST, (Loc){0});
    op_insert_before(last, middle);
    CHECK(first->next == middle && middle->next == last && last->prev == middle && middle->in == f.k->body);
    op_remove(first);
    op_remove(last);
    CHECK(f.k->body->first == middle && f.k->body->last == middle && !middle->prev && !middle->next);
    return failures;
}

static int test_attributes(Arena *a) {
    int failures = 0;
    Fixture f = fixture(a);
    Op *x = load(&f, f.p, f.i)->def, *y = load(&f, f.p, f.j)->def, *again = op_like(f.m, x);
    CHECK(op_same_attributes(x, again) && !again->res.n && !again->in && again->sub.p != x->sub.p);
    CHECK(!op_same_attributes(x, y) && !op_stray_attribute(x));
    Op *one = build_const_f(&f.b, ELEM_F32, 1)->def, *two = build_const_f(&f.b, ELEM_F32, 2)->def;
    CHECK(!op_same_attributes(one, two) && !op_same_attributes(one, x));
    two->fimm = 1;
    CHECK(op_same_attributes(one, two) && !op_stray_attribute(two));
    two->range = 1;
    CHECK(op_same_attributes(one, two) && op_stray_attribute(two));
    Fixture g = fixture(a);
    Op *three = build_const_f(&g.b, ELEM_F32, 3)->def;
    CHECK(kernel_is_valid(g.m, g.k));
    three->range = 1;
    CHECK(!kernel_is_valid(g.m, g.k));
    for (OpKind kind = 0; kind < OP_COUNT; kind++) CHECK(!op_stray_attribute(op_new(f.m, kind, (Loc){0})));
    return failures;
}

static int test_sizes(Arena *a) {
    int failures = 0;
    Fixture f = fixture(a);
    Size s = {.c = 1, .sym = 0, .axis = 0}; /* S + 1 over 4 ranks */
    int64_t sym[] = {8}, got[4], want[] = {3, 3, 3, 0};
    for (int r = 0; r < 4; r++) got[r] = size_eval(f.m, s, sym, (int[]){r, 0});
    for (int r = 0; r < 4; r++) CHECK(got[r] == want[r]);
    CHECK(size_block(f.m, s, sym) == 3 && size_origin(f.m, s, sym, (int[]){2, 0}) == 6);
    CHECK(size_bound(f.m, s) == 26 && size_bound(f.m, size_whole(s)) == 101);
    CHECK(!size_is_number(s) && size_is_number(size_number(3)) && !size_equal(s, size_whole(s)));
    int coord[2];
    mesh_coord(f.m, 7, coord);
    CHECK(mesh_ranks(f.m) == 12 && coord[0] == 2 && coord[1] == 1);
    CHECK(range_tiles(f.m, f.k, f.i, sym) == 7 && range_tiles(f.m, f.k, f.j, sym) == 1);
    CHECK(range_tiles(f.m, f.k, f.r, sym) == 100);
    f.k->range.p[f.i].of = s;
    sym[0] = 60; /* 61 over 4: 16, 16, 16, 13 */
    CHECK(range_tiles(f.m, f.k, f.i, sym) == 1);
    return failures;
}

static int test_affine(Arena *a) {
    int failures = 0;
    Fixture f = fixture(a);
    Affine x = affine_const(5), i = affine_term(TERM_POS, f.i, 2, 1), j = affine_term(TERM_POS, f.j, 1, 4);
    CHECK(affine_add(&x, &i, 3) && affine_add(&x, &j, -1) && affine_add(&x, &i, 1));
    CHECK(x.nterm == 2 && x.term[0].mul == 8 && x.term[1].mul == -1 && x.c == 5);
    CHECK(affine_type(f.k, &x).nrange == 2 && !affine_is_const(&x));
    Affine y = affine_const(5);
    CHECK(affine_add(&y, &j, -1) && !affine_equal(&x, &y) && affine_add(&y, &i, 4) && affine_equal(&x, &y));
    CHECK(affine_add(&y, &i, -4) && affine_add(&y, &j, 1) && affine_is_const(&y));
    CHECK(!affine_add(&y, &(Affine){.c = INT64_MAX}, 1) && y.c == 5);
    for (int n = 0; n < MAX_TERMS; n++) {
        Affine t = affine_term(TERM_POS, f.i, 1, n + 1);
        CHECK(affine_add(&y, &t, 1));
    }
    Affine before = y;
    CHECK(!affine_add(&y, &j, 1) && affine_equal(&before, &y));
    Affine size = affine_size(size_number(7));
    CHECK(affine_is_const(&size) && size.c == 7);
    return failures;
}

static int test_elems(void) {
    int failures = 0;
    Elem e;
    CHECK(elem_parse("bf16", &e) && e == ELEM_BF16 && !elem_parse("bf17", &e));
    CHECK(elem_arith(ELEM_F8E5M2) == ELEM_F32 && elem_arith(ELEM_I4) == ELEM_I32 && elem_arith(ELEM_I8) == ELEM_I8);
    CHECK(elem_accum(ELEM_F64) == ELEM_F64 && elem_accum(ELEM_I8) == ELEM_I32 && elem_accum(ELEM_I64) == ELEM_I64);
    CHECK(elem_is_int(ELEM_U8) && !elem_is_int(ELEM_BOOL) && elem_is_float(ELEM_F16));
    return failures;
}

/* What the text cannot say wrongly. */
static int test_plan(Arena *a) {
    int failures = 0;
    Fixture f = fixture(a);
    Plan *p = &f.k->plan;
    load(&f, f.i, f.j);
    CHECK(!plan_is_whole(p) && kernel_is_valid(f.m, f.k));
    *p = (Plan){.lowering = LOWER_SCHEDULE};
    CHECK(!kernel_is_valid(f.m, f.k));
    *p = (Plan){.lowering = LOWER_ROLES, .cluster = 2, .cluster_range = (int16_t)f.p};
    CHECK(plan_is_whole(p) && !kernel_is_valid(f.m, f.k));
    p->cluster_range = (int16_t)f.i;
    vec_push(a, &p->regs, 40);
    vec_push(a, &p->copy, ((PlanCopy){0, FILL_COUNT}));
    CHECK(!kernel_is_valid(f.m, f.k));
    p->copy.p[0].fill = FILL_ROWS;
    CHECK(kernel_is_valid(f.m, f.k));
    Plan copy = kernel_clone(f.m, f.k)->plan;
    CHECK(copy.cluster == 2 && copy.regs.n == 1 && copy.regs.p[0] == 40 && copy.regs.p != p->regs.p);
    CHECK(copy.copy.n == 1 && copy.copy.p[0].fill == FILL_ROWS && copy.copy.p != p->copy.p);
    return failures;
}

int main(void) {
    Arena *a = arena_new();
    int failures = test_types(a) + test_list(a) + test_attributes(a) + test_sizes(a) + test_affine(a) + test_elems() +
                   test_plan(a);
    arena_free(a);
    return failures != 0;
}
