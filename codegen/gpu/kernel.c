/* kernel.c: a node as a kernel: one task of its grid is one workgroup. */
#include "codegen/abi/abi.h"
#include "codegen/gpu/hip.h"
#include "codegen/text/share.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- arguments ---- */

static const CExpr *tensor_text(Fn *f, const Tensor *t) {
    int arg = f->memory->arg[t->id];
    if (arg >= 0) return cexpr_name(f, fn_text(f, "call.args.%s", f->hip->member[arg]));
    const char *memory = t->symmetric >= 0 ? "t->symmetric[t->rank]" : "call.local";
    return cexpr_open(f, "(%s *)(%s + %s)", memory_c(t->elem), memory, tensor_slot(f, t)->text);
}

static const char *pointer_type(Fn *f, const Param *p) {
    return fn_text(f, "%s%s *", p->out || p->inout ? "" : "const ", memory_c(p->elem));
}

/* The host can tell where it is before a run. */
static bool is_field(const Fn *f, const Tensor *t) {
    return f->fields && t->slots == 1 && t->symmetric < 0 && !elem_is_packed(t->elem);
}

static const CExpr *pointer_text(Fn *f, const Tensor *t, const Arg *a, int i) {
    const CExpr *first = part_text(f, t, a);
    if (is_field(f, t)) return field_place(f, pointer_type(f, &f->k->param.p[i]), i);
    if (elem_is_packed(t->elem) && !cexpr_is(first, 0)) first = packed_part_text(f, f->node, t, a);
    const CExpr *base = tensor_text(f, t);
    return cexpr_is(first, 0) ? base : cexpr_open(f, "%s + %s", base->text, first->text);
}

const CExpr *hip_argument(Fn *f, int i) {
    const Arg *a = &f->node->arg.p[i];
    const Tensor *t = &f->p->tensor.p[a->tensor];
    const Param *p = &f->k->param.p[i];
    bool by_value = t->ndim == 0 && f->memory->arg[t->id] >= 0 && t->role == ROLE_INPUT;
    if (by_value) return tensor_text(f, t);
    if (p->ranks >= 0) return symmetric_text(f, t, part_text(f, t, a));
    const CExpr *at = pointer_text(f, t, a, i);
    if (p->ndim == 0 && !p->out && !p->inout) return cexpr_call(f, "tile_load_%s(%s)", elem_text(t->elem), at->text);
    return at;
}

static void argument_line(Fn *f, Text *to, int i, const char *before) {
    const Param *p = &f->k->param.p[i];
    if (!text_has_word(text_str(&f->body), f->param[i]) || text_has_word(before, f->param[i])) return;
    bool value = p->ndim == 0 && !p->out && !p->inout;
    const char *type = p->ranks >= 0 ? "const size_t "
                       : value       ? fn_text(f, "const %s ", elem_c(p->elem))
                                     : fn_text(f, "%sconst ", pointer_type(f, p));
    text_printf(to, "    %s%s = %s;\n", type, f->param[i], hip_argument(f, i)->text);
}

/* Behind text that has some of them. */
static void arguments_behind(Fn *f, const char *before) {
    Text lines = {0};
    for (int i = 0; i < f->k->param.n; i++) argument_line(f, &lines, i, before);
    text_add(&lines, text_str(&f->body));
    text_free(&f->body);
    f->body = lines;
}

void hip_arguments(Fn *f) { arguments_behind(f, ""); }

/* ---- what the body begins with ---- */

/* Ranges that are a whole have no tiles to count. */
static void grid_in_order(Fn *f, const Order *o) {
    OrderTiles t = {.n = f->k->ngrid};
    for (int i = 0; i < f->k->ngrid; i++) {
        t.tiles[i] = range_tasks(f, f->k, i);
        if (f->k->range.p[i].kind != RANGE_WHOLE) t.name[i] = f->range[i].index->text;
    }
    order_write(f, o, &t, "group");
}

static void grid_constants(Fn *f) {
    if (f->k->plan.order) {
        grid_in_order(f, f->k->plan.order);
        return;
    }
    for (int i = 0; i < f->k->ngrid; i++)
        if (f->k->range.p[i].kind != RANGE_WHOLE)
            fn_constant(f, f->range[i].index->text, grid_index(f, f->k, i, "group")->text);
}

static bool reads_peers(const Kernel *k) {
    for (int i = 0; i < k->param.n; i++)
        if (k->param.p[i].ranks >= 0 && !k->param.p[i].out) return true;
    return false;
}

/* ---- tasks on waves, several in a workgroup ---- */

/* Tasks of a workgroup, and the fewest rounds of workgroups of one wave for which it is worth it: an H200 starts 0.8
   workgroups a nanosecond, however small they are (bench/gpu/log.md). */
