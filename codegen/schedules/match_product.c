/* match_product.c: the product of two matrices, or of one with two others, and what is done with its sums, element by
 * element, before they are stored. */
#include "codegen/schedules/match.h"

static bool is_at(const Op *access, int first, int row, int column) {
    return access->sub.n == first + 2 && match_is_pos(&access->sub.p[first].lo, row) &&
           match_is_pos(&access->sub.p[first + 1].lo, column);
}

static bool is_plain_matrix(const Op *access, int row, int column) { return is_at(access, 0, row, column); }

static bool is_zero(const Value *v) {
    double n;
    return match_number(v, &n) && n == 0;
}

/* Parts are those of a kernel that had a schedule before it was cut. */
static bool grid_fits(const Kernel *k, Product *f) {
    bool part = k->plan.schedule && k->ngrid == 3 && k->range.p[0].kind == RANGE_POSITION;
    if (!part && k->ngrid != 2) return false;
    f->row = part ? 1 : 0;
    f->parts = part ? k->range.p[0].of.c : 1;
    for (int i = f->row; i < k->ngrid; i++)
        if (k->range.p[i].kind != RANGE_TILE || k->range.p[i].owner >= 0 || !size_is_number(k->range.p[i].of))
            return false;
    return true;
}

/* ---- the loop: sums of a[i, p] * b over all p, of one a, and nothing else ---- */

static const Op *only_loop(const Kernel *k) {
    const Op *found = NULL;
    for (const Op *op = k->body->first; op; op = op->next) {
        if (op->kind != OP_FOR) continue;
        if (found) return NULL;
        found = op;
    }
    return found;
}

/* What is added to a sum in a step. */
static const Op *sum_product(const Op *loop, int sum) {
    const Region *r = loop->region[0];
    const Op *dot = is_zero(loop->arg.p[sum + 2]) ? match_op(r->last->arg.p[sum], OP_DOT) : NULL;
    return dot && dot->arg.n == 3 && dot->arg.p[2] == r->arg.p[sum] ? dot : NULL;
}

/* For each sum a product, and loads; a may be loaded for each. */
static bool has_products_alone(const Op *loop) {
    int products = 0;
    for (const Op *op = loop->region[0]->first; op->kind != OP_YIELD; op = op->next) {
        if (op->kind != OP_DOT && op->kind != OP_LOAD) return false;
        products += op->kind == OP_DOT;
    }
    return products >= 1 && products <= MOST_SUMS && products == loop->res.n;
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

static bool a_fits(const Kernel *k, Product *f, const Op *a) {
    const Param *p = &k->param.p[f->a];
    if (p->ndim != 2 || !size_is_number(p->dim[1])) return false;
    f->depth = p->dim[1].c;
    return param_fits(p, k->range.p[f->row].of, p->dim[1]) && is_plain_matrix(a, f->row, f->loop->range);
}

static bool b_fits(const Kernel *k, const Product *f, const Op *b) {
    const Param *p = &k->param.p[b->param];
    Size n = k->range.p[f->row + 1].of;
    if (f->b_is_kn) return rows_fit(p, f->depth, n.c) && is_plain_matrix(b, f->loop->range, f->row + 1);
    return param_fits(p, n, size_number(f->depth)) && is_plain_matrix(b, f->row + 1, f->loop->range);
}

static bool sum_fits(const Kernel *k, Product *f, int sum) {
    const Op *dot = sum_product(f->loop, sum);
    const Op *a = dot ? match_op(dot->arg.p[0], OP_LOAD) : NULL, *b = dot ? match_op(dot->arg.p[1], OP_LOAD) : NULL;
    if (!a || !b || dot->nover != 1 || dot->over[0] != f->loop->range || (sum && a->param != f->a)) return false;
    f->a = a->param, f->b[sum] = b->param;
    if (!sum) f->b_is_kn = is_plain_matrix(b, f->loop->range, f->row + 1);
    return a_fits(k, f, a) && b_fits(k, f, b);
}

static bool sums_fit(const Kernel *k, Product *f) {
    if (!has_products_alone(f->loop)) return false;
    f->sums = f->loop->res.n;
    for (int i = 0; i < f->sums; i++)
        if (!sum_fits(k, f, i)) return false;
    return true;
}

static bool number_of(const Value *v, int64_t *n) {
    double x;
    if (!match_number(v, &x)) return false;
    *n = (int64_t)x;
    return true;
}

/* Positions from part * share on, to the next part's or the last (split/cut.c). */
static bool loop_is_part(Product *f) {
    const Op *from = match_op(f->loop->arg.p[0], OP_MUL), *to = match_op(f->loop->arg.p[1], OP_MIN);
    if (!to) to = match_op(f->loop->arg.p[1], OP_ADD);
    return from && to && match_op(from->arg.p[0], OP_POS) && number_of(from->arg.p[1], &f->share);
}

static bool loop_is_whole(Product *f) {
    double end;
    f->share = f->depth;
    return is_zero(f->loop->arg.p[0]) && match_number(f->loop->arg.p[1], &end) && end == (double)f->depth;
}

/* ---- what follows: a store, or one for each sum, of what is made of the sums and of elements at the same place ----
 */

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
    OpClass class = op_info[op->kind].class;
    if (class == CLASS_MEMORY) return op->kind == OP_STORE || loads_in_place(k, op);
    bool part = op->kind == OP_POS && k->ngrid > 2; /* its number */
    return class == CLASS_CONST || op_is_elementwise(op) || part;
}

