/* roles_sync.c: what roles have to do with other ranks: waits and signals of their lanes, and maps of peers' memory.
   A lane that waits goes on when it gives up: it copies zeros, and the end of the run spoils the results. */
#include "codegen/gpu/roles.h"
#include "codegen/text/program.h"
#include "codegen/text/step.h"

#include <inttypes.h>
#include <string.h>

static const char *scope_text(SyncScope s) { return s == SCOPE_SYSTEM ? "TILE_SYSTEM" : "TILE_DEVICE"; }

const char *hip_role_exists(const Fn *f) {
    const Roles *r = f->k->roles;
    int64_t n;
    if (r->cluster < 2 || r->cluster_range < 0 || cexpr_const(f->range[r->cluster_range].count, &n)) return NULL;
    return fn_text((Fn *)f, "%s > 0", f->range[r->cluster_range].count->text);
}

/* ---- waits: each lane of the role polls ---- */

static const char *each(Fn *f, const char *name, const CExpr *from, const CExpr *past) {
    return fn_text(f, "for (int64_t %s = %s; %s < %s; %s++) {", name, from->text, name, past->text, name);
}

static void begin(Fn *f, const Op *op) { (void)f, (void)op; }

/* It is of rows that nobody sends to their own rank. */
static bool waits_for_others(const Fn *f, const Flag *flag) {
    for (int a = 0; a < f->node->arg.n; a++)
        if (hip_own_rows(f->p, f->node->arg.p[a].tensor).sender == flag->producer) return true;
    return false;
}

static void poll(Fn *f, const Poll *p) {
    const Flag *flag = &f->p->flag.p[p->op->flag];
    const char *when = waits_for_others(f, flag) ? fn_text(f, "if (%s != t->rank) ", p->from) : "";
    fn_line(f, "%slost = lost || tile_poll(t, &%s, %s, %s, %s, %s, number);", when, p->word, p->want,
            scope_text(flag->scope), p->flag, p->from);
}

static bool is_of(const Op *op, OpKind kind) { return op && op->kind == kind; }

/* Waits that follow each other have one fence. */
static void end(Fn *f, const Op *op) {
    if (!is_of(op->next, OP_WAIT)) fn_line(f, "tile_async_fence_all();");
}

/* ---- signals, by the lane that has stored ---- */

static int publish_begin(Fn *f, SyncScope scope) {
    fn_line(f, "tile_fence_release(%s);", scope_text(scope));
    return 0;
}

static const char *publish(Fn *f, const char *word, SyncScope scope) {
    return fn_text(f, "tile_publish(&%s, generation, %s);", word, scope_text(scope));
}

static const char *arrive(Fn *f, const char *count, const char *arrivals, SyncScope scope) {
    return fn_text(f, "tile_arrive_alone(&%s, %s, %s)", count, arrivals, scope_text(scope));
}

const SyncBackend hip_role_sync = {
    .generation = "generation",
    .each = each,
    .begin = begin,
    .poll = poll,
    .end = end,
    .publish_begin = publish_begin,
    .publish = publish,
    .arrive = arrive,
};

/* ---- steps ---- */

static bool can_synchronise(Fn *f, const Op *op) {
    if (hip_role_now(f)->lanes == 1) return true;
    fn_unsupported(f, op->loc, fn_text(f, "%s in a role of several threads", op_phrase(op->kind)));
    return false;
}

/* A workgroup without a tile has nothing to signal. It waits for what it copies for others of its cluster: for the
   words that are the same for all of them. */
void hip_role_synchronise(Fn *f, const Op *op) {
    const bool own = op->kind == OP_SIGNAL || words_follow(op, f->k->roles->cluster_range);
    const char *exists = own ? hip_role_exists(f) : NULL;
    if (!can_synchronise(f, op)) return;
    if (op->kind == OP_SIGNAL && !is_of(op->prev, OP_SIGNAL)) fn_line(f, "tile_tma_wait();");
    if (exists) {
        fn_line(f, "if (%s) {", exists);
        f->indent++;
    }
    (op->kind == OP_WAIT ? emit_wait : emit_signal)(f, op);
    if (!exists) return;
    f->indent--;
    fn_line(f, "}");
}

static bool waits_in(const Role *r) {
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body))
        if (op->kind == OP_WAIT) return true;
    return false;
}

/* A row of a copy of what the role has waited for. */
const CExpr *hip_role_row(Fn *f, const Op *copy, const CExpr *row) {
    const char *own = f->hip->role->own[copy->param], *name = cexpr_operand(f, row)->text;
    if (f->k->param.p[copy->param].ranks < 0) return row;
    if (waits_in(hip_role_now(f))) row = cexpr_open(f, "lost ? TILE_OUTSIDE : %s", name);
    if (!own) return row;
    const OwnRows rows = hip_own_rows(f->p, f->node->arg.p[copy->param].tensor);
    return cexpr_open(f, "%s ? %s %% %" PRId64 " : %s", own, name, rows.rows, row->text);
}

/* ---- rows of this rank, which lie in the caller's memory ---- */

