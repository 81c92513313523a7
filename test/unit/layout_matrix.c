/* layout_matrix.c: the tables of matrix instructions against the published formulas; with arguments "hip TARGET" or
   "ptx", a source with one kernel for each row, for the vendors' compilers to judge. Exits 0 when all hold. */
#include "target/matrix.h"
#include "test/unit/check.h"
#include <string.h>

static int failures;

static Layout operand_layout(Arena *arena, const MatrixOp *op, char operand, int n) {
    Layout l = {0};
    CHECK(matrix_layout(arena, &l, op, operand, n));
    return l;
}

static int64_t extent(const Layout *l, const char *range) {
    int d = layout_index(l, range, NULL);
    return d < 0 ? 1 : l->index[d].repeat << l->index[d].bits;
}

static void check_operand(const Layout *l, const MatrixTarget *t, int64_t rows, const char *row, int64_t columns,
                          const char *column, int blocks) {
    int lane = layout_place(l, "lane", NULL);
    CHECK(layout_bijective(l));
    CHECK(lane >= 0 && 1 << l->place[lane].bits == t->wave);
    CHECK(extent(l, row) == rows && extent(l, column) == columns && extent(l, "b") == blocks);
}

static int64_t at(const Layout *l, const char *range, uint64_t place) {
    int first, d = layout_index(l, range, &first);
    return d < 0 ? 0 : (int64_t)(layout_apply(l, place) >> first & ((UINT64_C(1) << l->index[d].bits) - 1));
}

static uint64_t place(const Layout *l, unsigned reg, unsigned lane, unsigned wave) {
    int first = 0;
    uint64_t p = reg;
    if (layout_place(l, "lane", &first) >= 0) p |= (uint64_t)lane << first;
    if (layout_place(l, "wave", &first) >= 0) p |= (uint64_t)wave << first;
    return p;
}

static int registers(const Layout *l) {
    int d = layout_place(l, "reg", NULL);
    return d < 0 ? 1 : 1 << l->place[d].bits;
}

/* D of one block: row 8 * (r / 4) + 4 * (lane / 32) + r % 4 for 32x32, 4 * (lane / 16) + r for 16x16, lane / 16 + 4 * r
 * in f64. */
static void check_mfma_d(const MatrixOp *op, const Layout *d) {
    int m = op->ad->m;
    for (unsigned r = 0; r < (unsigned)registers(d); r++)
        for (unsigned lane = 0; lane < 64; lane++) {
            int64_t row = m == 32 ? 8 * (r / 4) + 4 * (lane / 32) + r % 4 : 4 * (lane / 16) + r;
            if (!strcmp(op->d, "f64")) row = 4 * r + lane / 16;
            CHECK(at(d, "i", place(d, r, lane, 0)) == row);
            CHECK(at(d, "j", place(d, r, lane, 0)) == lane % (unsigned)m);
        }
}

/* A and B of one block: row (column) lane % m, k = per_lane * (lane / m) + e; f8f6f4 in bytes: 16 at a time. */
static void check_mfma_ab(const MatrixOp *op, const Layout *l, const char *range) {
    unsigned m = (unsigned)op->ad->m, k = (unsigned)op->ad->k, each = k * m / 64;
    bool halves = !strncmp(op->name, "scale", 5) && l->width == 8;
    for (unsigned e = 0; e < (unsigned)registers(l); e++)
        for (unsigned lane = 0; lane < 64; lane++) {
            int64_t want = halves ? 16 * (lane / m) + k / 2 * (e / 16) + e % 16 : each * (lane / m) + e;
            CHECK(at(l, "k", place(l, e, lane, 0)) == want);
            CHECK(at(l, range, place(l, e, lane, 0)) == lane % m);
        }
}

/* Several blocks: the general formulas of the ISA documents, written from the element: lane and register of D[b][i][j].
 */