static bool take_store(const Kernel *k, Product *f, const Op *store) {
    int n = f->stores++;
    if (n == MOST_SUMS || store->mode != STORE_SET || !is_at(store, f->row, f->row, f->row + 1)) return false;
    if (n && store->param == f->c[0]) return false;
    f->store[n] = store;
    f->c[n] = store->param;
    return f->row || param_fits(&k->param.p[store->param], k->range.p[0].of, k->range.p[1].of);
}

static bool find_stores(const Kernel *k, Product *f) {
    for (const Op *op = k->body->first; op; op = op->next) {
        if (op != f->loop && !follows(k, op)) return false;
        if (op->kind == OP_STORE && !take_store(k, f, op)) return false;
    }
    f->plain = f->stores == f->sums;
    for (int i = 0; f->plain && i < f->stores; i++) f->plain = f->store[i]->arg.p[0] == f->loop->res.p[i];
    return f->stores > 0 && (f->plain || !f->row);
}

static bool is_empty(const Kernel *k, const Product *f) {
    for (int i = 0; i < f->sums; i++)
        if (!k->param.p[f->b[i]].dim[0].c) return true;
    return !f->depth || !k->range.p[f->row].of.c || !k->range.p[f->row + 1].of.c;
}

Reason product_match(const Kernel *k, Product *f) {
    *f = (Product){0};
    f->loop = grid_fits(k, f) ? only_loop(k) : NULL;
    if (!f->loop || !sums_fit(k, f) || !(f->row ? loop_is_part(f) : loop_is_whole(f))) return (Reason){.words = ""};
    if (is_empty(k, f)) return (Reason){.words = "a size of it is 0"};
    if (find_stores(k, f)) return (Reason){0};
    return (Reason){.words = "what is done with the sums is not done element by element, and stored once",
                    .fix = "end the kernel with the sums, and go on in another one"};
}

int product_operands(const Product *f, int param[MOST_OPERANDS]) {
    param[0] = f->a;
    for (int i = 0; i < f->sums; i++) param[1 + i] = f->b[i];
    return 1 + f->sums;
}

static bool types_agree(const Kernel *k, const Product *f) {
    for (int i = 0; i < f->sums; i++)
        if (k->param.p[f->b[i]].elem != k->param.p[f->a].elem ||
            f->loop->res.p[i]->type.elem != f->loop->res.p[0]->type.elem)
            return false;
    return true;
}

static bool types_multiply(const Kernel *k, const Product *f) {
    Elem e = k->param.p[f->a].elem;
    return types_agree(k, f) && !elem_is_packed(e) && elem_bits(e) <= 16 && (!f->b_is_kn || elem_bits(e) == 16);
}

const MatrixOp *product_op(const MatrixTarget *t, const MatrixSchedule *s, const Kernel *k, const Product *f) {
    enum { WAVES = 4, ROW_BYTES = 64 };
    Elem e = k->param.p[f->a].elem, sum = f->loop->res.p[0]->type.elem;
    if (!types_multiply(k, f)) return NULL;
    int rows = s->columns / WAVES / f->sums, depth = ROW_BYTES * 8 / elem_bits(e);
    const MatrixOp *op = matrix_fastest(t, rows, depth, elem_text(e), elem_text(sum));
    if (op || e != ELEM_F8E4M3) return op;
    return matrix_fastest(t, rows, depth, elem_text(ELEM_F8E4M3FNUZ), elem_text(sum));
}

const MatrixOp *product_op_few(const MatrixTarget *t, const Kernel *k, const Product *f) {
    Elem e = k->param.p[f->a].elem, sum = f->loop->res.p[0]->type.elem;
    return types_multiply(k, f) ? matrix_deepest(t, 16, elem_text(e), elem_text(sum)) : NULL;
}
