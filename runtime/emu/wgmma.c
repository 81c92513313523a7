/* wgmma.c: products by 128 threads, of operands in LDS, that run asynchronously. A product is computed where its end
   is waited for, with what LDS and registers hold by then; until then its sums are poison. PTX ISA, "Asynchronous
   warpgroup level matrix instructions": descriptors, and layouts of D and of A in registers. */
#include "cluster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows, columns and k of the largest instruction, that of 1-byte elements; a layout of its descriptors. */
enum { ROWS = 64, WIDEST = 256, DEEPEST = 32, SWIZZLE_128B = 1 };

static Team *team_of(int first) { return &emu->cluster->member[emu->rank].team[first / TEAM]; }

/* ---- operands in LDS ---- */

typedef struct {
    uint32_t start, leading, stride; /* bytes */
} Panel;

static Panel panel_of(uint64_t descriptor) {
    if (descriptor >> 62 != SWIZZLE_128B) emu_fail("multiplies what is not swizzled by 128 bytes");
    return (Panel){(uint32_t)(descriptor & 0x3fff) << 4, (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
                   (uint32_t)(descriptor >> 32 & 0x3fff) << 4};
}

static int elem_bytes(tile_emu_elem e) { return e == TILE_EMU_F16 || e == TILE_EMU_BF16 ? 2 : 1; }

/* Where row i (column of B) at position k is. across: neighbours are along i, not along k. */
static uint32_t element_at(Panel p, bool across, int bytes, int i, int k) {
    uint32_t row = (uint32_t)(across ? k : i), in = (uint32_t)((across ? i : k) * bytes);
    uint32_t at = p.start + row / 8 * p.stride + row % 8 * 128 + in % 128 + (across ? in / 128 * p.leading : 0);
    return at ^ (at >> 7 & 7) << 4;
}

/* All of an operand, 16 bytes at a time. */
static void operand_touch(uint64_t descriptor, bool across, int bytes, int rows, int depth, const Touch *by) {
    Panel p = panel_of(descriptor);
    int each = 16 / bytes;
    for (int i = 0; i < rows; i += across ? each : 1)
        for (int k = 0; k < depth; k += across ? 1 : each)
            lds_touch(&emu->lds, shared_at(emu, element_at(p, across, bytes, i, k), 16, false), 16, by, NULL);
}

static void operand_read(uint64_t descriptor, bool across, tile_emu_elem elem, int depth, int rows,
                         float to[][DEEPEST]) {
    Panel p = panel_of(descriptor);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < depth; k++) {
            size_t at = shared_at(emu, element_at(p, across, elem_bytes(elem), i, k), (size_t)elem_bytes(elem), false);
            to[i][k] = (float)matrix_value(elem, emu->lds.base + at, 0);
        }
}

/* ---- registers: wave w of the team has rows 16 w on ---- */

static int row_of(int thread, int r) { return 16 * (thread / 32) + thread % 32 / 4 + 8 * (r >> 1 & 1); }
static int column_of(int thread, int r) { return 8 * (r >> 2) + 2 * (thread % 4) + (r & 1); }

/* A's: a register has two neighbours on k; the next one is 8 rows further, then 8 on k. */
static void registers_read(const Product *p, float to[][DEEPEST]) {
    for (int t = 0; t < TEAM; t++)
        for (int e = 0; e < 8; e++)
            to[row_of(t, e & 3)][2 * (t % 4) + (e & 1) + 8 * (e >> 2)] = (float)matrix_value(p->op->a, p->regs[t], e);
}

/* ---- sums, which are the team's own while products add to them ---- */

/* Until it is waited for. */
enum { POISON = 0x7fc00000 /* NaN as a float */ };

static double sum_take(const Sums *s, int t, int r) {
    float *d = s->d[t];
    int32_t *whole = s->d[t];
    double x = s->whole ? whole[r] : (double)d[r];
    if (s->whole)
        whole[r] = POISON;
    else
        d[r] = NAN;
    return x;
}

