/* match_product.c: the product of two matrices, and what is done with its sums, element by element, before they are
 * stored. */
#include "target/match.h"

static bool is_plain_matrix(const Op *access, int row, int column) {
    return access->sub.n == 2 && match_is_pos(&access->sub.p[0].lo, row) && match_is_pos(&access->sub.p[1].lo, column);
}

static bool is_zero(const Value *v) {
    double n;
    return match_number(v, &n) && n == 0;
}

static bool grid_fits(const Kernel *k) {
    if (k->ngrid != 2) return false;
    for (int i = 0; i < 2; i++)
        if (k->range.p[i].kind != RANGE_TILE || k->range.p[i].owner >= 0 || !size_is_number(k->range.p[i].of))
            return false;
    return true;
}

/* ---- the loop: sums of a[i, p] * b over all p, and nothing else ---- */

static const Op *only_loop(const Kernel *k) {
    const Op *found = NULL;
    for (const Op *op = k->body->first; op; op = op->next) {
        if (op->kind != OP_FOR) continue;
        if (found) return NULL;
        found = op;
    }
    return found;
}

static const Op *loop_product(const Op *loop) {
    const Region *r = loop->region[0];
    const Op *dot = loop->res.n == 1 && is_zero(loop->arg.p[2]) ? match_op(r->last->arg.p[0], OP_DOT) : NULL;
    int ops = 0;
    for (const Op *op = r->first; op; op = op->next) ops++;
    return dot && ops == 4 && dot->arg.n == 3 && dot->arg.p[2] == r->arg.p[0] ? dot : NULL;
}

static bool is_matrix(const Param *p) { return p->ndim == 2 && p->ranks < 0 && !p->inout && !p->packet; }

static bool param_fits(const Param *p, Size rows, Size columns) {
    return is_matrix(p) && size_equal(p->dim[0], rows) && size_equal(p->dim[1], columns);
}

/* b[p, j]: rows that it has not got are 0, columns behind those of the result are not looked at. */
static bool rows_fit(const Param *b, int64_t depth, int64_t columns) {
    return is_matrix(b) && size_is_number(b->dim[0]) && size_is_number(b->dim[1]) && b->dim[0].c <= depth &&
           b->dim[1].c >= columns;
}

static bool operands_fit(const Kernel *k, Product *f, const Op *dot) {
    const Op *a = match_op(dot->arg.p[0], OP_LOAD), *b = match_op(dot->arg.p[1], OP_LOAD);
    Size m = k->range.p[0].of, n = k->range.p[1].of;
    if (!a || !b || dot->nover != 1 || dot->over[0] != f->loop->range) return false;
    f->a = a->param, f->b = b->param;
    f->across = is_plain_matrix(b, f->loop->range, 1);
    const Param *pa = &k->param.p[f->a], *pb = &k->param.p[f->b];
    if (pa->ndim != 2 || !size_is_number(pa->dim[1])) return false;
    f->depth = pa->dim[1].c;
    if (!param_fits(pa, m, pa->dim[1]) || !is_plain_matrix(a, 0, f->loop->range)) return false;
    if (f->across) return rows_fit(pb, f->depth, n.c);
    return param_fits(pb, n, pa->dim[1]) && is_plain_matrix(b, 1, f->loop->range);
}

static bool loop_is_whole(const Product *f) {
    double end;
    return is_zero(f->loop->arg.p[0]) && match_number(f->loop->arg.p[1], &end) && end == (double)f->depth;
}

/* ---- what follows: one store, of what is made of the sums and of elements at the same place ---- */

/* Each subscript is the position of a range of the grid that is as long as the dimension. */
static bool loads_in_place(const Kernel *k, const Op *load) {
    const Param *p = &k->param.p[load->param];
    if (p->ranks >= 0 || p->packet || p->out || p->inout || elem_is_packed(p->elem) || p->ndim > 2) return false;
    for (int d = 0; d < load->sub.n; d++) {
        int range = match_is_pos(&load->sub.p[d].lo, 0) ? 0 : 1;
        if (!match_is_pos(&load->sub.p[d].lo, range) || !size_equal(p->dim[d], k->range.p[range].of)) return false;
    }
    return true;
}

static bool follows(const Kernel *k, const Op *op) {
    switch (op_info[op->kind].class) {
    case CLASS_CONST:
    case CLASS_UNARY:
    case CLASS_BINARY:
    case CLASS_COMPARE:
    case CLASS_SELECT:
    case CLASS_CAST:
    case CLASS_BROADCAST: return true;
    case CLASS_MEMORY: return op->kind == OP_STORE || loads_in_place(k, op);
    default: return false;
    }
}

static bool find_store(const Kernel *k, Product *f) {
    int stores = 0;
    for (const Op *op = k->body->first; op; op = op->next) {
        if (op != f->loop && !follows(k, op)) return false;
        if (op->kind != OP_STORE) continue;
        f->store = op;
        stores++;
    }
    if (stores != 1 || f->store->mode != STORE_SET || !is_plain_matrix(f->store, 0, 1)) return false;
    f->c = f->store->param;
    return param_fits(&k->param.p[f->c], k->range.p[0].of, k->range.p[1].of);
}

const char *product_match(const Kernel *k, Product *f) {
    *f = (Product){0};
    f->loop = grid_fits(k) ? only_loop(k) : NULL;
    const Op *dot = f->loop ? loop_product(f->loop) : NULL;
    if (!dot || !operands_fit(k, f, dot) || !loop_is_whole(f)) return "";
    if (!find_store(k, f)) return "what is done with the sums is not done element by element, and stored once";
    f->plain = f->store->arg.p[0] == f->loop->res.p[0];
    return NULL;
}
