/* order.c: orders of tasks are bijections. `order grids FIRST LAST`: enumerates grids of FIRST to LAST tasks for each
   number of chiplets, with every kind of digit. `order text SEED`: a C program that compares emitted text with
   order_place, and goes back from a place to its task. `order alone SEED`: a C++ program that does so with functions for grids of HIP. */
#include "codegen/text/order_alone.h"
#include "codegen/text/program.h"
#include "test/unit/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RANGES = 3, MOST = 1 << 16, TEXTS = 60 };
static const int chiplets[] = {1, 2, 4, 6, 8, 5, 7};

static int failures;
static uint64_t state;

static int64_t draw(int64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

/* ---- random orders ---- */

static void digit_add(Order *o, int range, int band) {
    const DigitWay way = band ? DIGIT_UP : (DigitWay)draw(DIGIT_WAYS);
    o->digit[o->n++] = (OrderDigit){.range = (int16_t)range, .band = band, .way = way};
}

/* Digits of all ranges, in any order; up to two bands of a range stand anywhere before it. */
static Order order_draw(int chiplet) {
    Order o = {.chiplets = chiplet, .block = draw(2) ? 0 : 1 + draw(600)};
    int left[RANGES];
    for (int r = 0; r < RANGES; r++) left[r] = 1 + (int)draw(3);
    for (int open = RANGES; open;) {
        const int r = (int)draw(RANGES);
        if (!left[r]) continue;
        left[r]--;
        digit_add(&o, r, left[r] ? 1 + (int)draw(9) : 0);
        open -= !left[r];
    }
    return o;
}

/* ---- grids ---- */

static int64_t count_tasks(const int64_t *tiles) { return tiles[0] * tiles[1] * tiles[2]; }

static bool grid_is_covered(const Order *o, const int64_t *tiles) {
    static uint8_t seen[MOST];
    const int64_t n = count_tasks(tiles);
    int64_t at[RANGES];
    memset(seen, 0, (size_t)n);
    for (int64_t g = 0; g < n; g++) {
        const int64_t task = order_deal(o, g, n);
        if (task < 0 || task >= n) return false;
        order_place(o, tiles, RANGES, task, at);
        for (int r = 0; r < RANGES; r++)
            if (at[r] < 0 || at[r] >= tiles[r]) return false;
        if (seen[(at[0] * tiles[1] + at[1]) * tiles[2] + at[2]]++) return false;
    }
    return true;
}

/* A chiplet runs the task numbers of each block that follow each other. */
static bool shares_lie_together(const Order *o, int64_t n) {
    int64_t last[8], jumps = 0;
    const int64_t block = o->block ? (o->block + o->chiplets - 1) / o->chiplets * o->chiplets : n;
    for (int64_t g = 0; g < n; g++) {
        const int64_t task = order_deal(o, g, n), x = g % o->chiplets;
        if (g >= o->chiplets) jumps += task != last[x] + 1;
        last[x] = task;
    }
    return jumps <= o->chiplets * ((n + block - 1) / block - 1);
}

/* n tasks: along one range, and along three, whose product is at most n. */
static void grid_check(int64_t n, int chiplet) {
    const Order o = order_draw(chiplet);
    const int64_t a = 1 + draw(n), b = 1 + draw(n / a), line[RANGES] = {1, n, 1}, box[RANGES] = {a, b, n / a / b};
    CHECK(order_is_bijective(&o, RANGES, line) && grid_is_covered(&o, line));
    CHECK(grid_is_covered(&o, box));
    CHECK(chiplet < 2 || shares_lie_together(&o, n));
}

static void grids_check(int64_t first, int64_t last) {
    int64_t count = 0;
    for (int64_t n = first; n <= last; n++)
        for (size_t c = 0; c < sizeof chiplets / sizeof *chiplets; c++, count++) grid_check(n, chiplets[c]);
    printf("grids of %" PRId64 " to %" PRId64 " tasks, %" PRId64 " orders of each kind: %d wrong\n", first, last, count,
           failures);
}

/* What is no order is seen. */
static void refusals_check(void) {
    const int64_t tiles[RANGES] = {4, 5, 1};
    const Order twice = {.n = 3, .digit = {{.range = 0}, {.range = 1}, {.range = 0}}};
    const Order missing = {.n = 2, .digit = {{.range = 0, .band = 2}, {.range = 1}}};
    const Order behind = {.n = 3, .digit = {{.range = 0}, {.range = 0, .band = 2}, {.range = 1}}};
    const Order way = {.n = 3, .digit = {{.range = 0, .band = 2, .way = DIGIT_DOWN}, {.range = 0}, {.range = 1}}};
    const Order right = {.n = 2, .digit = {{.range = 0}, {.range = 1}}};
    CHECK(!order_is_bijective(&twice, RANGES, tiles) && !order_is_bijective(&missing, RANGES, tiles));
    CHECK(!order_is_bijective(&behind, RANGES, tiles) && !order_is_bijective(&way, RANGES, tiles));
    CHECK(order_is_bijective(&right, RANGES, tiles));
}

/* ---- text ---- */

static const CExpr *tiles_text(Fn *f, int r, int64_t n, bool number) {
    return number ? cexpr_number(f, n) : cexpr_name(f, arena_format(f->arena, "n%d", r));
}

/* The function place<k>, for tiles that are numbers or arguments; then what its places are for all tasks. */
static void text_function(Arena *a, int k, const Order *o, const int64_t *tiles, bool number) {
    static const char *const name[RANGES] = {"i", "j", "k"};
    Fn f = {.arena = a, .names = {.arena = a}, .indent = 1};
    OrderTiles t = {.n = RANGES};
    const CExpr *tasks = number ? cexpr_number(&f, count_tasks(tiles)) : cexpr_name(&f, "n0 * n1 * n2");
    Text to = {0};
    c_name(&f.names, "group");
    for (int r = 0; r < RANGES; r++)
        t.tiles[r] = tiles_text(&f, r, tiles[r], number), t.name[r] = c_name(&f.names, name[r]);
    fn_constant(&f, "group", order_deal_text(&f, o, "g", tasks));
    order_write(&f, o, &t, "group");
    const CExpr *back = order_number(&f, o, &t);
    fn_line(&f, "at[0] = i, at[1] = j, at[2] = k, at[3] = group - (%s);", back->text);
    fn_print(&f, &to, arena_format(a, "static void place%d(int64_t g, int64_t n0, int64_t n1, int64_t n2, int64_t *at)", k));
    printf("%s", text_str(&to));
    text_free(&to);
}

static uint64_t places_hash(const Order *o, const int64_t *tiles) {
    uint64_t hash = 0;
    const int64_t n = count_tasks(tiles);
    for (int64_t g = 0; g < n; g++) {
        int64_t at[RANGES];
        order_place(o, tiles, RANGES, order_deal(o, g, n), at);
        hash = hash * 31 + (uint64_t)((at[0] * tiles[1] + at[1]) * tiles[2] + at[2]);
    }
    return hash;
}

static void texts_print(void) {
    Arena *a = arena_new();
    Text calls = {0};
    printf("#include <math.h>\n#include <stdio.h>\n#include \"device/tile_deal.h\"\n\n");
    for (int k = 0; k < TEXTS; k++) {
        const Order o = order_draw(chiplets[k % 7]);
        const int64_t tiles[RANGES] = {1 + draw(draw(3) ? 20 : 1), 1 + draw(30), 1 + draw(20)};
        text_function(a, k, &o, tiles, k % 2);
        text_printf(&calls, "    check(place%d, %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRIu64 "u);\n", k, tiles[0], tiles[1],
                    tiles[2], places_hash(&o, tiles));
    }
    printf("static int wrong;\nstatic void check(void (*place)(int64_t, int64_t, int64_t, int64_t, int64_t *), int64_t n0, "
           "int64_t n1, int64_t n2, uint64_t want) {\n    uint64_t hash = 0;\n    for (int64_t g = 0; g < n0 * n1 * n2; g++) {\n"
           "        int64_t at[4];\n        place(g, n0, n1, n2, at);\n        wrong += at[3] != 0;\n"
           "        hash = hash * 31 + (uint64_t)((at[0] * n1 + at[1]) * n2 + at[2]);\n    }\n    wrong += hash != want;\n}\n\n"
           "int main(void) {\n%s    printf(\"%d texts, %%d wrong\\n\", wrong);\n    return wrong != 0;\n}\n",
           text_str(&calls), TEXTS);
    text_free(&calls);
    arena_free(a);
}

