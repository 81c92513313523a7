/* layout_gpu.c: every mma.sync and wgmma row of sm_90a on a GPU: operands placed as the layouts say give the product as
   D's layout says. The driver is loaded by name, the kernels are PTX made here. Exits 0 when all agree, 2 without a
   GPU. */
#include "target/matrix.h"
#include "test/unit/matrix_values.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int (*init)(unsigned), (*device)(int *, int), (*retain)(void **, int), (*current)(void *), (*sync)(void);
    int (*alloc)(uint64_t *, size_t), (*put)(uint64_t, const void *, size_t), (*get)(void *, uint64_t, size_t);
    int (*load)(void **, const void *), (*unload)(void *), (*function)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                  void **);
    uint64_t buffer[3]; /* A, B, D: 64 KiB each */
} Gpu;

enum { BUFFER = 65536 };

/* One product: which instruction, n, and where A and B lie (NULL: in registers). */
typedef struct {
    Arena *arena;
    const MatrixOp *op;
    int n;
    const MatrixPanel *panel_a, *panel_b;
} Case;

static bool gpu_open(Gpu *g) {
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    void **slot[] = {(void **)&g->init, (void **)&g->device, (void **)&g->retain,   (void **)&g->current,
                     (void **)&g->sync, (void **)&g->alloc,  (void **)&g->put,      (void **)&g->get,
                     (void **)&g->load, (void **)&g->unload, (void **)&g->function, (void **)&g->launch};
    static const char *const names[] = {"cuInit",          "cuDeviceGet",         "cuDevicePrimaryCtxRetain",
                                        "cuCtxSetCurrent", "cuCtxSynchronize",    "cuMemAlloc_v2",
                                        "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2",     "cuModuleLoadData",
                                        "cuModuleUnload",  "cuModuleGetFunction", "cuLaunchKernel"};
    for (int i = 0; i < 12; i++)
        if (!lib || !(*slot[i] = dlsym(lib, names[i]))) return false;
    int device;
    void *context;
    if (g->init(0) || g->device(&device, 0) || g->retain(&context, device) || g->current(context)) return false;
    for (int i = 0; i < 3; i++)
        if (g->alloc(&g->buffer[i], BUFFER)) return false;
    return true;
}

static double decode(const unsigned char *p, const char *type) {
    double d = 0;
    if (!strcmp(type, "f64")) memcpy(&d, p, 8);
    if (!strcmp(type, "f32")) d = *(const float *)(const void *)p;
    if (!strcmp(type, "i32")) d = *(const int32_t *)(const void *)p;
    if (!strcmp(type, "f16")) {
        unsigned h = p[0] | (unsigned)p[1] << 8, e = h >> 10 & 31;
        d = e ? (double)((h & 1023) | 1024) * (double)(1u << e) / 33554432.0 : 0;
        if (h >> 15) d = -d;
    }
    return d;
}

/* The image of an operand: elements in the order of the places, lanes first in waves, each with its registers; or of
 * offsets. */
static void fill(unsigned char *image, const Layout *l, const char *type, char operand) {
    int width = matrix_width(type) / 8;
    for (uint64_t p = 0; p >> layout_place_bits(l) == 0; p++) {
        uint64_t x = layout_apply(l, p), bits;
        int row = part(l, operand == 'a' ? "i" : "j", x), k = part(l, "k", x);
        bits = encode(element(row, k, operand, strcmp(type, "u8") != 0), type);
        memcpy(image + p * (uint64_t)width, &bits, (size_t)width);
    }
}

static bool minor_k(const MatrixPanel *p) { return p->name[0] == 'k'; }

static void memory_bits(Layout *memory, const char *range, int count) {
    Layout more = {0}, low = *memory;
    layout_add_index(&more, range, INT64_C(1) << count);
    int at = layout_add_place(&more, "off", count);
    for (int b = 0; b < count; b++) more.column[at + b] = UINT64_C(1) << b;
    if (!layout_product(memory, &low, &more)) abort();
}

static int log2_up(int n) {
    int b = 0;
    while (1 << b < n) b++;
    return b;
}

/* Panels side by side: as many on k as the instruction reads, then along the rows. Gives the descriptor without its
 * address. */
