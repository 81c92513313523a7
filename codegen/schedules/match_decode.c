/* match_decode.c: attention of one query of each head, or of those heads of it that share keys: each task has a few
   rows and all keys begin .. end - 1 of a loop whose ends are scalars. */
#include "codegen/schedules/match_softmax.h"

static bool is_row(const Range *r) {
    return r->kind == RANGE_POSITION ||
           (r->kind == RANGE_TILE && !r->tunable && r->of.sym < 0 && r->of.c % r->size == 0);
}

/* Positions [.., rows, width]: one of each, or tiles of rows that are all full. */
static bool grid_fits(const Softmax *f) {
    const Kernel *k = f->k;
    const Param *o = &k->param.p[f->store->param];
    if (k->ngrid != o->ndim || o->ndim < 2 || f->store->sub.n != o->ndim) return false;
    for (int d = 0; d < k->ngrid; d++) {
        const Range *r = &k->range.p[d];
        bool fits = d == k->ngrid - 1   ? r->kind == RANGE_WHOLE
                    : d == k->ngrid - 2 ? is_row(r)
                                        : r->kind == RANGE_POSITION;
        if (!fits || r->owner >= 0 || !size_equal(r->of, o->dim[d]) || !match_is_pos(&f->store->sub.p[d].lo, d))
            return false;
    }
    return true;
}

/* A sum over the numbers of the grid's tasks. */
static bool is_of_task(const Kernel *k, const Affine *a) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        bool number = t->kind == TERM_INDEX || (t->kind == TERM_POS && k->range.p[t->id].kind == RANGE_POSITION);
        if (!number || t->id >= k->ngrid || t->mul < 0) return false;
    }
    return a->c >= 0;
}

/* j, or j % u of pages of u keys. */
static bool is_key(const Softmax *f, const Param *p, int d, bool paged) {
    Affine want = affine_term(TERM_POS, f->a->key, 1, 1);
    if (paged && (!size_is_number(p->dim[d]) || !affine_modulo(&want, p->dim[d].c))) return false;
    return affine_equal(&f->a->keys_at->sub.p[d].lo, &want);
}

/* The load of a page's number. */
static const Op *page_load(const Affine *a) {
    const Value *page = a->nterm == 1 && a->term[0].kind == TERM_VALUE ? a->term[0].value : NULL;
    const Op *load = page ? match_op(page, OP_LOAD) : NULL;
    Affine whole = load ? affine_value(load->res.p[0]) : *a;
    return load && load->sub.n && page->type.elem == ELEM_I32 && affine_equal(a, &whole) ? load : NULL;
}

/* table[.., j / u] */
static bool pages_fit(const Softmax *f, int64_t u) {
    const Op *load = f->a->pages_at;
    int last = load->sub.n - 1;
    Affine want = affine_term(TERM_POS, f->a->key, 1, u);
    for (int d = 0; d < last; d++)
        if (!is_of_task(f->k, &load->sub.p[d].lo)) return false;
    return affine_equal(&load->sub.p[last].lo, &want);
}

/* k[.., j, .., c]: one dimension has the keys, or one their pages and one the places of a page; the last one has the
   width, a task's numbers tell the others. */
static bool keys_fit(Softmax *f) {
    Attention *a = f->a;
    const Param *p = &f->k->param.p[a->k];
    int n = a->keys_at->sub.n, found = 0;
    if (n < 2 || n != p->ndim || !match_is_pos(&a->keys_at->sub.p[n - 1].lo, a->column)) return false;
    for (int d = 0; d < n - 1 && !a->pages_at; d++)
        if ((a->pages_at = page_load(&a->keys_at->sub.p[d].lo))) a->pages_dim = d;
    for (int d = 0; d < n - 1; d++)
        if (is_key(f, p, d, a->pages_at))
            a->keys_dim = d, found++;
        else if (!(a->pages_at && d == a->pages_dim) && !is_of_task(f->k, &a->keys_at->sub.p[d].lo))
            return false;
    if (found != 1 || (a->pages_at && !pages_fit(f, p->dim[a->keys_dim].c))) return false;
    a->keys = a->pages_at ? f->k->param.p[a->pages_at->param].dim[a->pages_at->sub.n - 1] : p->dim[a->keys_dim];
    a->width = p->dim[n - 1];
    return access_equal(a->keys_at, f->values_at);
}