static void sum_give(const Sums *s, int t, int r, double x) {
    float *d = s->d[t];
    int32_t *whole = s->d[t];
    if (s->whole ? whole[r] != POISON : d[r] == d[r])
        emu_fail("has written sums of a product that it had not waited for");
    if (s->whole)
        whole[r] = (int32_t)(uint32_t)(int64_t)x;
    else
        d[r] = (float)x;
}

static Sums *sums_take(Team *team, int first, const tile_emu_wgmma *op) {
    Sums **free_one = NULL;
    for (int i = 0; i < TEAM_SUMS; i++) {
        Sums **s = &team->sums[i];
        if (*s && (*s)->users && (*s)->d[0] == emu->lane[first].arg.d) {
            if ((*s)->n != op->n) emu_fail("multiplies into %d columns of sums that are %d", op->n, (*s)->n);
            return *s;
        }
        if (!free_one && (!*s || !(*s)->users)) free_one = s;
    }
    if (!free_one || (!*free_one && !(*free_one = malloc(sizeof **free_one))))
        emu_fail("multiplies into more sums than the emulator can hold");
    Sums *s = *free_one;
    s->users = 0;
    s->n = op->n;
    s->whole = op->whole;
    for (int t = 0; t < TEAM; t++) {
        s->d[t] = emu->lane[first + t].arg.d;
        if (!emu->lane[first + t].fenced) emu_fail("multiplies into registers with no fence since it last waited");
        for (int r = 0; r < op->n / 2; r++) s->x[row_of(t, r)][column_of(t, r)] = sum_take(s, t, r);
    }
    return s;
}

static void sums_give(Sums *s) {
    if (--s->users) return;
    for (int t = 0; t < TEAM; t++)
        for (int r = 0; r < s->n / 2; r++) sum_give(s, t, r, s->x[row_of(t, r)][column_of(t, r)]);
}

/* ---- products ---- */

typedef double Columns __attribute__((vector_size(64), aligned(8), may_alias));
enum { COLUMNS = sizeof(Columns) / sizeof(double) }; /* the width of every instruction is a multiple of them */

/* Sums are rounded once for all of the product's depth; of integers they are exact. */
static inline __attribute__((always_inline)) void product_row(const tile_emu_wgmma *op, double *x, const float *a, const double b[][WIDEST],
                                                              bool add) {
    for (int j = 0; j < op->n; j += COLUMNS) {
        Columns sum = {0};
        if (add) sum = *(const Columns *)(x + j);
        for (int k = 0; k < op->k; k++) sum += (double)a[k] * *(const Columns *)(b[k] + j);
        for (int c = 0; c < COLUMNS; c++) x[j + c] = op->whole ? sum[c] : (double)(float)sum[c];
    }
}

static inline __attribute__((always_inline)) void rows_add(const Product *p, const float a[][DEEPEST], const double b[][WIDEST]) {
    for (int i = 0; i < ROWS; i++) product_row(p->op, p->sums->x[i], a[i], b, p->add);
}

static void rows_plain(const Product *p, const float a[][DEEPEST], const double b[][WIDEST]) { rows_add(p, a, b); }

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) static void rows_256(const Product *p, const float a[][DEEPEST], const double b[][WIDEST]) { rows_add(p, a, b); }
__attribute__((target("avx512f"))) static void rows_512(const Product *p, const float a[][DEEPEST], const double b[][WIDEST]) { rows_add(p, a, b); }
#endif

/* By the widest vectors that the machine has. A product of two floats is exact in a double, so that all give the same. */
static void product_rows(const Product *p, const float a[][DEEPEST], const double b[][WIDEST]) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) return rows_512(p, a, b);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return rows_256(p, a, b);
#endif
    rows_plain(p, a, b);
}