static uint64_t panel_memory(Arena *arena, Layout *memory, const MatrixPanel *p, int rows, int k) {
    int at;
    if (layout_parse(arena, memory, p->layout, &at)) abort();
    int bytes = p->width / 8 << layout_place_bits(memory), j = layout_index(memory, "j", NULL),
        i = layout_index(memory, "k", NULL);
    int has_k = 1 << memory->index[i].bits, has_rows = 1 << memory->index[j].bits;
    int on_k = log2_up(k > has_k ? k / has_k : 1),
        on_rows = log2_up(rows > has_rows ? (rows + has_rows - 1) / has_rows : 1);
    memory_bits(memory, "k", on_k);
    memory_bits(memory, "j", on_rows);
    uint64_t step_k = (uint64_t)bytes, step_rows = (uint64_t)bytes << on_k;
    uint64_t lbo = minor_k(p) || !p->swizzle ? step_k : step_rows, sbo = minor_k(p) || !p->swizzle ? step_rows : step_k;
    uint64_t mode = p->swizzle == 128 ? 1 : p->swizzle == 64 ? 2 : p->swizzle == 32 ? 3 : 0;
    return lbo >> 4 << 16 | sbo >> 4 << 32 | mode << 62;
}

static int words(const Layout *l, const char *type) {
    int d = layout_place(l, "reg", NULL), n = (int)layout_repeats(l) << (d < 0 ? 0 : l->place[d].bits);
    return n * matrix_width(type) / (strcmp(type, "f64") ? 32 : 64);
}

static void registers_list(Text *t, const char *name, int n) {
    for (int i = 0; i < n; i++) text_printf(t, "%s%%%s%d", i ? ", " : "{", name, i);
    text_add(t, "}");
}

static const char *register_type(const char *type) {
    return !strcmp(type, "f64") ? "f64" : !strcmp(type, "f32") ? "f32" : "b32";
}

static void registers_load(Text *t, const char *name, const char *type, int n) {
    const char *is = strcmp(type, "f64") ? "b32" : "f64";
    int size = strcmp(type, "f64") ? 4 : 8;
    text_printf(t, ".reg .%s %%%s<%d>;\n mad.wide.u32 %%q, %%t, %d, %%p%s;\n", is, name, n, n * size, name);
    for (int i = 0; i < n; i++) text_printf(t, " ld.global.%s %%%s%d, [%%q+%d];\n", is, name, i, i * size);
}

/* Copies 48 KiB at most to shared memory, 128 threads, 4 bytes each at a time. */
static void memory_load(Text *t, const char *name, int offset, int bytes) {
    text_printf(t, " mad.wide.u32 %%q, %%t, 4, %%p%s;\n mov.u32 %%s, sm;\n mad.lo.u32 %%s, %%t, 4, %%s;\n", name);
    for (int i = 0; i < bytes; i += 512)
        text_printf(t, " ld.global.b32 %%w, [%%q+%d];\n st.shared.b32 [%%s+%d], %%w;\n", i, offset + i);
}

static void descriptor(Text *t, const char *name, uint64_t fields, int offset) {
    text_printf(t,
                " .reg .b64 %%d%s;\n mov.u32 %%s, sm;\n add.u32 %%s, %%s, %d;\n shr.u32 %%s, %%s, 4;\n cvt.u64.u32 "
                "%%d%s, %%s;\n",
                name, offset, name);
    text_printf(t, " or.b64 %%d%s, %%d%s, 0x%llx;\n", name, name, (unsigned long long)fields);
}

static void kernel_head(Text *t, const char *d, int n) {
    text_printf(
        t,
        ".version 8.4\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 sm[49152];\n"
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 d) {\n .reg .b64 %%pa, %%pb, %%pd, %%q;\n"
        " .reg .b32 %%t, %%s, %%w;\n .reg .pred %%no;\n .reg .%s %%d<%d>;\n"
        " ld.param.u64 %%pa, [a];\n ld.param.u64 %%pb, [b];\n ld.param.u64 %%pd, [d];\n mov.u32 %%t, %%tid.x;\n",
        register_type(d), n);
}

