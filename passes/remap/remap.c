/* remap.c: the order of a kernel's tasks, of the family in ir/order.h. By the estimate of traffic.c it moves the fewest
   bytes between chiplets' caches and memory. Roles of a machine with one cache go through bands of rows. Where nothing
   is shared the order is row-major.
   Takes: kernels with their tiles and plans, or roles. Gives: the same results. */
#include "ir/roles.h"
#include "passes/pass.h"
#include "passes/remap/reuse.h"
#include "target/matrix.h"

#include <string.h>

#define GAIN 0.03 /* share of the time that an order has to save; chosen: no measurement is recorded */

enum {
    MOST_AT_ONCE = 4, /* workgroups of a processor, where its memory and registers are not looked at; chosen */
    WITH_SUMS = 2     /* likewise of products, which keep their sums in registers */
};

/* ---- the machine ---- */

static bool has_tile_of(const Kernel *k, int rows) {
    for (int i = 0; i < k->ngrid; i++)
        if (k->range.p[i].size == rows) return true;
    return false;
}

/* The row of its schedule with its tile, or the first one. NULL: it has none. */
static const MatrixSchedule *schedule_of(const MatrixTarget *t, const Kernel *k) {
    const MatrixSchedule *found = NULL;
    for (const MatrixSchedule *s = t->schedule; k->plan.lowering == LOWER_SCHEDULE && s->name; s++)
        if (strcmp(s->name, k->plan.schedule) == 0 && (!found || has_tile_of(k, s->rows))) found = s;
    return found;
}

/* Workgroups that a processor runs at once. */
static int64_t groups_at_once(const MatrixTarget *t, const GpuFacts *gpu, const Kernel *k) {
    const MatrixSchedule *facts = schedule_of(t, k);
    const int64_t waves = k->plan.waves ? k->plan.waves : 4;
    const int64_t room = (int64_t)gpu->threads / (waves * t->wave), most = region_has_dot(k->body) ? WITH_SUMS : MOST_AT_ONCE;
    if (facts)
        return facts->resident_groups ? facts->resident_groups / t->processors : t->lds_bytes / facts->lds_bytes;
    return room < 1 ? 1 : room < most ? room : most;
}

bool remap_machine(const char *target, const Kernel *k, RemapMachine *to) {
    const MatrixTarget *t = matrix_target(target);
    const GpuFacts *gpu = t ? gpu_facts(target) : NULL;
    const TargetFacts *facts = t ? target_facts(target) : NULL;
    if (!gpu || !facts || !gpu->chiplets) return false;
    const int64_t groups = groups_at_once(t, gpu, k);
    *to = (RemapMachine){.chiplets = gpu->chiplets,
                         .slots = (groups > 1 ? groups : 1) * t->processors / gpu->chiplets,
                         .cache = gpu->chiplet_cache,
                         .last = gpu->last_level,
                         .last_rate = gpu->last_rate,
                         .rate = facts->memory};
    return true;
}

/* ---- which kernels ---- */

/* NULL, or why the order of its tasks is not free. */
static const char *order_is_taken(const Kernel *k) {
    for (int i = 0; i < k->param.n; i++)
        if (k->param.p[i].ranks >= 0 || k->param.p[i].packet) return "it addresses memory of peers";
    if (region_synchronises(k->body)) return "its tasks wait for each other in the order of the grid";
    if (kernel_is_ragged(k)) return "its tiles follow from data";
    if (k->plan.workgroups) return "it copies";
    if (k->plan.lowering == LOWER_SCHEDULE && strcmp(k->plan.schedule, "decode") == 0) return "its schedule has an order";
    return NULL;
}

/* ---- choice ---- */

typedef struct {
    Order order;
    Traffic traffic;
    double score;
} Choice;