static void product_end(const Product *p) {
    static float a[ROWS][DEEPEST], columns[WIDEST][DEEPEST];
    static double b[DEEPEST][WIDEST];
    if (p->op->in_registers)
        registers_read(p, a);
    else
        operand_read(p->a, p->op->a_across, p->op->a, p->op->k, ROWS, a);
    operand_read(p->b, p->op->b_across, p->op->b, p->op->k, p->op->n, columns);
    for (int k = 0; k < p->op->k; k++)
        for (int j = 0; j < p->op->n; j++) b[k][j] = columns[j][k];
    product_rows(p, a, b);
    sums_give(p->sums);
}

static void same_check(int first, int size) {
    const MeetArg *mine = &lane_now()->arg;
    for (int i = 0; i < size; i++) {
        const MeetArg *other = &emu->lane[first + i].arg;
        if (other->value != mine->value || other->operand[0] != mine->operand[0] ||
            other->operand[1] != mine->operand[1])
            emu_fail("and thread %d of its warpgroup want different products", first + i);
    }
}

static void product_begin(int first, int size) {
    Team *team = team_of(first);
    const MeetArg *arg = &lane_now()->arg;
    const tile_emu_wgmma *op = arg->op;
    same_check(first, size);
    if (first % TEAM || size < TEAM) emu_fail("multiplies in a warpgroup of %d threads", size);
    if (team->n == TEAM_PRODUCTS) emu_fail("has more than %d products under way", TEAM_PRODUCTS);
    if (!team->actor) team->actor = order_actor(ACTOR_PRODUCTS);
    Product *p = &team->product[team->n++];
    *p = (Product){
        .op = op, .a = arg->operand[0], .b = arg->operand[1], .add = arg->value, .number = team->committed + 1};
    for (int t = 0; t < TEAM; t++) p->regs[t] = emu->lane[first + t].arg.a;
    for (int t = 0; t < TEAM && op->in_registers; t++)
        if (!emu->lane[first + t].fenced) emu_fail("multiplies registers with no fence since it last waited");
    Touch by = order_touch_by(team->actor, p->number, TOUCH_ASYNC_READ);
    View kept;
    order_least(first / group_lanes(), TEAM / group_lanes(), &kept);
    if (!op->in_registers) operand_touch(p->a, op->a_across, elem_bytes(op->a), ROWS, op->k, &by);
    operand_touch(p->b, op->b_across, elem_bytes(op->b), op->n, op->k, &by);
    order_wave()->view = kept;
    p->sums = sums_take(team, first, op);
    p->sums->users++;
}

void tile_emu_wgmma_begin(const tile_emu_wgmma *op, void *d, const uint32_t *a, uint64_t from, uint64_t b, int add) {
    lanes_meet((MeetArg){
        .work = product_begin, .size = TEAM, .op = op, .d = d, .a = a, .operand = {from, b}, .value = add != 0});
}

void tile_emu_wgmma_fence(void) { lane_now()->fenced = true; }

static void commit(int first, int size) {
    (void)size;
    team_of(first)->committed++;
}

void tile_emu_wgmma_commit(void) { lanes_meet((MeetArg){.work = commit, .size = TEAM}); }

static void products_end(int first, int size) {
    Team *team = team_of(first);
    int done = 0;
    uint32_t pending = lane_now()->arg.value, over = team->committed > pending ? team->committed - pending : 0;
    while (done < team->n && team->product[done].number <= over) product_end(&team->product[done++]);
    memmove(team->product, team->product + done, (size_t)(team->n -= done) * sizeof *team->product);
    for (int t = 0; t < size; t++) emu->lane[first + t].fenced = false;
    for (int w = first / group_lanes(); w < (first + size) / group_lanes() && team->actor; w++)
        order_learn(w, team->actor, over);
}

void tile_emu_wgmma_wait(int pending) {
    lanes_meet((MeetArg){.work = products_end, .size = TEAM, .value = (uint32_t)pending});
}