static void check_mfma_blocks(const MatrixOp *op, const Layout *a, const Layout *d) {
    unsigned m = (unsigned)op->ad->m;
    for (unsigned lane = 0; lane < 64; lane++) {
        bool f64 = !strcmp(op->d, "f64");
        CHECK(at(a, "b", place(a, 0, lane, 0)) == (f64 ? lane / 4 % 4 : lane / m));
        CHECK(at(a, "i", place(a, 0, lane, 0)) == lane % m);
        CHECK(at(d, "j", place(d, 0, lane, 0)) == lane % m);
        for (unsigned r = 0; r < (unsigned)registers(d); r++) {
            unsigned block = m == 4 ? lane / 4 % 16 : r / (m * m / 64);
            CHECK(at(d, "b", place(d, r, lane, 0)) == (f64 ? block % 4 : block));
            unsigned row = m == 32 ? 8 * (r / 4 % 4) + 4 * (lane / 32) + r % 4 : m == 16 ? 4 * (lane / 16) + r % 4 : r;
            CHECK(at(d, "i", place(d, r, lane, 0)) == (f64 ? lane / 16 : row));
        }
    }
}

static void check_mfma(Arena *arena, const MatrixTarget *t, const MatrixOp *op) {
    const MatrixShape *s = op->ad;
    Layout a = operand_layout(arena, op, 'a', s->n), b = operand_layout(arena, op, 'b', s->n),
           d = operand_layout(arena, op, 'd', s->n);
    check_operand(&a, t, s->m, "i", s->k, "k", s->blocks);
    check_operand(&b, t, s->k, "k", s->n, "j", s->blocks);
    check_operand(&d, t, s->m, "i", s->n, "j", s->blocks);
    if (s->blocks > 1) {
        check_mfma_blocks(op, &a, &d);
        return;
    }
    check_mfma_d(op, &d);
    check_mfma_ab(op, &a, "i");
    check_mfma_ab(op, &b, "j");
}

/* PTX: row lane / 4 (+ 8), column 2 * (lane % 4) + r % 2; wgmma: 16 rows a warp, 8 columns every 4 registers. */
static void check_ptx_d(const Layout *d, int m, int waves) {
    for (unsigned wave = 0; wave < (unsigned)waves; wave++)
        for (unsigned r = 0; r < (unsigned)registers(d); r++)
            for (unsigned lane = 0; lane < 32; lane++) {
                uint64_t p = place(d, r, lane, wave);
                CHECK(at(d, "i", p) == 16 * wave + lane / 4 + (m > 8 ? 8 * (r / 2 % 2) : 0));
                CHECK(at(d, "j", p) == (m > 8 ? 8 * (r / 4) : 0) + 2 * (lane % 4) + r % 2);
            }
}

static void check_ptx(Arena *arena, const MatrixTarget *t, const MatrixOp *op) {
    bool wgmma = op->kind == MATRIX_WGMMA;
    Layout a = operand_layout(arena, op, 'a', op->ad->n), b;
    check_operand(&a, t, op->ad->m, "i", op->ad->k, "k", 1);
    CHECK(matrix_layout(arena, &b, op, 'b', op->ad->n) != wgmma);
    if (!wgmma) check_operand(&b, t, op->ad->k, "k", op->ad->n, "j", 1);
    for (int n = 8; n <= (wgmma ? 256 : 8); n += 8) {
        Layout d;
        if (!matrix_n(op, n)) continue;
        CHECK(matrix_layout(arena, &d, op, 'd', n));
        check_operand(&d, t, op->ad->m, "i", n, "j", 1);
        check_ptx_d(&d, op->ad->m, wgmma ? 4 : 1);
    }
}

/* A panel is a bijection from offsets whose swizzle only exchanges 16-byte chunks inside a row of the swizzle's size.
 */
static void check_panel(Arena *arena, const MatrixPanel *p) {
    Layout l;
    int where;
    CHECK(!layout_parse(arena, &l, p->layout, &where));
    CHECK(layout_bijective(&l) && l.width == p->width);
    Layout plain;
    CHECK(layout_memory(&plain, l.index, l.nindex, l.width, 0));
    CHECK(extent(&l, l.index[1].name) * p->width / 8 == (p->swizzle ? p->swizzle : 16));
    for (unsigned off = 0; off < 1u << layout_index_bits(&l); off++) {
        unsigned byte = off * (unsigned)p->width / 8, mask = p->swizzle ? (unsigned)p->swizzle / 16 - 1 : 0;
        unsigned moved = (byte ^ (byte >> 7 & mask) << 4) * 8 / (unsigned)p->width;
        CHECK(layout_apply(&l, off) == layout_apply(&plain, moved));
    }
}

