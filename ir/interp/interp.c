/* interp.c: one run: the world is set up, nodes are executed, results gathered and faults reported.
   Takes a verified module and global arrays. Sequential meaning: program order, every rank completing a node first. */
#include "ir/interp/team.h"

#include <stdio.h>
#include <string.h>

static void results_check(World *w, const Node *node, int rank, int64_t generation) {
    InterpTask at = {.rank = rank, .generation = generation, .node = node->id};
    InterpFault f;
    for (int i = 0; i < node->arg.n; i++)
        if (once_broken(w, node, i, at, &f)) world_fault(w, f);
}

static void tasks_run(World *w, const Node *node, int rank, int64_t generation) {
    if (w->once) once_begin(w, node, world_view(w, rank, node));
    bool team = team_of(w, rank, node) != NULL;
    if (team) team_run(w, rank, node, generation);
    for (int64_t i = 0, n = team ? 0 : world_tasks(w, node); i < n && !w->stopped; i++) {
        Task *t = task_begin(w, node, rank, generation, i);
        while (task_step(t) == STEP_DONE) continue;
        task_end(t);
    }
    if (w->once && !w->stopped) results_check(w, node, rank, generation);
    if (!w->stopped) node_show(w, node, rank, generation);
}

static void node_run(World *w, const Node *node, int64_t generation) {
    if (node->kind == NODE_COLLECTIVE) {
        collective_run(w, node, generation);
        return;
    }
    for (int rank = 0; rank < w->ranks; rank++)
        if (world_chosen(w, node, rank, generation)) tasks_run(w, node, rank, generation);
}

static void run_sequential(World *w, int64_t generations) {
    for (int64_t g = 1; g <= generations; g++)
        for (int i = 0; i < w->p->node.n && !w->stopped; i++) node_run(w, w->p->node.p[i], g);
}

static const int64_t *symbol_values(World *w, const int64_t *given) {
    if (given) return given;
    int64_t *sym = ARENA_ARRAY(w->arena, int64_t, w->m->symbol.n);
    for (int i = 0; i < w->m->symbol.n; i++) sym[i] = w->m->symbol.p[i].bound;
    return sym;
}

static void world_mesh(World *w) {
    w->ranks = (int)mesh_ranks(w->m);
    w->coord = arena_alloc(w->arena, sizeof *w->coord * (size_t)w->ranks);
    for (int r = 0; r < w->ranks; r++) mesh_coord(w->m, r, w->coord[r]);
    w->peers = 1;
    for (int a = 0; a < w->m->axis.n; a++)
        if (w->m->axis.p[a].ranks > w->peers) w->peers = (int)w->m->axis.p[a].ranks;
}

/* Nodes that nothing orders but their launches, on one rank. */
static bool has_launches_alone(const World *w) {
    if (w->ranks > 1) return false;
    for (int i = 0; i < w->p->node.n; i++)
        if (w->p->node.p[i]->kind != NODE_CALL || w->p->node.p[i]->when) return false;
    return true;
}

static void world_run(World *w, const InterpOptions *o, Array *io) {
    int64_t generations = o->generations > 0 ? o->generations : 1;
    w->sym = symbol_values(w, o->sym);
    world_mesh(w);
    bool concurrent = o->concurrent && ((w->m->form & FORM_FLAGS) || has_launches_alone(w));
    if (!world_check_arrays(w, io) || !world_check_values(w, io)) return;
    w->view = ARENA_ARRAY(w->arena, View *, w->ranks * w->p->node.n);
    w->team = ARENA_ARRAY(w->arena, Team *, w->ranks * w->p->node.n);
    w->idle = ARENA_ARRAY(w->arena, Task *, w->m->kernel.n);
    if (concurrent) agents_make(w, o);
    world_make_parts(w, io);
    if (o->once && !concurrent) once_make(w);
    world_scatter(w, io);
    if (concurrent)
        agents_run(w, generations);
    else
        run_sequential(w, generations);
    if (!w->watch || !w->stopped) world_gather(w, io);
}

bool interp_run(Arena *arena, const Module *m, const Program *p, const InterpOptions *o, Array *io,
                InterpReport *report) {
    World w = {.arena = arena_new(), .report_arena = arena, .m = m, .p = p, .bounds = o->bounds, .expected = o->expected, .roles = o->roles, .seed = o->seed, .report = report, .watch = o->watch, .prints = o->prints};
    *report = (InterpReport){0};
    world_run(&w, o, io);
    arena_free(w.arena);
    return report->faults == 0;
}
