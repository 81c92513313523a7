/* roles.c: a kernel in the form roles as text: a struct of what roles share, and the kernel, which hands threads to
   roles. roles_role.c has the functions of roles, roles_place.c the order of tasks. */
#include "codegen/abi/abi.h"
#include "codegen/gpu/roles.h"
#include "codegen/text/program.h"
#include "codegen/text/share.h"
#include "codegen/text/step.h"

#include <inttypes.h>
#include <string.h>

static const char *ring_name(const RolesWriter *w, int ring) { return w->facts.ring[ring].member; }

/* ---- workgroup memory ---- */

static void write_places(RolesWriter *w) {
    Text *to = &w->g->text;
    text_add(to, "enum { /* bytes of workgroup memory, from a multiple of 1024 on */\n");
    for (int i = 0; i < w->roles->ring.n; i++) {
        const Ring *r = &w->roles->ring.p[i];
        const RingFacts *f = &w->facts.ring[i];
        text_printf(to, "    %s = %" PRId64 ", %s = %" PRId64 ", /* %d slots", f->at_name, f->at, f->bytes_name,
                    f->bytes, r->slots);
        if (f->copies > 1) text_printf(to, " for each of %d groups", f->copies);
        text_add(to, ", and a slot's bytes */\n");
        for (int t = 0; t < r->tile.n; t++)
            if (text_has_word(text_str(&w->functions), f->tile_name[t]))
                text_printf(to, "    %s = %" PRId64 ",\n", f->tile_name[t], f->tile[t]);
        if (f->full >= 0) text_printf(to, "    %s = %" PRId64 ",\n", f->full_name, f->full);
    }
    for (int i = 0; i < w->roles->role.n; i++)
        if (w->facts.turn[i].full >= 0)
            text_printf(to, "    %s = %" PRId64 ", /* a token between groups */\n", w->facts.turn[i].full_name,
                        w->facts.turn[i].full);
    if (w->facts.take.full >= 0)
        text_printf(to, "    %s = %" PRId64 ", %s = %" PRId64 ", /* numbers of tasks */\n", w->facts.take.full_name,
                    w->facts.take.full, w->facts.take.at_name, w->facts.take.at);
    text_add(to, "};\n\n");
}

/* ---- what roles share ---- */

static void write_struct(RolesWriter *w) {
    Text *to = &w->g->text;
    text_add(
        to,
        "/* What the roles of a workgroup share: its place in the cluster, tiles along each range, tasks, rings. */\n");
    text_add(to, "typedef struct {\n    int rank, cluster, clusters");
    for (int i = 0; i < w->k->ngrid; i++)
        if (hip_role_counts(w, i)) text_printf(to, ", %s", w->tiles[i]);
    text_add(to, hip_role_has_first(w->roles) ? ", tasks, first; /* first: rank of the first task */\n" : ", tasks;\n");
    for (int i = 0; i < w->roles->ring.n; i++) text_printf(to, "%s%s", i ? ", " : "    tile_ring ", ring_name(w, i));
    if (w->roles->ring.n) text_add(to, ";\n");
    for (int i = 0; i < w->roles->role.n; i++)
        if (w->facts.turn[i].full >= 0) text_printf(to, "    tile_ring %s;\n", w->facts.turn[i].member);
    if (w->facts.take.full >= 0) text_printf(to, "    tile_ring %s;\n", w->facts.take.member);
    text_printf(
        to,
        "} %s;\n\n/* The task's number, and that of its tile along each range. */\ntypedef struct {\n    int number",
        hip_role_name(w, "all"));
    for (int i = 0; i < w->k->ngrid; i++)
        if (hip_role_counts(w, i)) text_printf(to, ", %s", w->task[i]);
    text_printf(to, ";\n} %s;\n\n", hip_role_name(w, "task"));
}

/* Tiles along a range; of the cluster's, pieces that its workgroups take side by side. */
static void count_tiles(RolesWriter *w, Fn *f) {
    const char *tasks = NULL;
    for (int i = 0; i < w->k->ngrid; i++) {
        if (!hip_role_counts(w, i)) continue;
        const CExpr *n = range_tasks(f, w->k, i);
        if (i == w->roles->cluster_range && w->roles->cluster > 1) n = cexpr_ceil_div(f, n, w->roles->cluster);
        int64_t number;
        fn_line(f, "all.%s = %s%s;", w->tiles[i], cexpr_const(n, &number) ? "" : "(int)", cexpr_operand(f, n)->text);
        const char *tiles = fn_text(f, !tasks && hip_role_leaves_own(w) ? "(all.%s - 1)" : "all.%s", w->tiles[i]);
        tasks = tasks ? fn_text(f, "%s * %s", tasks, tiles) : tiles;
    }
    fn_line(f, "all.tasks = %s;", tasks ? tasks : "1");
}

