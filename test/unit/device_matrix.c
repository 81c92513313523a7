/* device_matrix.c: every matrix instruction of the device vocabulary, with operands placed as the compiler's tables
   say, gives the product as the table says of D. usage: device_matrix text TARGET: prints kernels, one a row of the
   table device_matrix run TARGET CODE: runs them; CODE: a cubin or hsaco, or a library made with -DTILE_EMU (*.so) */
#include "base/text.h"
#include "device/tile_image.h"
#include "target/matrix.h"
#include "test/unit/matrix_values.h"
#include "tile_program.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 8192, MOST = 64 }; /* bytes of an operand of a row; rows */

static Arena *arena;

/* ---- rows that the vocabulary has, and their names in it ---- */

static bool is_left_out(const MatrixOp *op) {
    static const char *const types[] = {"f4e2m1", "xf32", "tf32"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(op->a, types[i]) || !strcmp(op->b, types[i])) return true;
    return op->kind == MATRIX_WGMMA || op->ad->blocks > 1 || !strcmp(op->d, "f16");
}

static int rows_of(const MatrixTarget *t, const MatrixOp *row[MOST]) {
    int n = 0;
    for (int i = 0; i < t->nops; i++)
        if (!is_left_out(&t->op[i])) row[n++] = &t->op[i];
    return n;
}

static const char *function_name(const MatrixOp *op) {
    if (op->kind == MATRIX_MFMA && !strncmp(op->name, "scale", 5))
        return arena_format(arena, "tile_mfma_%s_%s_%s", op->name, op->a, op->b);
    if (op->kind == MATRIX_MFMA) return arena_format(arena, "tile_mfma_%s", op->name);
    const char *shape = op->name + strlen("mma.sync.aligned."), *types = strstr(shape, ".row.col.");
    char *s = arena_format(arena, "tile_mma_%.*s_%s", (int)(types - shape), shape, types + strlen(".row.col."));
    for (char *c = s; *c; c++)
        if (*c == '.') *c = '_';
    return s;
}

static Layout operand(const MatrixOp *op, char which) {
    Layout l;
    if (!matrix_layout(arena, &l, op, which, op->ad->n)) abort();
    return l;
}

static int elements(const Layout *l, int lanes) { return (1 << layout_place_bits(l)) / lanes; }

/* ---- text ---- */

static const char *load_name(const char *type) { return strcmp(type, "f8e5m2fnuz") ? type : "u8"; }

static void write_array(const char *array, const char *type, int n, int at) {
    printf("    TILE_TYPE_%s %s[%d];\n    for (int e = 0; e < %d; e++)\n", type, array, n, n);
    printf("        %s[e] = tile_load_%s((const TILE_TYPE_%s *)(call.%s + %d) + tile_lane() * %d + e);\n", array,
           load_name(type), type, array, at, n);
}

static void write_kernel(const MatrixOp *op, int row, int lanes) {
    Layout a = operand(op, 'a'), b = operand(op, 'b'), d = operand(op, 'd');
    int n = elements(&d, lanes);
    printf("\nTILE_KERNEL(row_%d, matrix_call, %d) {\n", row, lanes);
    write_array("a", op->a, elements(&a, lanes), row * BUFFER);
    write_array("b", op->b, elements(&b, lanes), row * BUFFER);
    write_array("d", op->d, n, row * BUFFER);
    printf("    %s(d, a, b);\n    for (int e = 0; e < %d; e++)\n", function_name(op), n);
    printf("        tile_store_%s((TILE_TYPE_%s *)(call.d + %d) + tile_lane() * %d + e, d[e]);\n}\n", op->d, op->d,
           row * BUFFER, n);
}

static int write_text(const MatrixTarget *t) {
    const MatrixOp *row[MOST];
    int n = rows_of(t, row);
    printf("#include \"device/tile_%s.h\"\n#include \"device/tile_image.h\"\n\n", t->name);
    printf("typedef struct {\n    const char *a, *b;\n    char *d;\n    char *local;\n} matrix_call;\n");
    for (int i = 0; i < n; i++) write_kernel(row[i], i, t->wave);
    printf("\n#ifdef TILE_EMU\nextern \"C\" __attribute__((visibility(\"default\"))) const tile_emu_symbol code[];\n");
    printf("const tile_emu_symbol code[] = {\n");
    for (int i = 0; i < n; i++) printf("    {\"row_%d\", row_%d},\n", i, i);
    printf("    {0, 0}};\n#endif\n");
    return 0;
}

/* ---- values ---- */

static double decode(const char *p, const char *type) {
    double d = 0;
    float f;
    int32_t i;
    if (!strcmp(type, "f64")) return memcpy(&d, p, sizeof d), d;
    if (!strcmp(type, "f32")) return memcpy(&f, p, sizeof f), f;
    return memcpy(&i, p, sizeof i), i;
}

static void fill(char *image, const MatrixOp *op, char which) {
    Layout l = operand(op, which);
    const char *type = which == 'a' ? op->a : op->b;
    size_t width = (size_t)matrix_width(type) / 8;
    for (uint64_t p = 0; p >> layout_place_bits(&l) == 0; p++) {
        uint64_t x = layout_apply(&l, p);
        uint64_t bits =
            encode(element(part(&l, which == 'a' ? "i" : "j", x), part(&l, "k", x), which, strcmp(type, "u8")), type);
        memcpy(image + p * width, &bits, width);
    }
}

