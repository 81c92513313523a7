/* ir_roles.c: rings and roles are built, walked, cloned and freed of what nobody needs. */
#include "ir/roles.h"
#include "ir/uses.h"
#include "test/unit/check.h"

#include <string.h>

enum { ROWS = 128, COLUMNS = 256, STEP = 64 };

typedef struct {
    Module *m;
    Kernel *k;
    int16_t i, j, p;
    Builder b;
} Fixture;

static Name name(Fixture *f, const char *text) { return name_of(f->m->names, text); }

static Fixture fixture(Arena *a) {
    Fixture f = {.m = module_new(a, names_new(a), diags_new(a))};
    Size n = size_number(4096);
    f.k = kernel_new(f.m, name(&f, "product"), (Loc){0});
    f.i = (int16_t)kernel_range(f.m, f.k,
                                (Range){.name = name(&f, "i"), .size = ROWS, .of = n, .owner = -1, .grid = true});
    f.j = (int16_t)kernel_range(f.m, f.k,
                                (Range){.name = name(&f, "j"), .size = COLUMNS, .of = n, .owner = -1, .grid = true});
    f.p = (int16_t)kernel_range(f.m, f.k, (Range){.name = name(&f, "p"), .size = STEP, .owner = -1});
    const char *const param[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        kernel_param(
            f.m, f.k,
            (Param){
                .name = name(&f, param[i]), .elem = ELEM_BF16, .ndim = 2, .dim = {n, n}, .out = i == 2, .ranks = -1});
    roles_new(f.m, f.k);
    f.b = (Builder){f.m, f.k, f.k->roles->scalars, {0}};
    return f;
}

static Type tile(Elem e, int r0, int r1) { return type_with(type_with(type_scalar(e), r0), r1); }

static void place(Span sub[2], int r0, int r1) {
    sub[0] = span_of(affine_term(TERM_POS, r0, 1, 1));
    sub[1] = span_of(affine_term(TERM_POS, r1, 1, 1));
}

static void rings(Fixture *f) {
    int ab = roles_ring(f->m, f->k, name(f, "ab"), 4, (Loc){0});
    ring_tile(
        f->m, f->k, ab,
        (SlotTile){
            .name = name(f, "x"), .type = tile(ELEM_BF16, f->i, f->p), .panel = PANEL_K128, .param = 0, .share = -1});
    ring_tile(f->m, f->k, ab,
              (SlotTile){.name = name(f, "y"),
                         .type = tile(ELEM_BF16, f->p, f->j),
                         .panel = PANEL_MN128,
                         .param = 1,
                         .share = f->i});
}

static Op *loop(Fixture *f, Value *const *carried, int n) {
    Op *op =
        build_for(&f->b, f->p, f->k->roles->scalars->first->res.p[0], f->k->roles->scalars->last->res.p[0], carried, n);
    f->b.at = op->region[0];
    return op;
}

static void copies(Fixture *f) {
    Span sub[2];
    int role = roles_warp(f->m, f->k, name(f, "copy"), 0, 1, (Loc){0});
    f->b.at = f->k->roles->role.p[role].body;
    build_const_i(&f->b, ELEM_I64, 7); /* nobody needs it */
    loop(f, NULL, 0);
    f->b.at = build_put(&f->b, 0)->region[0];
    place(sub, f->i, f->p);
    build_copy(&f->b, 0, sub, 2, 0);
    place(sub, f->p, f->j);
    build_copy(&f->b, 1, sub, 2, 1);
}

static void products(Fixture *f) {
    int role = roles_groups(f->m, f->k, name(f, "multiply"), 1, 2, f->i, (Loc){0});
    Region *body = f->b.at = f->k->roles->role.p[role].body;
    Value *zero = build_broadcast(&f->b, tile(ELEM_F32, f->i, f->j), build_const_f(&f->b, ELEM_F32, 0));
    Op *steps = loop(f, &zero, 1), *got = build_get(&f->b, 0);
    Value *sum = build_mma(&f->b, got->res.p[0], got->res.p[1], steps->region[0]->arg.p[0], &f->p, 1,
                           name(f, "wgmma.m64n256k16"));
    build_free(&f->b, 0);
    build_yield(&f->b, &sum, 1);
    f->b.at = body;
    Span sub[2];
    place(sub, f->i, f->j);
    build_store(&f->b, 2, sub, 2, build_ready(&f->b, &steps->res.p[0], 1)->res.p[0], STORE_SET);
}

static Fixture product(Arena *a) {
    Fixture f = fixture(a);
    build_const_i(&f.b, ELEM_I64, 0);
    build_const_i(&f.b, ELEM_I64, 4096);
    rings(&f);
    copies(&f);
    products(&f);
    return f;
}

static int count(const Kernel *k, OpKind kind) {
    int n = 0;
    for (int i = 0; i < kernel_regions(k); i++)
        for (const Op *op = walk(kernel_region(k, i)); op; op = walk_next(op, kernel_region(k, i)))
            n += op->kind == kind;
    return n;
}

static int test_dead(Arena *a) {
    int failures = 0;
    Fixture f = product(a);
    CHECK(count(f.k, OP_CONST) == 4);
    kernel_remove_dead(f.k);
    CHECK(count(f.k, OP_CONST) == 3 && count(f.k, OP_COPY) == 2 && count(f.k, OP_MMA) == 1 && count(f.k, OP_FREE) == 1);
    CHECK(count(f.k, OP_FOR) == 2 && count(f.k, OP_GET) == 1 && count(f.k, OP_PUT) == 1);
    return failures;
}

static int test_clone(Arena *a) {
    int failures = 0;
    Fixture f = product(a);
    const Op *steps = kernel_region(f.k, 3)->first->next->next;
    CHECK(steps->kind == OP_FOR && steps->res.p[0]->type.elem == ELEM_F32);
    Turn turn = {.piece = 1, .shift = 1};
    vec_push(a, &((Op *)steps)->turn, turn);
    Kernel *k = kernel_clone(f.m, f.k);
    const Op *again = kernel_region(k, 3)->first->next->next;
    CHECK(kernel_regions(k) == 4 && k->roles != f.k->roles && k->roles->ring.p[0].tile.p[1].share == f.i);
    CHECK(again != steps && op_same_attributes(again, steps) && again->turn.p != steps->turn.p);
    CHECK(again->arg.p[1] == kernel_region(k, 1)->last->res.p[0]);
    return failures;
}

static int test_types(Arena *a) {
    int failures = 0;
    Fixture f = product(a);
    Region *body = kernel_region(f.k, 3);
    const Uses uses = uses_of(f.k, a);
    Value *sum = body->last->arg.p[0];
    CHECK(uses_only(&uses, sum) == body->last && type_equal(sum->type, tile(ELEM_F32, f.i, f.j)));
    int q = kernel_range(f.m, f.k,
                         (Range){.name = name(&f, "q"), .size = STEP, .owner = -1, .part_of = (int16_t)(1 + f.j)});
    f.b.at = body;
    Value *part = build_part(&f.b, sum, q);
    CHECK(type_equal(part->type, tile(ELEM_F32, f.i, q)));
    int out = roles_ring(f.m, f.k, name(&f, "out"), 2, (Loc){0}),
        store = roles_within(f.m, f.k, name(&f, "store"), 1, (Loc){0});
    f.b.at = build_put(&f.b, out)->region[0];
    CHECK(build_write(&f.b, part, 0)->in->parent->ring == out);
    const PanelInfo *y = &panel_info[f.k->roles->ring.p[0].tile.p[1].panel];
    CHECK(y->bytes == 128 && y->across && strcmp(y->text, "mn128") == 0 && strcmp(fill_text[FILL_ROWS], "rows") == 0);
    CHECK(f.k->roles->role.p[store].in == 1 && f.k->roles->role.p[store].split == f.i && kernel_regions(f.k) == 5);
    return failures;
}

int main(void) {
    Arena *a = arena_new();
    int failures = test_dead(a) + test_clone(a) + test_types(a);
    arena_free(a);
    return failures != 0;
}
