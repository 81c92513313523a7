/* role_skeleton.c: loops and conditions around the operations on a ring are the same in all roles that use the ring.
   Then as many slots are filled as are read and given back. */
#include "ir/verify/roles.h"

/* A loop, a condition, or an operation on the ring; loops and conditions without such operations are left out. */
typedef struct Bone Bone;
struct Bone {
    const Op *op;
    Bone *in[2], *next;
};

/* What one role and another, or the same, do with a ring. */
typedef struct {
    Verifier *v;
    const Ring *ring;
    const Role *one, *other;
    const char *does, *other_does; /* "put", "get", "free" */
} Match;

static Bone *bones_of(Arena *a, const Region *r, OpKind kind, int ring) {
    Bone *first = NULL, **end = &first;
    for (const Op *op = r ? r->first : NULL; op; op = op->next) {
        Bone b = {.op = op};
        bool own = op->kind == kind && op->ring == ring;
        for (int i = 0; i < 2 && (op->kind == OP_FOR || op->kind == OP_IF); i++)
            b.in[i] = bones_of(a, op->region[i], kind, ring);
        if (!own && !b.in[0] && !b.in[1]) continue;
        *end = arena_copy(a, &b, sizeof b);
        end = &(*end)->next;
    }
    return first;
}

/* ---- one side: bounds and conditions of the task, not of some threads ---- */

static void settled_verify(Verifier *v, const Role *r, const Ring *ring, const Op *op, const Value *x) {
    const Op *stray = scalar_stray(v->k, r, x);
    if (!stray) return;
    const char *around = op->kind == OP_IF ? "a condition" : "a bound";
    if (stray->kind == OP_LOAD)
        violation(v, op->loc, "%s around ring '%s' comes from '%s', which is being written", around, ring->name,
                  v->k->param.p[stray->param].name);
    else
        violation(v, op->loc, "%s around ring '%s' may differ between threads of role '%s'", around, ring->name,
                  r->name);
}

static void shared_verify(Verifier *v, const Ring *ring, const Op *op, const Value *x) {
    for (int t = 0; t < ring->tile.n; t++) {
        int share = ring->tile.p[t].sum ? v->k->roles->cluster_range : ring->tile.p[t].share;
        if (share < 0 || !scalar_follows(x, share)) continue;
        violation(v, op->loc, "ring '%s' is shared along '%s', and %s differs along it", ring->name,
                  v->k->range.p[share].name,
                  op->kind == OP_IF ? "a condition around it" : "a bound of a loop around it");
        return;
    }
}

static void bones_settled(Verifier *v, const Role *r, const Ring *ring, const Bone *b) {
    for (; b; b = b->next) {
        int n = b->op->kind == OP_FOR ? 2 : b->op->kind == OP_IF ? 1 : 0;
        for (int i = 0; i < n; i++) {
            settled_verify(v, r, ring, b->op, b->op->arg.p[i]);
            shared_verify(v, ring, b->op, b->op->arg.p[i]);
        }
        for (int i = 0; i < 2; i++) bones_settled(v, r, ring, b->in[i]);
    }
}

/* ---- two sides ---- */

static const char *what_of(const Bone *b) {
    return !b ? "no " : b->op->kind == OP_FOR ? "a loop around " : b->op->kind == OP_IF ? "a condition around " : "";
}

static void differ(const Match *m, const Op *op, const char *how) {
    violation(m->v, op->loc, "%s around ring '%s' in role '%s' %s in role '%s'",
              op->kind == OP_FOR ? "a loop" : "a condition", m->ring->name, m->other->name, how, m->one->name);
}

static bool loop_matches(const Match *m, const Op *a, const Op *b) {
    const char *how = a->range != b->range ? "is over another range than"
                      : a->down != b->down ? "runs the other way than"
                                           : NULL;
    for (int i = 0; i < 2 && !how; i++)
        if (!scalar_same(m->one, a->arg.p[i], m->other, b->arg.p[i])) how = "has other bounds than";
    if (how) differ(m, b, how);
    return !how;
}

static bool condition_matches(const Match *m, const Op *a, const Op *b) {
    bool good = scalar_same(m->one, a->arg.p[0], m->other, b->arg.p[0]);
    if (!good) differ(m, b, "has another value than");
    return good;
}