/* The shape that the name tells is the shape of the row. */
static void check_name(const MatrixOp *op) {
    int m, n, k;
    const char *text = op->name + (op->kind == MATRIX_MFMA ? strcspn(op->name, "_") + 1 : strlen("mma.sync.aligned."));
    if (op->kind == MATRIX_WGMMA) return;
    if (!strncmp(op->name, "scale_", 6)) text += strcspn(text, "_") + 1;
    CHECK(sscanf(text, op->kind == MATRIX_MFMA ? "%dx%dx%d" : "m%dn%dk%d", &m, &n, &k) == 3);
    CHECK(m == op->ad->m && n == op->ad->n && k == op->ad->k && op->bd->k == k && op->bd->n == n);
}

static void check_target(Arena *arena, const MatrixTarget *t) {
    for (int i = 0; i < t->nops; i++) {
        const MatrixOp *op = &t->op[i];
        int before = failures;
        check_name(op);
        CHECK(matrix_op(t, op->name, op->a, op->b) == op && matrix_cycles(op, op->ad->n) > 0);
        if (op->kind == MATRIX_MFMA)
            check_mfma(arena, t, op);
        else
            check_ptx(arena, t, op);
        if (failures != before) fprintf(stderr, "in %s %s\n", t->name, op->name);
    }
    for (int i = 0; i < t->npanels; i++) check_panel(arena, &t->panel[i]);
}

static void print_vector(const char *element, int n, const char *name, int row) {
    if (n == 1)
        printf("typedef %s %s%d;\n", element, name, row);
    else
        printf("typedef %s %s%d __attribute__((ext_vector_type(%d)));\n", element, name, row, n);
}

/* What the builtin takes for an operand of so many elements a lane. */
static void print_type(const MatrixOp *op, const char *type, int n, const char *name, int row) {
    int bits = n * matrix_width(type);
    if (!strcmp(type, "f64"))
        print_vector("double", n, name, row);
    else if (!strcmp(type, "f32") || !strcmp(type, "xf32"))
        print_vector("float", n, name, row);
    else if (!strcmp(type, "f16"))
        print_vector("_Float16", n, name, row);
    else if (!strcmp(type, "bf16"))
        print_vector(n == 8 ? "__bf16" : "short", n, name, row);
    else if (!strncmp(op->name, "scale_", 6) && type != op->d)
        print_vector("int", 8, name, row);
    else
        print_vector(bits == 64 ? "long" : "int", bits == 64 ? 1 : bits / 32, name, row);
}

static int format_of(const char *type) { return !strcmp(type, "f8e4m3") ? 0 : !strcmp(type, "f8e5m2") ? 1 : 4; }

static void print_hip(Arena *arena, const MatrixTarget *t) {
    for (int i = 0; i < t->nops; i++) {
        const MatrixOp *op = &t->op[i];
        const char *shape = strchr(op->name, 'x');
        int n = op->ad->n;
        while (shape > op->name && shape[-1] != '_') shape--;
        Layout a = operand_layout(arena, op, 'a', n), b = operand_layout(arena, op, 'b', n),
               d = operand_layout(arena, op, 'd', n);
        print_type(op, op->a, registers(&a), "A", i);
        print_type(op, op->b, registers(&b), "B", i);
        print_vector(!strcmp(op->d, "f64") ? "double" : !strcmp(op->d, "i32") ? "int" : "float", registers(&d), "D", i);
        printf("// CHECK-LABEL: {{^}}row%d:\n// CHECK: v_mfma_%s_%.*s{{[_a-z]}}\n// CHECK: s_endpgm\n", i, op->d,
               (int)strspn(shape, "0123456789x"), shape);
        printf("extern \"C\" __attribute__((global)) void row%d(A%d a, B%d b, D%d *d) {\n", i, i, i, i);
        printf("    *d = __builtin_amdgcn_mfma_%s(a, b, *d", op->name);
        if (!strncmp(op->name, "scale_", 6))
            printf(", %d, %d, 0, 0, 0, 0);\n}\n", format_of(op->a), format_of(op->b));
        else
            printf(", 0, 0, 0);\n}\n");
    }
}