/* Bytes take their time; slots that stand idle at the end take that of what they would have moved. */
static Choice choice_of(const Reuse *u, const RemapMachine *m, const Order *o, TrafficRoom *room) {
    Choice c = {.order = *o, .traffic = traffic_of(u, m, o, room)};
    c.score = c.traffic.seconds + c.traffic.asked / m->last_rate * (c.traffic.balance - 1);
    return c;
}

static Choice choose(const Reuse *u, const RemapMachine *m, TrafficRoom *room) {
    Arena *arena = room->near.arena;
    const OrderList list = orders_to_try(u, m, arena);
    Choice best = choice_of(u, m, &list.p[0], room);
    for (int i = 1; i < list.n; i++) {
        const Choice c = choice_of(u, m, &list.p[i], room);
        if (c.score < best.score * (1 - GAIN)) best = c;
    }
    return best;
}

static bool order_is_row_major(const Order *o, const Kernel *k) {
    const Order plain = order_row_major(k);
    return o->chiplets < 2 && o->n == plain.n && memcmp(o->digit, plain.digit, sizeof *o->digit * (size_t)o->n) == 0;
}

static void name_add(Text *to, const void *kernel, int range) { text_add(to, ((const Kernel *)kernel)->range.p[range].name); }

RemapChoice remap_choose(const Module *m, const Kernel *k, const RemapMachine *machine, Arena *arena) {
    const Reuse u = reuse_of(m, k, arena);
    RemapChoice to = {.order = order_row_major(k), .shares = u.tasks > 1 && reuse_shares(&u)};
    if (!to.shares) return to;
    TrafficRoom room = {.near.arena = arena, .far.arena = arena};
    const Choice now = choice_of(&u, machine, &to.order, &room), best = choose(&u, machine, &room);
    to.order = best.order, to.row_major = now.traffic, to.traffic = best.traffic;
    to.other = !order_is_row_major(&best.order, k);
    return to;
}

static void say(PassContext *c, const Kernel *k, const RemapChoice *to) {
    Text order = {0};
    order_text(&order, &to->order, name_add, k);
    remark(c, "remap", k->loc,
           "'%s': order %s: %.3g bytes to the caches of chiplets, row-major %.3g; %.3g bytes of memory, row-major %.3g; "
           "%.2g bytes held by a chiplet",
           k->name, text_str(&order), to->traffic.fetched, to->row_major.fetched, to->traffic.memory, to->row_major.memory,
           to->traffic.held);
    text_free(&order);
}

static void remap_grid(PassContext *c, Kernel *k, Arena *arena) {
    RemapMachine m;
    if (k->plan.order || order_is_taken(k) || !remap_machine(c->options->target, k, &m)) return;
    const RemapChoice to = remap_choose(c->m, k, &m, arena);
    if (!to.other) return;
    k->plan.order = order_keep(c->m->arena, &to.order);
    say(c, k, &to);
}

/* Workgroups of a cluster have one task; the order is of these. */
static void remap_roles(PassContext *c, Kernel *k, Arena *arena) {
    const Order *now = k->roles->order;
    if (now && now->n) return;
    const Reuse u = reuse_of(c->m, k, arena);
    Order to = order_of_one_cache(&u, now);
    to.own = now ? now->own : OWN_AS_THEY_LIE, to.edges = now && now->edges;
    k->roles->order = order_keep(c->m->arena, &to);
}

static void remap_kernel(PassContext *c, Kernel *k) {
    Arena *arena = arena_new();
    if (k->roles)
        remap_roles(c, k, arena);
    else if (k->plan.lowering != LOWER_ROLES)
        remap_grid(c, k, arena);
    arena_free(arena);
}

static bool remap_run(PassContext *c) {
    for (int i = 0; i < c->m->kernel.n; i++) remap_kernel(c, c->m->kernel.p[i]);
    return true;
}

const Pass pass_remap = {.name = "remap", .help = "give the tasks of chiplets what their caches share", .run = remap_run, .kernel = remap_kernel};