static bool bones_match(const Match *m, const Bone *a, const Bone *b, Loc loc) {
    for (; a || b; a = a->next, b = b->next) {
        bool control = a && b && a->op->kind == b->op->kind && op_info[a->op->kind].class == CLASS_CONTROL;
        bool leaf =
            a && b && op_info[a->op->kind].class != CLASS_CONTROL && op_info[b->op->kind].class != CLASS_CONTROL;
        if (!control && !leaf) {
            violation(m->v, b ? b->op->loc : loc, "ring '%s': role '%s' has %s%s, and role '%s' %s%s", m->ring->name,
                      m->one->name, what_of(a), m->does, m->other->name, what_of(b), m->other_does);
            return false;
        }
        loc = b->op->loc;
        if (leaf) continue;
        bool loop = a->op->kind == OP_FOR;
        if (!(loop ? loop_matches : condition_matches)(m, a->op, b->op)) return false;
        for (int i = 0; i < 2; i++)
            if (!bones_match(m, a->in[i], b->in[i], loc)) return false;
    }
    return true;
}

/* ---- rings ---- */

static void reader_verify(Verifier *v, const Match *m, const Bone *puts, int ring) {
    const Bone *gets = bones_of(v->scratch, m->other->body, OP_GET, ring);
    bones_settled(v, m->other, m->ring, gets);
    if (!bones_match(m, puts, gets, m->other->loc)) return;
    const Match own = {v, m->ring, m->other, m->other, "get", "free"};
    bones_match(&own, gets, bones_of(v->scratch, m->other->body, OP_FREE, ring), m->other->loc);
}

/* One writer; where each group of a role has a ring of its own, all who read or the one who fills are of that role. */
static bool users_verify(Verifier *v, const Roles *r, int ring) {
    const Ring *x = &r->ring.p[ring];
    int writers = 0, readers = 0, apart = 0;
    for (int i = 0; i < r->role.n; i++) {
        const Role *role = &r->role.p[i];
        bool puts = role_puts(role, ring), reads = role_reads(role, ring);
        if (puts && writers++)
            violation(v, role->loc, "role '%s' is the second that fills ring '%s'", role->name, x->name);
        readers += reads;
        apart += reads && x->per >= 0 && !role_is_of(r, role, x->per);
    }
    if (!writers || !readers) violation(v, x->loc, "ring '%s' is %s by no role", x->name, writers ? "read" : "filled");
    bool own = x->per < 0 || !writers || role_is_of(r, ring_writer(r, ring), x->per);
    if (!own && apart)
        violation(v, x->loc, "ring '%s' is one for each group of '%s', and filled and read by others", x->name,
                  r->role.p[x->per].name);
    return writers == 1 && readers;
}

/* A role on the threads of another reads what that one has just filled. */
static void within_verify(Verifier *v, const Roles *r, const Role *role, int ring) {
    if (role->in < 0) return;
    if (role_puts(role, ring))
        violation(v, role->loc, "role '%s' fills ring '%s' on the threads of another role", role->name,
                  r->ring.p[ring].name);
    if (role_reads(role, ring) && ring_writer(r, ring) != &r->role.p[role->in])
        violation(v, role->loc, "role '%s' reads ring '%s', which the role around it does not fill", role->name,
                  r->ring.p[ring].name);
}

static void ring_skeleton_verify(Verifier *v, const Roles *r, int ring) {
    const Role *writer = ring_writer(r, ring);
    Match m = {v, &r->ring.p[ring], writer, NULL, "put", "get"};
    const Bone *puts = bones_of(v->scratch, writer->body, OP_PUT, ring);
    bones_settled(v, writer, m.ring, puts);
    for (int i = 0; i < r->role.n; i++) {
        within_verify(v, r, &r->role.p[i], ring);
        m.other = &r->role.p[i];
        if (role_reads(m.other, ring)) reader_verify(v, &m, puts, ring);
    }
}

void ring_skeletons_verify(Verifier *v, const Kernel *k) {
    for (int i = 0; i < k->roles->ring.n; i++)
        if (users_verify(v, k->roles, i)) ring_skeleton_verify(v, k->roles, i);
}