static void write_begin(RolesWriter *w) {
    Hip hip;
    Fn f = hip_role_fn(w, &hip);
    const int cluster = w->roles->cluster;
    fn_line(&f, "%s all = {};", hip_role_name(w, "all"));
    if (cluster > 1) fn_line(&f, "all.rank = tile_cluster_rank();");
    fn_line(&f, cluster > 1 ? "all.cluster = (int)tile_group() / %d;" : "all.cluster = (int)tile_group();", cluster);
    fn_line(&f, cluster > 1 ? "all.clusters = (int)tile_groups() / %d;" : "all.clusters = (int)tile_groups();",
            cluster);
    count_tiles(w, &f);
    hip_role_first(w, &f);
    for (int i = 0; i < w->roles->ring.n; i++) {
        const RingFacts *r = &w->facts.ring[i];
        const char *full = r->full < 0 ? "0" : fn_text(&f, "at + %s", r->full_name);
        fn_line(&f, "all.%s = {at + %s, %s, %d, %s};", r->member, r->at_name, full, w->roles->ring.p[i].slots,
                r->bytes_name);
    }
    for (int i = 0; i < w->roles->role.n; i++)
        if (w->facts.turn[i].full >= 0)
            fn_line(&f, "all.%s = {0, at + %s, 1, 0};", w->facts.turn[i].member, w->facts.turn[i].full_name);
    const RingFacts *take = &w->facts.take;
    if (take->full >= 0)
        fn_line(&f, "all.%s = {at + %s, at + %s, %d, %d};", take->member, take->at_name, take->full_name, ROLE_TAKEN,
                ROLE_TASK_BYTES);
    fn_line(&f, "return all;");
    Text head = {0};
    fn_head_print(&f, &head);
    text_printf(&w->g->text, "TILE_FN %s %s(const %s call, const char *lds) {\n", hip_role_name(w, "all"),
                hip_role_name(w, "begin"), w->launch->call);
    text_add(&w->g->text, "    const uint32_t at = (tile_shared(lds) + 1023) & ~1023u;\n");
    text_add(&w->g->text, text_str(&head));
    text_printf(&w->g->text, "%s}\n\n", text_str(&f.body));
    text_free(&head), text_free(&f.body);
    w->failed |= f.failed;
}

/* ---- the kernel ---- */

static void write_maps(RolesWriter *w) {
    const GpuLaunch *l = w->launch;
    if (!l->nmap) return;
    text_printf(&w->g->text, "typedef struct {\n    tile_tensor_map map[%d]; /* ", l->nmap);
    for (int i = 0; i < l->nmap; i++)
        text_printf(&w->g->text, "%s%s", i ? ", " : "", c_string(w->arena, w->k->param.p[w->map[i]].name));
    text_printf(&w->g->text, " */\n} %s;\n\n", hip_role_name(w, "maps"));
}

static void write_rings(RolesWriter *w) {
    Text *to = &w->g->text;
    text_add(to, "    if (tile_thread() == 0) {\n");
    for (int i = 0; i < w->roles->ring.n; i++) {
        const RingFacts *f = &w->facts.ring[i];
        if (f->full >= 0 && f->copies == 1)
            text_printf(to, "        tile_ring_make(&all.%s, %d, %d);\n", ring_name(w, i), f->puts, f->frees);
        if (f->full >= 0 && f->copies > 1)
            text_printf(to, "        tile_rings_make(&all.%s, %d, %d, %d);\n", ring_name(w, i), f->copies, f->puts,
                        f->frees);
    }
    for (int i = 0; i < w->roles->role.n; i++)
        if (w->facts.turn[i].full >= 0)
            text_printf(to, "        tile_ring_make(&all.%s, 1, 1);\n", w->facts.turn[i].member);
    if (w->facts.take.full >= 0)
        text_printf(to, "        tile_ring_make(&all.%s, %d, %d);\n", w->facts.take.member, w->facts.take.puts,
                    w->facts.take.frees);
    text_add(to, "        tile_mbar_init_done();\n    }\n");
}

static void call_role(RolesWriter *w, int number) {
    Text *to = &w->g->text;
    const Role *r = &w->roles->role.p[number];
    const char *maps = w->maps[number] ? "&maps, " : "", *name = w->role[number];
    if (r->first >= 0)
        text_printf(to, "        %s(call, %s&all, group - %d, thread);\n", name, maps, r->first);
    else if (r->lanes == 1)
        text_printf(to, "        if (thread / 32 == %d && tile_elect()) %s(call, %s&all);\n", r->warp % 4, name, maps);
    else
        text_printf(to, "        if (thread >= %d && thread < %d) %s(call, %s&all, thread - %d);\n", 32 * (r->warp % 4),
                    32 * (r->warp % 4) + r->lanes, name, maps, 32 * (r->warp % 4));
}