static void kernel_tail(Text *t, const char *d, int n) {
    int size = strcmp(d, "f64") ? 4 : 8;
    text_printf(t, " mad.wide.u32 %%q, %%t, %d, %%pd;\n", n * size);
    for (int i = 0; i < n; i++) text_printf(t, " st.global.%s [%%q+%d], %%d%d;\n", register_type(d), i * size, i);
    text_add(t, " ret;\n}\n");
}

static void kernel_mma(Text *t, const Case *c, const Layout *a, const Layout *b, const Layout *d) {
    int n = words(d, c->op->d);
    const char *zero = !strcmp(c->op->d, "f64") ? "0d0000000000000000" : !strcmp(c->op->d, "f32") ? "0f00000000" : "0";
    kernel_head(t, c->op->d, n);
    registers_load(t, "a", c->op->a, words(a, c->op->a));
    registers_load(t, "b", c->op->b, words(b, c->op->b));
    for (int i = 0; i < n; i++) text_printf(t, " mov.%s %%d%d, %s;\n", register_type(c->op->d), i, zero);
    text_printf(t, " %s ", c->op->name);
    registers_list(t, "d", n);
    text_add(t, ", ");
    registers_list(t, "a", words(a, c->op->a));
    text_add(t, ", ");
    registers_list(t, "b", words(b, c->op->b));
    text_add(t, ", ");
    registers_list(t, "d", n);
    text_add(t, ";\n");
    kernel_tail(t, c->op->d, n);
}

static void kernel_wgmma(Text *t, const Case *c, const Layout *a, uint64_t da, const Layout *b, uint64_t db,
                         const Layout *d) {
    const char *size = strchr(c->op->name, 'N');
    int n = words(d, c->op->d), wa = matrix_width(c->op->a) / 8, b_bytes = wa << layout_place_bits(b);
    int a_from = (b_bytes + 1023) / 1024 * 1024;
    bool half = wa == 2, integer = !strcmp(c->op->d, "i32");
    kernel_head(t, c->op->d, n);
    memory_load(t, "b", 0, b_bytes);
    descriptor(t, "esc_b", db, 0);
    if (c->panel_a) {
        memory_load(t, "a", a_from, wa << layout_place_bits(a));
        descriptor(t, "esc_a", da, a_from);
    } else {
        registers_load(t, "a", c->op->a, words(a, c->op->a));
    }
    text_add(t, " fence.proxy.async;\n bar.sync 0;\n setp.ne.u32 %no, 0, 0;\n wgmma.fence.sync.aligned;\n ");
    text_printf(t, "%.*s%d%s ", (int)(size - c->op->name), c->op->name, c->n, size + 1);
    registers_list(t, "d", n);
    text_add(t, ", ");
    if (c->panel_a)
        text_add(t, "%desc_a");
    else
        registers_list(t, "a", words(a, c->op->a));
    text_printf(t, ", %%desc_b, %%no%s", integer ? "" : ", 1, 1");
    if (half && c->panel_a) text_printf(t, ", %d", !minor_k(c->panel_a));
    if (half) text_printf(t, ", %d", !minor_k(c->panel_b));
    text_add(t, ";\n wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;\n");
    kernel_tail(t, c->op->d, n);
}

/* D against the product, place by place; blocks of a repeated n one after the other in the registers. */
static int compare(const Case *c, const Layout *d, const unsigned char *image) {
    int wrong = 0, reg = layout_place(d, "reg", NULL), regs = d->place[reg].bits, repeats = (int)layout_repeats(d);
    int width = matrix_width(c->op->d) / 8, block = 1 << d->index[layout_index(d, "j", NULL)].bits;
    bool sign_a = strcmp(c->op->a, "u8") != 0, sign_b = strcmp(c->op->b, "u8") != 0;
    for (uint64_t p = 0; p >> layout_place_bits(d) == 0; p++)
        for (int r = 0; r < repeats; r++) {
            uint64_t x = layout_apply(d, p), lane = p >> regs, low = p & ((1u << regs) - 1);
            int i = part(d, "i", x), j = part(d, "j", x) + block * r, sum = 0;
            for (int k = 0; k < c->op->ad->k; k++) sum += element(i, k, 'a', sign_a) * element(j, k, 'b', sign_b);
            uint64_t at = (lane * (uint64_t)repeats + (uint64_t)r) << regs | low;
            wrong += decode(image + at * (uint64_t)width, c->op->d) != sum;
        }
    return wrong;
}

