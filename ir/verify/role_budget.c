/* role_budget.c: what a workgroup has of registers, memory and barriers is enough for its roles. */
#include "ir/verify/roles.h"

enum {
    GROUP_LANES = 128, /* threads of a group */
    MACHINE_REGS =
        65536,           /* registers of 32 bits of a multiprocessor (CUDA programming guide, compute capability 9.0) */
    LEAST_REGS = 24,     /* of a thread: setmaxnreg (PTX ISA) */
    MOST_REGS = 256,     /* likewise */
    OWN_REGS = 24,       /* of a thread beside its sums: addresses, counters */
    BARRIER_BYTES = 16,  /* of a slot: full and empty (mbarrier, PTX ISA) */
    MEMORY = 228 << 10,  /* bytes of a processor (sm_90a) .. */
    KEPT = 1 << 10,      /* .. of which each workgroup keeps so many (CUDA programming guide, compute capability 9.0) */
    MOST_RESIDENT = 32,  /* workgroups of a processor (likewise) */
    TAKEN = 2,           /* numbers of tasks on their way from the warp that takes tickets */
    TASK_BYTES = 4,      /* of such a number */
    NAMED_BARRIERS = 15, /* beside that of the whole workgroup (PTX ISA, bar.sync) */
};

/* ---- registers ---- */

static void regs_verify(Verifier *v, const Roles *r) {
    int sum = 0;
    for (int i = 0; i < r->regs.n; i++) {
        int n = r->regs.p[i];
        if (n % 8 || n < LEAST_REGS || n > MOST_REGS)
            violation(v, v->k->loc, "%d registers of a thread: they are multiples of 8 from %d to %d", n, LEAST_REGS,
                      MOST_REGS);
        sum += n;
    }
    const int threads = GROUP_LANES * r->regs.n, own = MACHINE_REGS / r->resident,
              given = r->regs.n ? own / threads / 8 * 8 * threads : 0;
    if (sum * GROUP_LANES > given)
        violation(v, v->k->loc, "its groups take %d registers of the %d that %d threads begin with", sum * GROUP_LANES, given,
                  threads);
}

/* Of a tile of the task: elements of one position where the extent is not known. */
static int64_t positions_of(const Kernel *k, int range) {
    const Range *r = &k->range.p[range];
    bool known = r->kind == RANGE_WHOLE && r->grid && size_is_number(r->of);
    return r->kind == RANGE_TILE ? r->size : known ? r->of.c : 1;
}

static int64_t tile_elements(const Kernel *k, Type t) {
    int64_t n = 1;
    for (int i = 0; i < t.nrange; i++) n *= positions_of(k, t.range[i]);
    return n;
}

/* Sums lie in the registers of the role's threads. */
static int64_t regs_of(const Kernel *k, const Role *r, Type t) {
    return tile_elements(k, t) * elem_bits(t.elem) / 32 / ((int64_t)GROUP_LANES * role_groups(r));
}

static bool is_yielded(const Op *loop, const Value *x) {
    const Op *end = loop->region[0]->last;
    for (int i = 0; end && end->kind == OP_YIELD && i < end->arg.n; i++)
        if (end->arg.p[i] == x) return true;
    return false;
}

/* What the loop carries, but for what a loop around it carries there, too. */
static int64_t carried_regs(const Kernel *k, const Role *r, const Op *loop) {
    int64_t n = 0;
    for (int i = 0; i < loop->res.n; i++) {
        const Value *first = loop->arg.p[2 + i];
        bool goes_on = !first->def && first->arg_of->parent && first->arg_of->parent->kind == OP_FOR;
        if (!goes_on) n += regs_of(k, r, loop->res.p[i]->type);
    }
    return n;
}

/* In a run sums of as many iterations live at once as there are turns between a piece and the last one. */
static int iterations_at_once(const Op *loop) {
    int late = 0;
    for (int i = 0; i < loop->turn.n && loop->runs; i++)
        if (loop->turn.p[i].shift > late) late = loop->turn.p[i].shift;
    return 1 + late;
}

/* What the loop and those around it carry lives all along; beside it the largest sums that one iteration makes. */
static int64_t loop_regs(const Kernel *k, const Role *r, const Op *loop) {
    int64_t carried = 0, own = 0;
    for (const Op *op = loop; op; op = op->in->parent)
        if (op->kind == OP_FOR) carried += carried_regs(k, r, op);
    for (const Op *op = walk(loop->region[0]); op; op = walk_next(op, loop->region[0])) {
        int64_t n = op->kind == OP_MMA && op->arg.n < 3 && !is_yielded(loop, op->res.p[0])
                        ? regs_of(k, r, op->res.p[0]->type)
                        : 0;
        if (n > own) own = n;
    }
    return carried + own * iterations_at_once(loop);
}

/* Tiles that a late loop takes from its task live while the next task's products run; packed. */
static int64_t kept_regs(Verifier *v, const Role *r) {
    const Op *late = role_late(r);
    VEC(const Value *) kept = {0};
    int64_t n = 0;
    if (!late) return 0;
    for (const Op *op = walk(late->region[0]); op; op = walk_next(op, late->region[0]))
        for (int i = 0; i < op->arg.n; i++) {
            const Value *x = op->arg.p[i];
            bool known = !x->type.nrange || (x->def && op_within(x->def, late->region[0]));
            for (int j = 0; j < kept.n; j++) known |= kept.p[j] == x;
            if (known) continue;
            vec_push(v->scratch, &kept, x);
            n += regs_of(v->k, r, x->type);
        }
    return n;
}

