/* roles_ahead.c: what the role that copies does while the launch before ends: it brings tiles that may come early, such as
   weights, to the first slots of their ring. The other tiles of these slots come behind tile_follow. */
#include "codegen/gpu/roles.h"

static bool is_early(const RoleText *r, const Kernel *k, const Op *put, const Op *copy) {
    const SlotTile *t = &k->roles->ring.p[put->ring].tile.p[copy->slot];
    return t->early && gpu_reads_early(r->launch, r->program, t->param);
}

void hip_role_ahead(RolesWriter *w) {
    const RoleText text = {.launch = w->launch, .program = w->p};
    for (int i = 0; i < w->roles->ring.n; i++) {
        const Op *put = ring_is_early(&w->roles->ring.p[i]) ? ring_first_put(w->roles, i) : NULL;
        for (const Op *op = put ? put->region[0]->first : NULL; op; op = op->next)
            if (op->kind == OP_COPY && is_early(&text, w->k, put, op)) w->ahead = put;
    }
    w->launch->early = w->ahead != NULL;
}

bool hip_role_is_ahead(const Fn *f, const Op *copy) {
    const RoleText *r = f->hip->role;
    return r->ahead && r->filling == r->ahead && is_early(r, f->k, r->filling, copy);
}

/* What the launch before makes comes to all slots behind the wait, others to those that are left. */
const char *hip_role_copy_when(Fn *f, const Op *op) {
    return hip_role_is_ahead(f, op) && !f->hip->role->before ? "if (ahead == 0) " : "";
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