static void set_registers(RolesWriter *w, int group) {
    const int regs = w->roles->regs.p[group];
    if (regs == w->facts.entry_regs || !regs || w->roles->regs.n == 1) return;
    text_printf(&w->g->text, "        tile_regs_%s(%d);\n", regs < w->facts.entry_regs ? "give" : "take", regs);
}

/* Where the counter of the kernel's tasks is (tile_image.tickets). */
static const char *counter_text(RolesWriter *w) {
    enum { EACH = sizeof(uint64_t) };
    Hip hip;
    Fn f = hip_role_fn(w, &hip);
    const char *number = field_number(&f, "ticket", w->launch->ticket)->text;
    text_free(&f.body);
    if (gpu_has_task(w->g->m, w->p)) return arena_format(w->arena, "&call.task->ticket[%s]", number);
    return arena_format(w->arena, "(uint64_t *)(call.local + %" PRId64 ") + %s",
                        ceil_div(w->memory->local, EACH) * EACH, number);
}

/* A lane of the cluster's first workgroup takes the numbers of tasks, for all roles of all; or a warp, where it searches
   for tiles. */
static void call_take(RolesWriter *w, int warp) {
    const char *rank = w->roles->cluster > 1 ? " && all.rank == 0" : "";
    const int first = 32 * (warp % 4);
    if (kernel_is_ragged(w->k))
        text_printf(&w->g->text, "        if (thread >= %d && thread < %d%s)\n            %s(call, &all, %s);\n", first,
                    first + 32, rank, hip_role_name(w, "take_some"), counter_text(w));
    else
        text_printf(&w->g->text,
                    "        if (thread == %d%s)\n            tile_ticket_take(&all.%s, %s, all.tasks, all.clusters, "
                    "%d);\n",
                    first, rank, w->facts.take.member, counter_text(w), w->roles->cluster);
}

/* Groups that do the same: those of a role, or one. */
static int groups_together(RolesWriter *w, int group) {
    for (int i = 0; i < w->roles->role.n; i++)
        if (w->roles->role.p[i].first == group && w->roles->role.p[i].in < 0) return hip_role_groups(w->k, i);
    return 1;
}

static void write_groups(RolesWriter *w) {
    for (int g = 0, n; g < w->roles->regs.n; g += n) {
        n = groups_together(w, g);
        const bool last = g + n >= w->roles->regs.n;
        text_printf(&w->g->text, last ? "    %s{\n" : "    %sif (group < %d) {\n", g ? "} else " : "", g + n);
        set_registers(w, g);
        if (g == 0 && hip_begins_run(w->g, w->p, w->node))
            text_add(&w->g->text, "        if (tile_group() == 0 && thread == 96) tile_run_begin(call.task);\n");
        for (int i = 0; i < w->roles->role.n; i++) {
            const Role *r = &w->roles->role.p[i];
            if (r->in < 0 && (r->first >= 0 ? r->first == g : r->warp / 4 == g)) call_role(w, i);
        }
        const int warp = w->facts.take.full >= 0 ? roles_free_warp(w->roles) : -1;
        if (warp >= 0 && warp / 4 >= g && warp / 4 < g + n) call_take(w, warp);
    }
    text_add(&w->g->text, "    }\n");
}

static void write_refusals(RolesWriter *w) {
    Hip hip;
    Fn f = hip_role_fn(w, &hip);
    const char *text = hip_refusals(&f, w->launch);
    if (*text) text_printf(&w->g->text, "%s\n", text + 1);
    text_free(&f.body);
}

/* Workgroups that the machine starts beside each other. Few that copy do so in pairs: single ones, one in each part of the
   machine, would leave places there in which no cluster of a product beside them finds room. */
static int started_together(const RolesWriter *w) {
    enum { PAIR = 2 /* workgroups, as many as a product's cluster has */ };
    return w->k->plan.workgroups && w->roles->cluster == 1 ? PAIR : w->roles->cluster;
}

/* A thread's group. With a shuffle it is known to be that of all lanes, and what follows from it lies in uniform
   registers. Wide products in a chain leave none for it: it would spill [compiled]. */
static const char *group_text(const RolesWriter *w) {
    return hip_roles_are_wide(w) ? "tile_thread() / 128" : "tile_shuffle(tile_thread() / 128, 0)";
}

/* Others of the cluster may copy to a workgroup, or arrive there, when its roles are done. Where they only send it sums,
   its groups have waited for all of these. */
static bool ends_together(const RolesWriter *w) {
    const bool alone = w->roles->cluster == 1 || (roles_slice(w->k) && w->facts.take.full < 0);
    return !alone;
}

