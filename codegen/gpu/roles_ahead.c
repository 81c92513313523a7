/* roles_ahead.c: what the role that copies does while the launch before ends: it brings constant tensors, such as
   weights, to the first slots of its ring. The other tiles of these slots come behind tile_follow. */
#include "codegen/gpu/roles.h"

static bool is_early(const RolesWriter *w, const Op *copy) { return gpu_reads_early(w->launch, w->p, copy->param); }

static bool copies_early(const RolesWriter *w, const Op *put) {
    for (const Op *op = put->region[0]->first; op; op = op->next)
        if (op->kind == OP_COPY && is_early(w, op)) return true;
    return false;
}

/* Puts of a ring in a region, and in those within. */
static int count_puts(const Region *r, int ring) {
    int n = 0;
    for (const Op *op = walk(r); op; op = walk_next(op, r)) n += op->kind == OP_PUT && op->ring == ring;
    return n;
}

/* The first slots of a workgroup are filled by this put alone: the loops around it have no other one of the ring. */
static bool comes_first(const Region *body, const Op *put) {
    const Op *outer = NULL;
    for (const Op *op = put->in->parent; op; op = op->in->parent) {
        if (op->kind != OP_FOR) return false;
        outer = op;
    }
    for (const Op *op = walk(body); op && op != put; op = walk_next(op, body))
        if (op->kind == OP_PUT && op->ring == put->ring) return false;
    return !outer || count_puts(outer->region[0], put->ring) == 1;
}

/* Bounds and places that are read from memory are known behind the wait. */
static bool reads_memory(const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == OP_LOAD || op->kind == OP_GROUP || op->kind == OP_GET) return true;
    return false;
}

static const Op *put_ahead(const RolesWriter *w, int role) {
    const Role *r = &w->roles->role.p[role];
    if (r->lanes != 1 || reads_memory(r->body)) return NULL;
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body)) {
        if (op->kind != OP_PUT) continue;
        const RingFacts *ring = &w->facts.ring[op->ring];
        if (ring->boxed && ring->puts == 1 && comes_first(r->body, op) && copies_early(w, op)) return op;
    }
    return NULL;
}

void hip_role_ahead(RolesWriter *w) {
    if (w->facts.take.full >= 0 || reads_memory(w->roles->scalars)) return;
    for (int i = 0; i < w->roles->role.n && !w->ahead; i++) w->ahead = put_ahead(w, i);
    w->launch->early = w->ahead != NULL;
}

bool hip_role_is_ahead(const RoleText *r, const Op *copy) {
    return r->ahead && r->filling == r->ahead && gpu_reads_early(r->launch, r->program, copy->param);
}

/* What the launch before makes comes to all slots behind the wait, others to those that are left. */
const char *hip_role_copy_when(Fn *f, const Op *op) {
    return hip_role_is_ahead(f->hip->role, op) && !f->hip->role->before ? "if (ahead == 0) " : "";
}

bool op_has(const Op *op, const Op *inner) {
    for (; inner; inner = inner->in->parent)
        if (inner == op) return true;
    return false;
}

int hip_role_of(const Roles *r, const Op *op) {
    const Region *body = op->in;
    while (body->parent) body = body->parent->in;
    for (int i = 0; i < r->role.n; i++)
        if (r->role.p[i].body == body) return i;
    return -1;
}
