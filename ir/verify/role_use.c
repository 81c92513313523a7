/* role_use.c: which roles fill a ring, and which read it. */
#include "ir/verify/roles.h"

static int role_count(const Role *r, OpKind kind, int ring) {
    int n = 0;
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body)) n += op->kind == kind && op->ring == ring;
    return n;
}

int role_puts(const Role *r, int ring) { return role_count(r, OP_PUT, ring); }

int role_reads(const Role *r, int ring) { return role_count(r, OP_GET, ring) + role_count(r, OP_FREE, ring); }

int role_groups(const Role *r) { return r->first >= 0 ? r->last - r->first + 1 : 1; }

bool role_is_of(const Roles *roles, const Role *r, int role) { return r == &roles->role.p[role] || r->in == role; }

const Role *ring_writer(const Roles *roles, int ring) {
    for (int i = 0; i < roles->role.n; i++)
        if (role_puts(&roles->role.p[i], ring)) return &roles->role.p[i];
    return NULL;
}