static void write_kernel(RolesWriter *w) {
    Text *to = &w->g->text;
    const int resident = w->launch->nmap ? w->roles->resident : 1;
    const char *kind = resident > 1      ? "TILE_KERNEL_RESIDENT"
                       : w->launch->nmap ? "TILE_KERNEL_MAPS"
                                         : "TILE_KERNEL_CLUSTER";
    text_printf(to, "%s(%s, %s, %d, %d%s) {\n    TILE_LDS(lds, 0);\n", kind, w->launch->function, w->launch->call,
                w->facts.threads, started_together(w), resident > 1 ? arena_format(w->arena, ", %d", resident) : "");
    if (w->launch->beside) text_add(to, "    tile_beside();\n");
    if (w->launch->lets_go && !w->launch->dependent) text_add(to, "    tile_let_go();\n");
    write_refusals(w);
    text_printf(to, "    const %s all = %s(call, lds);\n", hip_role_name(w, "all"), hip_role_name(w, "begin"));
    text_add(to, "    const int ");
    if (w->roles->regs.n > 1) text_printf(to, "group = %s, ", group_text(w));
    text_add(to, "thread = tile_thread() & 127;\n");
    write_rings(w);
    text_add(to, w->roles->cluster > 1 ? "    tile_cluster_meet();\n" : "    tile_sync();\n");
    if (w->launch->dependent && !w->ahead && !gpu_looks_at_values(w->p)) text_add(to, "    tile_follow();\n");
    hip_role_refusal(w, w->facts.take.full >= 0 ? counter_text(w) : NULL);
    write_groups(w);
    if (ends_together(w))
        text_printf(to, "    tile_wave_sync();\n    tile_cluster_%s();\n", w->facts.take.full < 0 ? "meet" : "sync");
    if (w->launch->beside) text_add(to, "    tile_end_behind();\n");
    text_add(to, "}\n\n");
}

static bool can_be_written(RolesWriter *w) {
    const char *what = NULL;
    if (w->roles->tasks == TASKS_LIST) what = "tasks by a list";
    if (strcmp(w->g->target, "sm_90a") != 0) what = "the form roles on this machine";
    for (int i = 0; i < w->k->ngrid; i++)
        if (w->k->range.p[i].of.axis >= 0) what = "a range that is split over ranks, in the form roles";
    if (what) diag_error(w->g->m->diags, w->k->loc, "unsupported", "not supported yet by %s: %s", w->back.who, what);
    return !what;
}

static bool role_make(Fn *f, const Op *op) {
    return hip_role_widen(f, op) || hip_role_make(f, op) || hip_role_exp(f, op) || hip_role_tanh(f, op) ||
           hip_role_mask(f, op);
}

bool hip_roles(GpuText *g, Arena *a, const Program *p, const Memory *memory, CNames *names, const Node *n,
               GpuLaunch *launch) {
    RolesWriter w = {.g = g,
                     .arena = a,
                     .p = p,
                     .memory = memory,
                     .node = n,
                     .k = n->kernel,
                     .roles = n->kernel->roles,
                     .launch = launch,
                     .names = names};
    w.back = hip_backend;
    w.back.leave = "continue;";
    w.back.step = hip_role_step;
    w.back.sync = &hip_role_sync;
    w.back.is_near = hip_role_is_near;
    w.back.own = hip_role_distance;
    w.back.make = role_make;
    w.back.settle = NULL;
    w.back.before = NULL;
    w.back.before_loop = hip_role_before_loop;
    w.back.loop = hip_role_loop;
    w.back.after_loop = hip_role_after_loop;
    w.back.refuse_starts = NULL; /* looked at before roles begin */
    w.target = matrix_target(g->target);
    w.member = public_members(a, g->m, p);
    if (!can_be_written(&w)) return false;
    bool *quads = ARENA_ARRAY(a, bool, w.roles->role.n + 1);
    for (int i = 0; i < w.roles->role.n; i++) quads[i] = hip_role_quads(g->m, w.k, i);
    w.facts = hip_role_facts(a, g->m, w.k, quads);
    hip_role_names(&w);
    hip_role_ahead(&w);
    for (int i = 0; i < w.roles->role.n; i++)
        if (w.roles->role.p[i].in < 0) hip_role_late_function(&w, i), hip_role_function(&w, i);
    write_maps(&w);
    write_places(&w);
    write_struct(&w);
    write_begin(&w);
    hip_role_place(&w);
    hip_role_ragged(&w);
    text_add(&g->text, text_str(&w.functions));
    text_free(&w.functions);
    write_kernel(&w);
    launch->threads = w.facts.threads;
    launch->lds = w.facts.bytes + ROLE_SLACK + (kernel_is_ragged(w.k) ? SYNC_LDS : 0);
    launch->cluster = started_together(&w);
    launch->parts = roles_slice(w.k) ? w.roles->cluster : 0;
    return !w.failed;
}