/* Behind a part's number what is stored has the queries' places. */
static bool places_equal(const Softmax *f) {
    const Op *store = f->store, *q = f->queries_at;
    if (!f->part) return access_equal(store, q);
    for (int d = 0; d < q->sub.n && d + 1 < store->sub.n; d++)
        if (!affine_equal(&store->sub.p[d + 1].lo, &q->sub.p[d].lo)) return false;
    return store->sub.n == q->sub.n + 1;
}

static bool find_places(Softmax *f) {
    Attention *a = f->a;
    a->q = f->queries_at->param, a->k = a->keys_at->param, a->v = f->values_at->param, a->o = f->store->param;
    return grid_fits(f) && places_equal(f) && keys_fit(f);
}

enum { MOST = 1 << 30 }; /* of keys */

/* What a task knows before its loop: in 32 bits, and then as an end of the loop. */
static bool is_scalar(const Softmax *f, const Value *v) {
    const Kernel *k = f->k;
    const Op *op = v->def;
    if (!op || v->type.nrange) return false;
    if (op->kind == OP_CONST) return op->imm > -MOST && op->imm < MOST;
    if (op->kind == OP_SIZE) return size_equal(op->size, f->a->keys);
    if (op->kind == OP_LOAD && v->type.elem != ELEM_I32) return false;
    for (int d = 0; d < op->sub.n; d++)
        if (op->kind != OP_LOAD || !is_of_task(k, &op->sub.p[d].lo)) return false;
    for (int i = 0; i < op->arg.n; i++)
        if (!is_scalar(f, op->arg.p[i]) || (op->arg.p[i]->type.elem != ELEM_I32 && op->arg.p[i]->def->kind != OP_CONST))
            return false;
    OpClass class = op_info[op->kind].class;
    return op->kind == OP_LOAD || class == CLASS_UNARY || class == CLASS_BINARY || class == CLASS_CAST;
}

static bool ends_fit(const Softmax *f) {
    return is_scalar(f, f->a->loop->arg.p[0]) && is_scalar(f, f->a->loop->arg.p[1]);
}

/* A number from 0 on, or the larger of one and something else. */
static bool begins_inside(const Softmax *f) {
    const Value *begin = f->a->loop->arg.p[0];
    const Op *wide = match_op(begin, OP_CAST);
    if (wide && wide->res.p[0]->type.elem == ELEM_I64) begin = wide->arg.p[0];
    const Op *most = match_op(begin, OP_MAX);
    double n;
    if (match_number(begin, &n)) return n >= 0;
    for (int i = 0; most && i < 2; i++)
        if (match_number(most->arg.p[i], &n) && n >= 0) return true;
    return false;
}

/* Then keys that are read together are on one page. */
static bool begins_page(const Softmax *f) {
    double n;
    return match_number(f->a->loop->arg.p[0], &n) && n == 0;
}

int64_t decode_tasks(const Module *m, const Kernel *k) {
    int64_t n = 1;
    for (int i = 0; i < k->ngrid - 1; i++) {
        const Range *r = &k->range.p[i];
        if (r->of.axis >= 0 || (r->of.sym >= 0 && r->size > 1)) return -1;
        n *= size_most(m, r->of) / r->size;
        if (n > 1 << 20) return -1;
    }
    return n;
}

int64_t decode_page(const Kernel *k, const Attention *a) { return k->param.p[a->k].dim[a->keys_dim].c; }

const char *decode_match(const Kernel *k, Attention *a) {
    Softmax f = {.k = k, .a = a};
    bool guarded;
    *a = (Attention){.row = k->ngrid - 2};
    bool found = !softmax_find(&f, &guarded), scaled = found && softmax_scale(&f);
    if (!found || !softmax_products(&f) || !find_places(&f)) return "";
    if (!softmax_places_agree(&f)) return "its operands are not whole matrices";
    if (!scaled) return "its scale is not a positive number";
    if (!f.part && !ends_fit(&f)) return "its keys are not a task's own numbers"; /* a part's were when it was whole */
    if (!f.part && !begins_inside(&f)) return "its keys may begin before the first";
    if (a->pages_at && !begins_page(&f)) return "its keys on pages do not begin with the first";
    return softmax_alone(&f) ? NULL : "it has another result";
}
