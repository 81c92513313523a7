/* world.c: the parts, views and tasks of a world, and the report of its faults. */
#include "ir/interp/team.h"

enum { FAULTS_KEPT = 16 };

Part *world_part(const World *w, int rank, int tensor) { return &w->part[rank * w->p->tensor.n + tensor]; }

InterpTask task_id(const Task *t) {
    const Member *m = t->member;
    const Queue *q = t->worker ? t->worker->queue : NULL;
    return (InterpTask){.rank = t->rank,
                        .generation = t->generation,
                        .node = t->node->id,
                        .task = t->linear,
                        .role = m ? m->role->name : NULL,
                        .group = m && m->role->split >= 0 ? m->group : -1,
                        .ring = q ? q->ring->name : NULL};
}

static bool fault_known(const InterpReport *r, const InterpFault *f) {
    for (int i = 0; i < r->fault.n; i++) {
        const InterpFault *g = &r->fault.p[i];
        if (g->kind == f->kind && g->tensor == f->tensor && g->flag == f->flag && g->at.node == f->at.node &&
            g->other.node == f->other.node && g->at.role == f->at.role && g->at.group == f->at.group && g->ring == f->ring)
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