static bool gpu_run(Gpu *g, const char *ptx, unsigned threads, const unsigned char *a, const unsigned char *b,
                    unsigned char *d) {
    void *module, *kernel, *args[] = {&g->buffer[0], &g->buffer[1], &g->buffer[2]};
    if (g->put(g->buffer[0], a, BUFFER) || g->put(g->buffer[1], b, BUFFER) || g->put(g->buffer[2], d, BUFFER))
        return false;
    if (g->load(&module, ptx) || g->function(&kernel, module, "k")) return false;
    bool good = !g->launch(kernel, 1, 1, 1, threads, 1, 1, 0, NULL, args, NULL) && !g->sync() &&
                !g->get(d, g->buffer[2], BUFFER);
    return g->unload(module) == 0 && good;
}

static void case_make(Text *t, const Case *c, Layout *a, Layout *b, Layout *d) {
    uint64_t da = 0, db = 0;
    matrix_layout(c->arena, d, c->op, 'd', c->n);
    if (c->panel_a) {
        da = panel_memory(c->arena, a, c->panel_a, c->op->ad->m, c->op->ad->k);
        a->index[layout_index(a, "j", NULL)].name = "i";
    } else {
        matrix_layout(c->arena, a, c->op, 'a', c->n);
    }
    if (c->panel_b) {
        db = panel_memory(c->arena, b, c->panel_b, c->n, c->op->ad->k);
        kernel_wgmma(t, c, a, da, b, db, d);
    } else {
        matrix_layout(c->arena, b, c->op, 'b', c->n);
        kernel_mma(t, c, a, b, d);
    }
}

static int case_run(Gpu *g, const Case *c) {
    static unsigned char a_image[BUFFER], b_image[BUFFER], d_image[BUFFER];
    Layout a, b, d;
    Text t = {0};
    case_make(&t, c, &a, &b, &d);
    fill(a_image, &a, c->op->a, 'a');
    fill(b_image, &b, c->op->b, 'b');
    memset(d_image, 0x7f, sizeof d_image);
    bool ran = gpu_run(g, text_str(&t), c->panel_b ? 128 : 32, a_image, b_image, d_image);
    int wrong = ran ? compare(c, &d, d_image) : -1;
    if (wrong)
        printf("%s n %d, A in %s, B in %s: %d wrong\n", c->op->name, c->n, c->panel_a ? c->panel_a->name : "registers",
               c->panel_b ? c->panel_b->name : "registers", wrong);
    text_free(&t);
    return wrong != 0;
}

static bool panel_fits(const MatrixOp *op, const MatrixPanel *p) {
    return p->width == matrix_width(op->a) && (minor_k(p) || p->width == 16);
}

int main(void) {
    Gpu g = {0};
    const MatrixTarget *t = matrix_target("sm_90a");
    int cases = 0, wrong = 0;
    if (!gpu_open(&g)) return puts("no GPU"), 2;
    Arena *arena = arena_new();
    for (int i = 0; i < t->nops; i++) {
        Case c = {.arena = arena, .op = &t->op[i], .n = 8};
        if (c.op->kind == MATRIX_MMA) wrong += case_run(&g, &c), cases++;
        for (int p = 0; c.op->kind == MATRIX_WGMMA && p < t->npanels; p++) {
            if (!panel_fits(c.op, &t->panel[p])) continue;
            c.panel_b = &t->panel[p];
            for (c.n = 8; c.n <= 256; c.n = c.n == 8 ? 24 : c.n == 24 ? 64 : c.n == 64 ? 96 : c.n + 160) {
                c.panel_a = NULL;
                wrong += case_run(&g, &c);
                c.panel_a = c.panel_b;
                wrong += case_run(&g, &c);
                cases += 2;
            }
        }
    }
    printf("%d products, %d wrong\n", cases, wrong);
    arena_free(arena);
    return wrong != 0 || cases < 200;
}