enum { PACKED = 4, PACKED_ROUNDS = 32 };

/* How many tasks a launch of the largest sizes has. */
static double tasks_most(const Fn *f) {
    double n = 1;
    for (int i = 0; i < f->k->ngrid; i++) {
        const Range *r = &f->k->range.p[i];
        if (r->kind != RANGE_WHOLE)
            n *= ceil((double)size_most(f->m, r->of) / (double)(r->kind == RANGE_TILE ? r->size : 1));
    }
    return n;
}

/* Tasks that meet nobody, in the order of the grid. Those that turn out to take LDS are written again, one a workgroup.
 */
static bool packs_tasks(const Fn *f, const GpuLaunch *l) {
    const Kernel *k = f->k;
    bool packs = k->level == LEVEL_WAVE && k->plan.waves == 1 && !k->plan.order && !k->plan.workgroups && !l->groups;
    for (int i = 0; i < k->ngrid; i++) packs &= !range_is_ragged(k, i);
    return packs && mesh_ranks(f->m) == 1 && !region_synchronises(k->body) && l->ticket < 0 && l->finish < 0 &&
           !l->beside && tasks_most(f) >= (double)PACKED_ROUNDS * f->hip->target->processors;
}

/* Ranks that read each other's memory begin with their own, and go round: else all ask the first one at a time. */
static const char *group_number(Fn *f) {
    if (f->hip->ticket >= 0)
        return fn_text(f, "tile_take(lds, &t->ticket[%s])", field_number(f, "ticket", f->hip->ticket)->text);
    if (f->k->plan.order) return order_deal_text(f, f->k->plan.order, "tile_group()", node_tasks(f, f->k));
    if (f->hip->packed > 1) return fn_text(f, "tile_group() * %d + tile_wave()", f->hip->packed);
    return reads_peers(f->k) ? "(tile_group() + t->rank * tile_groups() / t->nranks) % tile_groups()" : "tile_group()";
}

static void body_constants(Fn *f) {
    static const char *const taken[] = {"call", "lds", "thread", "group", "generation", "reg", "wave", "fk", "fm", "fn", "apart", "next", "next_at",
                                        "better", "low", "high", "other", "run", "elem"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) c_name(&f->names, taken[i]);
    if (f->hip->ticket >= 0) lds_take(f, f->k->loc, SYNC_LDS);
    fn_constant_of(f, "int", "thread",
                   f->hip->packed > 1 ? "tile_lane()" : fn_text(f, "tile_thread_of(%d)", f->hip->threads));
    fn_constant_of(f, "tile_gpu_task *const", "t", "call.task");
    fn_constant(f, "group", group_number(f));
    fn_constant_of(f, "uint64_t", "generation", "tile_generation(t)");
}

/* Where a tile begins follows from its number, which must stand before. */
static void order_constants(Fn *f, int first, int count) {
    Constant *moved = ARENA_ARRAY(f->arena, Constant, f->head.n + 1);
    int n = 0, body = f->head.n - count;
    for (int i = 0; i < first; i++) moved[n++] = f->head.p[i];
    for (int i = body; i < f->head.n; i++) moved[n++] = f->head.p[i];
    for (int i = first; i < body; i++) moved[n++] = f->head.p[i];
    memcpy(f->head.p, moved, sizeof *moved * (size_t)n);
}

/* Loads before the wait, in *early; a task that does nothing makes none. */
static void make_early(Fn *f, GpuLaunch *launch, Text *early) {
    if (*text_str(&f->body) || gpu_has_task(f->m, f->p)) return;
    launch->early = hip_early(f, launch);
    arguments_behind(f, "");
    *early = f->body;
    f->body = (Text){0};
}

static void make_body(Fn *f, GpuLaunch *launch, Text *early) {
    body_constants(f);
    name_params(f);
    for (int i = 0; i < f->k->ngrid; i++) (void)range_tasks(f, f->k, i); /* names the run-time sizes first */
    int first = f->head.n;
    range_text_grid(f);
    int before = f->head.n;
    grid_constants(f);
    order_constants(f, first, f->head.n - before);
    if (gpu_looks_at_values(f->p)) fn_line(f, "if (tile_refused(call.task)) return;");
    if (f->hip->packed > 1)
        fn_line(f, "if (group >= %s) %s", cexpr_operand(f, node_tasks(f, f->k))->text, f->back->leave);
    skip_missing_tasks(f);
    hold_values(f);
    make_early(f, launch, early);
    hip_prefetch(f);
    emit_region(f, f->k->body);
}

/* A grid of one task takes no ticket, nor memory for it. */
static void lds_unless_used(Fn *f, Text *head) {
    if (!text_has_word(text_str(&f->body), "lds") && !text_has_word(text_str(head), "lds")) f->hip->lds = 0;
}