/* A list of n registers "%name0, %name1, ..". */
static void print_registers(const char *name, int n) {
    printf("{");
    for (int i = 0; i < n; i++) printf("%s%%%s%d", i ? ", " : "", name, i);
    printf("}");
}

static int words(const Layout *l, const char *type) {
    int n = registers(l) * (int)layout_repeats(l);
    return matrix_width(type) == 64 ? n : n * matrix_width(type) / 32;
}

static const char *register_type(const char *type) {
    return !strcmp(type, "f64") ? "f64" : !strcmp(type, "f32") ? "f32" : "b32";
}

static void print_wgmma_row(Arena *arena, const MatrixOp *op, int n, bool a_in_registers, int row) {
    const char *size = strchr(op->name, 'N');
    Layout a = operand_layout(arena, op, 'a', n), d = operand_layout(arena, op, 'd', n);
    printf(".visible .entry row%d_%d_%d() {\n .reg .b32 %%a<%d>; .reg .b64 %%desc; .reg .pred %%p; .reg .%s %%d<%d>;\n",
           row, n, a_in_registers, words(&a, op->a), register_type(op->d), words(&d, op->d));
    printf(" wgmma.fence.sync.aligned;\n %.*s%d%s ", (int)(size - op->name), op->name, n, size + 1);
    print_registers("d", words(&d, op->d));
    printf(", ");
    if (a_in_registers)
        print_registers("a", words(&a, op->a));
    else
        printf("%%desc");
    bool half = matrix_width(op->a) == 16, integer = !strcmp(op->d, "i32");
    printf(", %%desc, %%p%s%s;\n", integer ? "" : ", 1, 1", !half ? "" : a_in_registers ? ", 0" : ", 0, 0");
    printf(" wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n ret;\n}\n");
}

static void print_mma_row(Arena *arena, const MatrixOp *op, int row) {
    Layout a = operand_layout(arena, op, 'a', 8), b = operand_layout(arena, op, 'b', 8),
           d = operand_layout(arena, op, 'd', 8);
    const char *in = register_type(!strcmp(op->a, "f64") ? "f64" : "b32");
    printf(".visible .entry row%d() {\n .reg .%s %%a<%d>; .reg .%s %%b<%d>; .reg .%s %%d<%d>;\n %s ", row, in,
           words(&a, op->a), in, words(&b, op->b), register_type(op->d), words(&d, op->d), op->name);
    print_registers("d", words(&d, op->d));
    printf(", ");
    print_registers("a", words(&a, op->a));
    printf(", ");
    print_registers("b", words(&b, op->b));
    printf(", ");
    print_registers("d", words(&d, op->d));
    printf(";\n ret;\n}\n");
}

static void print_ptx(Arena *arena, const MatrixTarget *t) {
    printf(".version 8.4\n.target sm_90a\n.address_size 64\n");
    for (int i = 0; i < t->nops; i++) {
        const MatrixOp *op = &t->op[i];
        if (op->kind == MATRIX_MMA) print_mma_row(arena, op, i);
        for (int n = 8; op->kind == MATRIX_WGMMA && n <= 256; n += 8)
            if (matrix_n(op, n)) {
                print_wgmma_row(arena, op, n, false, i);
                print_wgmma_row(arena, op, n, true, i);
            }
    }
}

int main(int argc, char **argv) {
    Arena *arena = arena_new();
    if (argc > 2 && !strcmp(argv[1], "hip"))
        print_hip(arena, matrix_target(argv[2]));
    else if (argc > 1)
        print_ptx(arena, matrix_target("sm_90a"));
    else
        for (int i = 0; i < matrix_target_count; i++) check_target(arena, &matrix_targets[i]);
    arena_free(arena);
    return failures != 0;
}