/* ---- functions for HIP ---- */

/* What the function's places are in a grid of rows of columns: the same as those of the order, and what is no whole row stays. */
static void alone_call(Text *calls, int k, const Order *o, const OrderAxes *axes, const int64_t *tiles) {
    int64_t grid[RANGES] = {1, 1, 1};
    for (int i = 0; i < axes->n; i++) grid[axes->axis[i]] = tiles[i];
    if (axes->columns) grid[0] = tiles[axes->n] * tiles[axes->n + 1] + (axes->n ? 0 : draw(axes->columns));
    text_printf(calls, "    check(order%d_order, {%" PRId64 ", %" PRId64 ", %" PRId64 "}, {", k, grid[0], grid[1], grid[2]);
    const int64_t n = count_tasks(tiles);
    for (int64_t g = 0; g < n; g++) {
        int64_t at[RANGES], place[RANGES] = {0};
        order_place(o, tiles, RANGES, order_deal(o, g, n), at);
        for (int i = 0; i < axes->n; i++) place[axes->axis[i]] = at[i];
        if (axes->columns) place[0] = at[axes->n] * tiles[axes->n + 1] + at[axes->n + 1];
        text_printf(calls, "%" PRId64 ", ", (place[2] * grid[1] + place[1]) * grid[0] + place[0]);
    }
    text_add(calls, "});\n");
}

