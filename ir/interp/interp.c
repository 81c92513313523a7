/* interp.c: one run: the world is set up, nodes are executed, results gathered and faults reported.
   Takes a verified module and global arrays. Sequential meaning: program order, every rank completing a node first. */
#include "ir/interp/state.h"

#include <stdio.h>
#include <string.h>

enum { FAULTS_KEPT = 16 };

Part *world_part(const World *w, int rank, int tensor) { return &w->part[rank * w->p->tensor.n + tensor]; }

InterpTask task_id(const Task *t) {
    return (InterpTask){.rank = t->rank, .generation = t->generation, .node = t->node->id, .task = t->linear};
}

static bool fault_known(const InterpReport *r, const InterpFault *f) {
    for (int i = 0; i < r->fault.n; i++) {
        const InterpFault *g = &r->fault.p[i];
        if (g->kind == f->kind && g->tensor == f->tensor && g->flag == f->flag && g->at.node == f->at.node &&
            g->other.node == f->other.node)
            return true;
    }
    return false;
}

void world_fault(World *w, InterpFault f) {
    w->report->faults++;
    if (w->report->fault.n < FAULTS_KEPT && !fault_known(w->report, &f))
        vec_push(w->report_arena, &w->report->fault, f);
}

void world_invalid(const Task *t, const char *text) {
    world_fault(t->w, (InterpFault){.kind = FAULT_INVALID,
                                    .at = task_id(t),
                                    .other.rank = -1,
                                    .tensor = -1,
                                    .element = -1,
                                    .flag = -1,
                                    .text = text});
}

/* Behind the dimensions that agree, extents are those of the parameter: numbers, dense and row-major. */
static void view_reshape(View *v, const Arg *arg, const Param *p) {
    int64_t stride = 1;
    for (int d = p->ndim - 1; d >= arg_same_dims(v->part->t, arg, p); d--) {
        v->dim[d] = p->dim[d].c;
        v->stride[d] = stride;
        stride *= p->dim[d].c;
    }
}

static View view_of(const World *w, const Arg *arg, const Param *p, Part *part) {
    View v = {.part = part};
    for (int d = 0; d < arg->lead; d++) v.offset += arg->at[d] * part->stride[d];
    for (int d = arg->lead; d < part->t->ndim; d++) {
        Size s = part->t->dim[d];
        v.dim[d - arg->lead] = part->dim[d];
        v.stride[d - arg->lead] = part->stride[d];
        if (arg->slice[d] < 0) continue;
        const int *coord = w->coord[part->rank];
        Size own = size_split(s, arg->slice[d]);
        v.dim[d - arg->lead] = size_eval(w->m, own, w->sym, coord);
        v.offset += (size_origin(w->m, own, w->sym, coord) - size_origin(w->m, s, w->sym, coord)) * part->stride[d];
    }
    if (arg->view) view_reshape(&v, arg, p);
    return v;
}

const View *world_view(World *w, int rank, const Node *node) {
    View **slot = &w->view[rank * w->p->node.n + node->id];
    if (*slot) return *slot;
    *slot = ARENA_ARRAY(w->arena, View, node->arg.n * w->peers);
    for (int i = 0; i < node->arg.n; i++) {
        int axis = node->kernel->param.p[i].ranks;
        int64_t peers = axis < 0 ? 1 : w->m->axis.p[axis].ranks;
        for (int64_t p = 0; p < peers; p++) {
            int home = axis < 0 ? rank : mesh_rank_along(w->m, rank, axis, p);
            (*slot)[i * w->peers + p] = view_of(w, &node->arg.p[i], &node->kernel->param.p[i], world_part(w, home, node->arg.p[i].tensor));
        }
    }
    return *slot;
}

int64_t world_tasks(const World *w, const Node *node) {
    int64_t n = 1;
    if (node->kind != NODE_CALL) return 0;
    for (int i = 0; i < node->kernel->ngrid; i++) n *= range_tiles(w->m, node->kernel, i, w->sym);
    return n;
}

bool world_chosen(World *w, const Node *node, int rank, int64_t generation) {
    if (!node->when) return true;
    const Part *p = world_part(w, rank, node->when - 1);
    return *(const bool *)p->copy[generation % p->t->slots].data;
}

static void results_check(World *w, const Node *node, int rank, int64_t generation) {
    InterpTask at = {.rank = rank, .generation = generation, .node = node->id};
    InterpFault f;
    for (int i = 0; i < node->arg.n; i++)
        if (once_broken(w, node, i, at, &f)) world_fault(w, f);
}

static void tasks_run(World *w, const Node *node, int rank, int64_t generation) {
    if (w->once) once_begin(w, node, world_view(w, rank, node));
    for (int64_t i = 0, n = world_tasks(w, node); i < n; i++) {
        Task *t = task_begin(w, node, rank, generation, i);
        while (task_step(t) == STEP_DONE) continue;
        task_end(t);
    }
    if (w->once) results_check(w, node, rank, generation);
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
        for (int i = 0; i < w->p->node.n; i++) node_run(w, w->p->node.p[i], g);
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

static void world_run(World *w, const InterpOptions *o, Array *io) {
    int64_t generations = o->generations > 0 ? o->generations : 1;
    bool concurrent = o->concurrent && (w->m->form & FORM_FLAGS);
    w->sym = symbol_values(w, o->sym);
    world_mesh(w);
    if (!world_check_arrays(w, io) || !world_check_values(w, io)) return;
    if (concurrent) agents_make(w, o);
    world_make_parts(w, io);
    w->view = ARENA_ARRAY(w->arena, View *, w->ranks * w->p->node.n);
    w->idle = ARENA_ARRAY(w->arena, Task *, w->m->kernel.n);
    if (o->once && !concurrent) once_make(w);
    world_scatter(w, io);
    if (concurrent)
        agents_run(w, generations);
    else
        run_sequential(w, generations);
    world_gather(w, io);
}

bool interp_run(Arena *arena, const Module *m, const Program *p, const InterpOptions *o, Array *io,
                InterpReport *report) {
    World w = {.arena = arena_new(), .report_arena = arena, .m = m, .p = p, .bounds = o->bounds, .expected = o->expected, .report = report};
    *report = (InterpReport){0};
    world_run(&w, o, io);
    arena_free(w.arena);
    return report->faults == 0;
}