static bool row_agrees(const MatrixOp *op, const char *image) {
    Layout l = operand(op, 'd');
    size_t width = (size_t)matrix_width(op->d) / 8;
    int wrong = 0;
    for (uint64_t p = 0; p >> layout_place_bits(&l) == 0; p++) {
        uint64_t x = layout_apply(&l, p);
        int i = part(&l, "i", x), j = part(&l, "j", x), sum = 0;
        for (int k = 0; k < op->ad->k; k++)
            sum += element(i, k, 'a', strcmp(op->a, "u8")) * element(j, k, 'b', strcmp(op->b, "u8"));
        wrong += decode(image + p * width, op->d) != sum;
    }
    if (wrong) printf("%s: %d of %d wrong\n", function_name(op), wrong, 1 << layout_place_bits(&l));
    return wrong == 0;
}

/* ---- run ---- */

typedef struct {
    char *a, *b, *d, *local;
} Call;

static int64_t one_group(const tile_task *t) { return t != NULL; }

static void check(int code) {
    if (code == TILE_OK) return;
    printf("%s: %s\n", tile_error_name(code), tile_last_error());
    exit(1);
}

static const void *code_read(const char *path) {
    Text t = {0};
    size_t n = strlen(path);
    if (n > 3 && !strcmp(path + n - 3, ".so")) {
        void *library = dlopen(path, RTLD_NOW);
        if (!library) printf("%s\n", dlerror());
        return library ? dlsym(library, "code") : NULL;
    }
    return text_read(&t, path, 1 << 26) ? NULL : t.p;
}

static void run_program(const tile_program *p, bool emulated, char *image[3], size_t bytes) {
    tile_mesh_config config = {
        .size = sizeof config, .nranks = 1, .target = emulated ? "emu" : "gpu", .group = "matrix"};
    tile_mesh *mesh;
    tile_instance *instance;
    void *device[3];
    check(tile_mesh_open(&config, &mesh));
    for (int i = 0; i < 3; i++) check(tile_alloc(mesh, bytes, &device[i]));
    for (int i = 0; i < 3; i++) check(tile_copy_in(mesh, device[i], image[i], bytes, NULL));
    check(tile_instance_open(mesh, p, &instance));
    check(tile_instance_run(instance, device, NULL, NULL));
    check(tile_copy_out(mesh, image[2], device[2], bytes, NULL));
    check(tile_stream_sync(mesh, NULL));
    tile_instance_close(instance);
    for (int i = 0; i < 3; i++) tile_free(mesh, device[i]);
    tile_mesh_close(mesh);
}

static int run_code(const MatrixTarget *t, const char *path) {
    static const size_t at[] = {offsetof(Call, a), offsetof(Call, b), offsetof(Call, d)};
    const MatrixOp *row[MOST];
    int n = rows_of(t, row), wrong = 0;
    bool emulated = strstr(path, ".so") != NULL;
    size_t bytes = (size_t)n * BUFFER;
    char *image[3] = {calloc(1, bytes), calloc(1, bytes), calloc(1, bytes)};
    tile_arg arg[3];
    tile_launch launch[MOST];
    for (int i = 0; i < 3; i++)
        arg[i] = (tile_arg){.name = "abd" + i,
                            .elem = "u8",
                            .role = i < 2 ? TILE_ROLE_INPUT : TILE_ROLE_STATE,
                            .ndim = 1,
                            .dim = {n * BUFFER},
                            .sym = {-1},
                            .split = {-1}};
    for (int i = 0; i < n; i++) {
        launch[i] = (tile_launch){.kernel = arena_format(arena, "row_%d", i), .threads = t->wave, .groups = one_group};
        fill(image[0] + i * BUFFER, row[i], 'a');
        fill(image[1] + i * BUFFER, row[i], 'b');
    }
    tile_image code = {.target = arena_format(arena, "%s%s", emulated ? "emu:" : "", t->name),
                       .code = code_read(path),
                       .nlaunches = n,
                       .launch = launch};
    tile_program p = {.abi = TILE_ABI,
                      .name = "matrix",
                      .nargs = 3,
                      .arg = arg,
                      .nimages = 1,
                      .image = &code,
                      .call_bytes = sizeof(Call),
                      .local_at = offsetof(Call, local),
                      .arg_at = at,
                      .dim_at = at};
    if (!code.code) return printf("no code in %s\n", path), 1;
    run_program(&p, emulated, image, bytes);
    for (int i = 0; i < n; i++) wrong += !row_agrees(row[i], image[2] + i * BUFFER);
    printf("%s: %d instructions, %d wrong\n", t->name, n, wrong);
    return wrong != 0;
}

int main(int argc, char **argv) {
    const MatrixTarget *t = argc > 2 ? matrix_target(argv[2]) : NULL;
    if (!t) return 2;
    arena = arena_new();
    int code = argc > 3 ? run_code(t, argv[3]) : write_text(t);
    arena_free(arena);
    return code;
}