static OrderAxes axes_draw(void) {
    static const OrderAxes all[] = {{.n = 3, .axis = {2, 1, 0}}, {.n = 1, .axis = {1}, .columns = 5}, {.n = 0, .columns = 5}, {.n = 2, .axis = {2, 1}}};
    return all[draw(4)];
}

static void alone_print(void) {
    enum { MANY = 40, LARGEST = 12 };
    Arena *a = arena_new();
    Text calls = {0}, functions = {0};
    printf("#include <cstdio>\n#include <vector>\n#define __device__\nstruct dims {\n    unsigned x, y, z;\n} blockIdx, gridDim;\n");
    for (int k = 0; k < MANY; k++) {
        const Order o = order_draw(chiplets[k % 7]);
        const OrderAxes axes = axes_draw();
        const int ranges = axes.n + (axes.columns ? 2 : 0);
        int64_t tiles[RANGES] = {1 + draw(LARGEST), 1 + draw(LARGEST), 1 + draw(LARGEST)};
        Order fits = o;
        if (axes.columns) tiles[ranges - 1] = axes.columns;
        if (ranges < RANGES) {
            tiles[2] = 1, fits.n = 3;
            fits.digit[0] = (OrderDigit){.range = 1, .band = 3};
            fits.digit[1] = (OrderDigit){.range = 0, .way = (DigitWay)draw(DIGIT_WAYS)};
            fits.digit[2] = (OrderDigit){.range = 1};
        }
        order_alone_write(&functions, arena_format(a, "order%d", k), "", &fits, &axes);
        alone_call(&calls, k, &fits, &axes, tiles);
    }
    printf("%s", text_str(&functions));
    printf("static int wrong;\ntemplate <class Block> void check(Block (*order)(), dims grid, std::vector<unsigned> want) {\n"
           "    gridDim = grid;\n    const unsigned n = grid.x * grid.y * grid.z;\n    for (unsigned g = 0; g < n; g++) {\n"
           "        blockIdx = {g %% grid.x, g / grid.x %% grid.y, g / grid.x / grid.y};\n        const Block b = order();\n"
           "        wrong += (b.z * grid.y + b.y) * grid.x + b.x != (g < want.size() ? want[g] : g);\n    }\n}\n\n"
           "int main() {\n%s    printf(\"%d functions, %%d wrong\\n\", wrong);\n    return wrong != 0;\n}\n",
           text_str(&calls), MANY);
    text_free(&functions);
    text_free(&calls);
    arena_free(a);
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "grids") == 0) {
        state = (uint64_t)atoi(argv[2]);
        refusals_check();
        grids_check(atoi(argv[2]), atoi(argv[3]));
    } else if (argc == 3 && strcmp(argv[1], "text") == 0) {
        state = (uint64_t)atoi(argv[2]);
        texts_print();
    } else if (argc == 3 && strcmp(argv[1], "alone") == 0) {
        state = (uint64_t)atoi(argv[2]);
        alone_print();
    } else {
        return 2;
    }
    return failures != 0;
}
