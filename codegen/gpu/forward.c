/* forward.c: copy forwarding. A kernel that copies by few workgroups sends a matrix of the caller to other ranks. A
   rank's readers take its own rows from the caller's matrix, and nobody copies them. Takes: nodes with flags, in roles.
   Gives: which tensors are read so. The waits that are left out are those for the own rank's copy of an input. */
#include "codegen/gpu/hip.h"
#include "ir/roles.h"

static bool is_own_rank(const Param *p, const Affine *a) {
    const Affine own = affine_term(TERM_RANK, p->ranks, 1, 1);
    return affine_equal(a, &own);
}

/* ---- who sends ---- */

static const Op *only_op(const Kernel *k, OpKind kind) {
    const Op *found = NULL;
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body)) {
        if (op->kind != kind) continue;
        if (found) return NULL;
        found = op;
    }
    return found;
}

/* to[r; i + rank * block, j] = from[i, j], for each rank r */
static bool sends_rows(const Kernel *k, const Op *load, const Op *store) {
    const Param *to = &k->param.p[store->param], *from = &k->param.p[load->param];
    if (to->ndim != 2 || from->ndim != 2 || from->ranks >= 0 || !size_is_number(from->dim[0])) return false;
    const int r = affine_position(&store->sub.p[0].lo), i = affine_position(&load->sub.p[0].lo),
              j = affine_position(&load->sub.p[1].lo);
    if (r != 0 || i < 0 || j < 0 || k->range.p[r].kind != RANGE_POSITION) return false;
    Affine row = affine_term(TERM_RANK, to->ranks, from->dim[0].c, 1), at = affine_term(TERM_POS, i, 1, 1);
    if (!affine_add(&row, &at, 1)) return false;
    return affine_equal(&store->sub.p[1].lo, &row) && affine_position(&store->sub.p[2].lo) == j;
}

/* The tensor that the node sends to this one; -1: it does something else. */
static int sent_tensor(const Program *p, const Node *n, int tensor, int64_t *rows) {
    const Kernel *k = n->kernel;
    const Op *load = only_op(k, OP_LOAD), *store = only_op(k, OP_STORE);
    if (!k->roles || !k->plan.workgroups || !load || !store || n->arg.p[store->param].tensor != tensor) return -1;
    const Arg *from = &n->arg.p[load->param];
    if (p->tensor.p[from->tensor].role != ROLE_INPUT || !arg_is_whole(from) || !sends_rows(k, load, store)) return -1;
    *rows = k->param.p[load->param].dim[0].c;
    return from->tensor;
}

/* ---- who reads ---- */

/* Tiles of it are those of one rank. */
static bool reads_rows(const Kernel *k, const Op *op, int64_t rows) {
    const Param *p = &k->param.p[op->param];
    const int i = affine_position(&op->sub.p[1].lo);
    if (op->kind != OP_COPY || p->ndim != 2 || !is_own_rank(p, &op->sub.p[0].lo)) return false;
    if (i < 0 || !k->range.p[i].grid || range_is_ragged(k, i)) return false;
    return k->range.p[i].kind == RANGE_TILE && rows % k->range.p[i].size == 0;
}

static bool region_reads_rows(const Kernel *k, const Region *r, int param, int64_t rows) {
    for (const Op *op = walk(r); op; op = walk_next(op, r)) {
        const bool accesses = op->kind == OP_LOAD || op->kind == OP_STORE || op->kind == OP_COPY;
        if (accesses && op->param == param && !reads_rows(k, op, rows)) return false;
    }
    return true;
}

static bool by_boxes(const Roles *r, int param) {
    for (int i = 0; i < r->ring.n; i++)
        for (int t = 0; t < r->ring.p[i].tile.n; t++)
            if (r->ring.p[i].tile.p[t].param == param && r->ring.p[i].tile.p[t].fill != FILL_BOX) return false;
    return true;
}

static bool node_reads_rows(const Node *n, int tensor, int64_t rows) {
    const Kernel *k = n->kernel;
    for (int a = 0; a < n->arg.n; a++) {
        if (n->arg.p[a].tensor != tensor) continue;
        if (!k->roles || n->otherwise.n || !by_boxes(k->roles, a)) return false;
        if (!region_reads_rows(k, k->roles->scalars, a, rows)) return false;
        for (int i = 0; i < k->roles->role.n; i++)
            if (!region_reads_rows(k, k->roles->role.p[i].body, a, rows)) return false;
    }
    return true;
}

OwnRows hip_own_rows(const Program *p, int tensor) {
    OwnRows own = {.tensor = -1, .sender = -1};
    if (p->tensor.p[tensor].symmetric < 0) return own;
    for (int i = 0; i < p->node.n && own.sender < 0; i++) {
        own.tensor = sent_tensor(p, p->node.p[i], tensor, &own.rows);
        if (own.tensor >= 0) own.sender = i;
    }
    for (int i = 0; i < p->node.n && own.sender >= 0; i++)
        if (i != own.sender && !node_reads_rows(p->node.p[i], tensor, own.rows))
            own = (OwnRows){.tensor = -1, .sender = -1};
    return own;
}