static void live_verify(Verifier *v, const Roles *roles, const Role *r) {
    const int64_t kept = kept_regs(v, r);
    for (const Op *op = walk(r->body); op && r->first >= 0; op = walk_next(op, r->body)) {
        int64_t n = op->kind == OP_FOR   ? loop_regs(v->k, r, op) + kept
                    : op->kind == OP_MMA ? regs_of(v->k, r, op->res.p[0]->type)
                                         : 0;
        if (n + OWN_REGS <= roles->regs.p[r->first]) continue;
        violation(v, op->loc, "sums of role '%s' take %lld registers of a thread, and %d others; it has %d", r->name,
                  (long long)n, OWN_REGS, roles->regs.p[r->first]);
        return;
    }
}

/* ---- memory and barriers ---- */

static int64_t slot_tile_bytes(const Kernel *k, int ring, int tile) {
    const SlotTile *t = &k->roles->ring.p[ring].tile.p[tile];
    const int along = slot_row(k, ring, tile);
    int64_t row = elem_bits(t->type.elem) * (along < 0 ? 1 : positions_of(k, along));
    return panel_room(t->panel, (row + 7) / 8, tile_elements(k, along < 0 ? t->type : type_without(t->type, along)));
}

static int64_t slot_bytes(const Kernel *k, int ring) {
    int64_t bytes = 0, groups = 1;
    const Ring *r = &k->roles->ring.p[ring];
    const Role *per = r->per >= 0 ? &k->roles->role.p[r->per] : NULL;
    for (int i = 0; i < r->tile.n; i++) {
        bool apart = per && per->split >= 0 && type_has(r->tile.p[i].type, per->split);
        if (per && !apart) groups = role_groups(per);
        const int64_t room = slot_tile_bytes(k, ring, i);
        bytes = slot_place(bytes, room) + room;
    }
    return (slot_room(bytes) + BARRIER_BYTES) * groups;
}

static int64_t ring_bytes(const Kernel *k, int ring) { return k->roles->ring.p[ring].slots * slot_bytes(k, ring); }

/* Between groups that end loops in turn lies a token. */
static int64_t token_bytes(const Role *r) {
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body))
        if (op->ends) return (int64_t)BARRIER_BYTES * (role_groups(r) - 1);
    return 0;
}

static void memory_verify(Verifier *v, const Roles *r) {
    int64_t bytes = 0;
    for (int i = 0; i < r->role.n; i++) bytes += token_bytes(&r->role.p[i]);
    if (r->tasks == TASKS_TICKET) bytes += TAKEN * (BARRIER_BYTES + TASK_BYTES);
    for (int i = 0; i < r->ring.n; i++) {
        const Ring *x = &r->ring.p[i];
        if (x->over >= 0 && ring_bytes(v->k, i) > ring_bytes(v->k, x->over))
            violation(v, x->loc, "ring '%s' takes more bytes than ring '%s', over which it lies", x->name,
                      r->ring.p[x->over].name);
    }
    for (int i = 0; i < r->ring.n; i++)
        if (r->ring.p[i].over < 0) bytes += ring_bytes(v->k, i);
    const int most = MEMORY / r->resident - KEPT;
    if (bytes > most) violation(v, v->k->loc, "its rings take %lld bytes; a workgroup has %d", (long long)bytes, most);
}

static bool takes_turns(const Role *r) {
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body))
        for (int i = 0; i < op->turn.n; i++)
            if (op->turn.p[i].alone) return true;
    return false;
}

static bool is_written(const Ring *r) {
    for (int i = 0; i < r->tile.n; i++)
        if (r->tile.p[i].fill == FILL_THREADS) return true;
    return false;
}

/* A group has one for the pieces that it runs alone, and one for each ring that its threads write. */
static void barriers_verify(Verifier *v, const Roles *r) {
    int n = 0;
    for (int i = 0; i < r->role.n; i++) n += takes_turns(&r->role.p[i]) ? role_groups(&r->role.p[i]) : 0;
    for (int i = 0; i < r->ring.n; i++) n += is_written(&r->ring.p[i]) ? role_groups(ring_writer(r, i)) : 0;
    if (n > NAMED_BARRIERS)
        violation(v, v->k->loc, "its roles take %d named barriers; a workgroup has %d", n, NAMED_BARRIERS);
}

void role_budget_verify(Verifier *v, const Kernel *k) {
    int before = v->violations;
    if (k->roles->resident < 1 || k->roles->resident > MOST_RESIDENT) {
        violation(v, k->loc, "a processor holds 1 to %d workgroups, not %d", MOST_RESIDENT, k->roles->resident);
        return;
    }
    regs_verify(v, k->roles);
    for (int i = 0; i < k->roles->role.n && v->violations == before; i++)
        live_verify(v, k->roles, &k->roles->role.p[i]);
    memory_verify(v, k->roles);
    barriers_verify(v, k->roles);
}