static void own_line(Fn *f, const Op *copy) {
    const Param *p = &f->k->param.p[copy->param];
    const OwnRows rows = hip_own_rows(f->p, f->node->arg.p[copy->param].tensor);
    if (rows.tensor < 0 || rows.sender == f->node->id || f->hip->role->own[copy->param]) return;
    const int i = affine_position(&copy->sub.p[1].lo);
    const int64_t tiles = rows.rows / f->k->range.p[i].size;
    const char *index = f->range[i].index->text, *name = c_name(&f->names, fn_text(f, "own_%s", f->param[copy->param]));
    f->hip->role->own[copy->param] = name;
    fn_line(f, "const bool %s = %s == t->coord[%d]; /* of this rank's rows */", name,
            tiles == 1 ? index : fn_text(f, "%s / %" PRId64, index, tiles), p->ranks);
}

void hip_role_own(Fn *f, const Role *r) {
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body))
        if (op->kind == OP_COPY && f->k->param.p[op->param].ranks >= 0) own_line(f, op);
}

void hip_role_constants(Fn *f) {
    const Constants own = f->head;
    f->head = (Constants){0};
    fn_constant_of(f, "tile_gpu_task *const", "t", "call.task");
    fn_constant_of(f, "uint64_t", "generation", "tile_generation(t)");
    for (int i = 0; i < own.n; i++) vec_push(f->arena, &f->head, own.p[i]);
}

/* ---- maps of symmetric tensors: one for each copy of the tensor, of each rank that is named ---- */

static bool same_map(const GpuMap *a, const GpuMap *b) {
    return memcmp(a->box, b->box, sizeof a->box) == 0 && a->few == b->few && a->swizzle == b->swizzle &&
           a->symmetric == b->symmetric && a->first == b->first && a->stores == b->stores && a->pixels == b->pixels &&
           memcmp(a->begin, b->begin, sizeof a->begin) == 0 && memcmp(a->step, b->step, sizeof a->step) == 0 &&
           memcmp(a->count, b->count, sizeof a->count) == 0;
}

static int map_number(Fn *f, const Op *op, const GpuMap *m) {
    RoleText *r = f->hip->role;
    GpuLaunch *l = r->launch;
    for (int i = 0; i < l->nmap; i++)
        if (r->map[i] == op->param && same_map(&l->map[i], m)) return i;
    if (l->nmap == GPU_MAPS) {
        fn_unsupported(f, op->loc, "a kernel that copies so many different boxes");
        return 0;
    }
    r->map[l->nmap] = op->param;
    l->map[l->nmap] = *m;
    return l->nmap++;
}

static bool is_own_rank(const Param *p, const Affine *rank) {
    Affine own = affine_term(TERM_RANK, p->ranks, 1, 1);
    return affine_equal(rank, &own);
}

/* The number of the rank; a workgroup without a tile names one, too. */
static const char *rank_text(Fn *f, const Op *op) {
    const Param *p = &f->k->param.p[op->param];
    Nest n = nest_new(f, NULL, 0);
    const CExpr *coord = nest_affine(&n, &op->sub.p[0].lo);
    nest_print(&n);
    if (hip_role_exists(f))
        coord = cexpr_call(f, "tile_least(%" PRId64 ", %s)", f->m->axis.p[p->ranks].ranks - 1, coord->text);
    return peer_text(f, p->ranks, coord)->text;
}

static int mesh_size(const Module *m) {
    int n = 1;
    for (int i = 0; i < m->axis.n; i++) n *= (int)m->axis.p[i].ranks;
    return n;
}

/* The number of the map of the caller's tensor. */
static int own_map(Fn *f, const Op *copy, const GpuMap *like) {
    const OwnRows rows = hip_own_rows(f->p, f->node->arg.p[copy->param].tensor);
    GpuMap m = *like;
    m.arg = f->memory->arg[rows.tensor], m.symmetric = 0, m.first = 0;
    m.dim[m.ndim - 2] = size_number(rows.rows);
    return map_number(f, copy, &m);
}

const char *hip_role_map(Fn *f, const Op *op, GpuMap *m) {
    const Param *p = &f->k->param.p[op->param];
    const Tensor *t = &f->p->tensor.p[f->node->arg.p[op->param].tensor];
    const bool own = p->ranks >= 0 && is_own_rank(p, &op->sub.p[0].lo);
    const int peers = own ? 1 : mesh_size(f->m);
    m->stores = op->kind == OP_STORE;
    if (p->ranks < 0) return fn_text(f, "%d", map_number(f, op, m));
    const GpuMap like = *m;
    m->symmetric = own ? MAP_OWN : 1;
    const int64_t first = m->first;
    const int number = map_number(f, op, m);
    for (int i = 1; i < peers * t->slots; i++) {
        m->symmetric = own ? MAP_OWN : 1 + i / t->slots;
        m->first = first + i % t->slots * f->memory->bytes[t->id];
        map_number(f, op, m);
    }
    const char *slot = t->slots > 1 ? fn_text(f, " + (int)(generation %% %d)", t->slots) : "";
    if (own && f->hip->role->own[op->param])
        return fn_text(f, "%s ? %d : %d%s", f->hip->role->own[op->param], own_map(f, op, &like), number, slot);
    if (own) return fn_text(f, "%d%s", number, slot);
    return fn_text(f, "%d + %d * (int)(%s)%s", number, t->slots, rank_text(f, op), slot);
}