/* ---- registers ---- */

/* A loop that sums products of its own beside what it carries (scores of attention), or in a loop of its own (groups). */
static bool sums_aside(const Region *r, bool in_loop) {
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        bool loop = op->kind == OP_FOR;
        if (in_loop && ((op->kind == OP_DOT && op->arg.n == 2) || (loop && region_has_dot(op->region[0])))) return true;
        if (sums_aside(op->region[0], in_loop || loop) || sums_aside(op->region[1], in_loop || loop)) return true;
    }
    return false;
}

static bool waits_for_ranks(const Fn *f) {
    for (int i = 0; i < f->k->param.n; i++)
        if (f->k->param.p[i].packet) return true;
    return reads_peers(f->k) || (mesh_ranks(f->m) > 1 && region_synchronises(f->k->body));
}

/* Told nothing, ptxas makes room for another workgroup though it has to spill for it; these are no faster with it. */
static bool wants_registers(const Fn *f) {
    return sums_aside(f->k->body, false) || (waits_for_ranks(f) && !region_has_dot(f->k->body));
}

static int threads_of(const Hip *h) { return h->threads * (h->packed > 1 ? h->packed : 1); }

static void kernel_head(Fn *f, Text *to, const char *name) {
    const char *kind = wants_registers(f) ? "TILE_KERNEL_ALONE" : "TILE_KERNEL";
    text_printf(to, "%s(%s, %s, %d) {\n", kind, name, f->hip->call, threads_of(f->hip));
    if (f->hip->lds) text_printf(to, "    TILE_LDS(lds, %" PRId64 ");\n", f->hip->lds);
}

/* The wait for the launch before, behind the loads that do not need it. */
static void body_join(Fn *f, Text *early, bool waits) {
    if (waits) text_add(early, "    tile_follow();\n");
    text_add(early, text_str(&f->body));
    text_free(&f->body);
    f->body = *early;
}

/* Threads of different tasks do not meet, and have no memory in common. */
static bool is_packable(Fn *f) { return !f->hip->lds && !strstr(text_str(&f->body), "tile_sync"); }

static bool kernel_write(GpuText *g, Arena *a, const Program *p, const Memory *memory, const Node *n,
                         const MatrixTarget *target, GpuLaunch *launch, bool pack, bool *good) {
    Text *to = &g->text;
    Backend back = hip_backend;
    back.leave = hip_leave(a, p, launch);
    Fn f = fn_new(&back, a, g->m, p, memory);
    Hip hip = {.target = target,
               .lanes = target->wave,
               .waves = n->kernel->plan.waves,
               .member = public_members(a, g->m, p),
               .call = launch->call,
               .ticket = launch->ticket};
    hip.threads = hip.lanes * hip.waves;
    f.hip = &hip;
    f.k = n->kernel;
    f.node = n;
    f.fields = launch->fields;
    hip.packed = pack && packs_tasks(&f, launch) ? PACKED : 0;
    Text head = {0}, early = {0};
    const char *last = hip_last(a, p, launch);
    const bool tasked = gpu_has_task(g->m, p); /* constants are read from memory that launches before write */
    if (launch->finish >= 0) lds_take(&f, f.k->loc, SYNC_LDS);
    make_body(&f, launch, &early);
    arguments_behind(&f, text_str(&early));
    body_join(&f, &early, launch->dependent && !tasked);
    fn_head_print(&f, &head);
    if (launch->finish < 0) lds_unless_used(&f, &head);
    if (hip.packed && !is_packable(&f)) {
        text_free(&head);
        text_free(&f.body);
        return false;
    }
    kernel_head(&f, to, launch->function);
    if (launch->dependent && tasked) text_add(to, "    tile_follow();\n");
    if (launch->beside) text_add(to, "    tile_beside();\n");
    if (launch->lets_go || launch->beside) text_add(to, "    tile_let_go();\n");
    if (hip_begins_run(g, p, n))
        text_add(to, "    if (tile_group() == 0 && tile_thread() == 0) tile_run_begin(call.task);\n");
    text_add(to, text_str(&head));
    text_add(to, text_str(&f.body));
    text_free(&head);
    if (last) text_printf(to, "    %s\n", last);
    text_add(to, "}\n\n");
    text_free(&f.body);
    launch->packed = hip.packed;
    launch->threads = threads_of(&hip);
    launch->lds = hip.lds;
    *good = !f.failed;
    return true;
}

bool hip_kernel(GpuText *g, Arena *a, const Program *p, const Memory *memory, const Node *n, const MatrixTarget *target,
                GpuLaunch *launch) {
    bool good = true;
    if (!kernel_write(g, a, p, memory, n, target, launch, true, &good))
        kernel_write(g, a, p, memory, n, target, launch, false, &good);
    return good;
}
