/* nest.c: loops around the statements of one step, and values as expressions inside them.
   A statement stands in the outermost loop that has all its ranges. */
#include "codegen/text/size.h"
#include "codegen/text/step.h"

#include <inttypes.h>
#include <string.h>

Nest nest_new(Fn *f, const int16_t *range, int n) {
    Nest nest = {.f = f, .n = n, .id = ++f->nests};
    for (int i = 0; i < n; i++) nest.range[i] = range[i];
    return nest;
}

void nest_line(Nest *n, int depth, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    vec_push(n->f->arena, &n->at[depth], fn_vtext(n->f, format, ap));
    va_end(ap);
}

void nest_after(Nest *n, int depth, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    vec_push(n->f->arena, &n->after[depth], fn_vtext(n->f, format, ap));
    va_end(ap);
}

static void put_lines(Nest *n, const Lines *lines) {
    for (int i = 0; i < lines->n; i++) fn_line(n->f, "%s", lines->p[i]);
}

static void loop_open(Nest *n, int depth) {
    if (n->loop) {
        fn_line(n->f, "%s", n->pragma);
        fn_line(n->f, "%s", n->loop);
        n->f->indent++;
        return;
    }
    const RangeText *r = &n->f->range[n->range[depth]];
    const Nontemporal *s = depth == n->n - 1 ? n->nontemporal : NULL;
    if (s) n->f->back->nontemporal_open(n, r);
    if (depth == n->n - 1 && n->pragma) fn_line(n->f, "%s", n->pragma);
    fn_line(n->f, "for (int64_t %s = %s; %s < %s; %s++) {", r->pos->text, s ? s->begin : "0", r->pos->text,
            s ? s->end : cexpr_bare(r->count)->text, r->pos->text);
    n->f->indent++;
}

static void loop_close(Nest *n, int depth) {
    n->f->indent--;
    fn_line(n->f, "}");
    if (depth == n->n - 1 && n->nontemporal) n->f->back->nontemporal_close(n);
}

void nest_print(Nest *n) {
    if (n->guard) {
        fn_line(n->f, "if (%s) {", n->guard);
        n->f->indent++;
    }
    for (int d = 0; d <= n->n; d++) {
        put_lines(n, &n->at[d]);
        if (d < n->n) loop_open(n, d);
    }
    for (int d = n->n; d >= 0; d--) {
        if (d < n->n) loop_close(n, d);
        put_lines(n, &n->after[d]);
    }
    if (n->guard) {
        n->f->indent--;
        fn_line(n->f, "}");
    }
    if (n->nontemporal) fn_line(n->f, "tile_store_nontemporal_end();");
}

static int range_depth(const Nest *n, int range) {
    for (int i = 0; i < n->n; i++)
        if (n->range[i] == range) return i + 1;
    return 0;
}

int nest_depth(const Nest *n, const Type *t) {
    int depth = n->layout && t->nrange ? n->n : 0;
    for (int i = 0; i < t->nrange && !n->layout; i++) {
        int d = range_depth(n, t->range[i]);
        if (d > depth) depth = d;
    }
    return depth;
}

const CExpr *nest_tile(Nest *n, const Tile *t) { return n->f->back->element(n, t); }

const CExpr *c_element(Nest *n, const Tile *t) {
    const CExpr *index = cexpr_number(n->f, 0);
    for (int i = 0; i < t->n; i++) {
        const CExpr *step = cexpr_number(n->f, t->stride[i]);
        index = cexpr_add(n->f, index, cexpr_mul(n->f, n->f->range[t->range[i]].pos, step));
    }
    return cexpr_call(n->f, "%s[%s]", t->name, index->text);
}

/* ---- affine expressions ---- */

/* Variable of a term; *natural: it is never negative. */
static const CExpr *term_variable(Nest *n, const Term *t, bool *natural) {
    Fn *f = n->f;
    const RangeText *r =
        t->kind == TERM_POS || t->kind == TERM_INDEX || t->kind == TERM_BLOCK ? &f->range[t->id] : NULL;
    *natural = r ? r->natural : t->kind != TERM_VALUE;
    switch (t->kind) {
    case TERM_POS: return r->begin == r->pos ? r->pos : cexpr_add(f, r->begin, r->pos);
    case TERM_INDEX: return r->index;
    case TERM_RANK: return f->back->coord(f, t->id);
    case TERM_BLOCK: return cexpr_mul(f, r->pos, cexpr_operand(f, size_block_text(f, t->size)));
    case TERM_SIZE: return size_text(f, t->size);
    case TERM_VALUE: break;
    }
    const CExpr *v = nest_value(n, t->value);
    return t->value->type.elem == ELEM_I64 ? v : cexpr_open(f, "(int64_t)%s", cexpr_operand(f, v)->text);
}

static const CExpr *term_text(Nest *n, const Term *t, int64_t mul) {
    bool natural;
    const CExpr *v = term_variable(n, t, &natural);
    if (t->div != 1)
        v = natural ? cexpr_open(n->f, "%s / %" PRId64, cexpr_operand(n->f, v)->text, t->div)
                    : cexpr_call(n->f, "tile_div_i64(%s, %" PRId64 ")", v->text, t->div);
    return mul == 1 ? v : cexpr_mul(n->f, t->div != 1 && natural ? cexpr_group(n->f, v) : v, cexpr_number(n->f, mul));
}

const CExpr *nest_affine(Nest *n, const Affine *a) {
    const CExpr *sum = cexpr_number(n->f, 0);
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        if (t->mul < 0 && !cexpr_is(sum, 0))
            sum = cexpr_open(n->f, "%s - %s", sum->text, cexpr_operand(n->f, term_text(n, t, -t->mul))->text);
        else
            sum = cexpr_add(n->f, sum, term_text(n, t, t->mul));
    }
    return cexpr_add(n->f, sum, cexpr_number(n->f, a->c));
}

int nest_affine_depth(const Nest *n, const Affine *a) {
    Type t = affine_type(n->f->k, a);
    return nest_depth(n, &t);
}

/* ---- values ---- */

const char *conjoin(Fn *f, const char *a, const char *b) { return !a ? b : !b ? a : fn_text(f, "%s && %s", a, b); }

/* Characters of an expression, beyond which it gets a variable, so that lines stay short. */
enum { LONG_TEXT = 72 };

static const CExpr *load_text(Nest *n, const Op *op) {
    const char *inside;
    const CExpr *place = nest_place(n, op, &inside);
    const Type *t = &op->res.p[0]->type;
    if (op->sub.n) place = n->f->back->read(n->f, t->elem, place);
    if (!inside) return place;
    const char *zero = t->elem == ELEM_F64 ? "0.0" : t->elem == ELEM_F32 ? "0.0f" : "0";
    return cexpr_group(n->f, cexpr_open(n->f, "%s ? %s : %s", inside, place->text, zero));
}

static const CExpr *index_text(Nest *n, const Op *op) {
    Fn *f = n->f;
    const RangeText *r = &f->range[op->range];
    switch (op->kind) {
    case OP_POS: return r->begin == r->pos ? r->pos : cexpr_operand(f, cexpr_add(f, r->begin, r->pos));
    case OP_BEGIN: return r->begin;
    case OP_END:
        return cexpr_operand(f, r->begin == r->pos ? cexpr_open(f, "%s + 1", r->pos->text)
                                                   : cexpr_add(f, r->begin, r->count));
    case OP_SIZE: return cexpr_operand(f, size_text(f, op->size));
    case OP_ORIGIN: return cexpr_operand(f, size_origin_text(f, op->size));
    default: return f->back->coord(f, op->axis);
    }
}

static const CExpr *inline_text(Nest *n, const Op *op) {
    if (op->kind == OP_CONST) return literal_text(n->f, op->res.p[0]->type.elem, op);
    if (op->kind == OP_LOAD) return load_text(n, op);
    if (op->kind == OP_BROADCAST) return nest_value(n, op->arg.p[0]);
    if (op_info[op->kind].class == CLASS_INDEX) return index_text(n, op);
    const CExpr *arg[3], *own = n->f->back->own ? n->f->back->own(n, op) : NULL;
    if (own) return own;
    for (int i = 0; i < op->arg.n; i++) {
        bool chosen = op->kind == OP_SELECT && i > 0;
        n->chosen += chosen;
        arg[i] = nest_value(n, op->arg.p[i]);
        n->chosen -= chosen;
    }
    return op_text(n->f, op, arg);
}

const CExpr *nest_definition(Nest *n, const Value *v) { return inline_text(n, v->def); }

static bool is_simple(const Value *v) {
    OpKind k = v->def->kind;
    if (k == OP_LOAD && v->def->sub.n == 0) return true;
    return k == OP_CONST || k == OP_BROADCAST || op_info[k].class == CLASS_INDEX;
}

static const CExpr *keep_in_variable(Nest *n, const Value *v, const CExpr *e) {
    Held *h = fn_held(n->f, v);
    if (!h->name) h->name = c_name(&n->f->names, fn_value_name(n->f, v));
    nest_line(n, nest_depth(n, &v->type), "const %s %s = %s;", elem_c(v->type.elem), h->name, cexpr_bare(e)->text);
    return cexpr_name(n->f, h->name);
}

/* Compilers make it once more where it is written once more: it has branches. */
static bool is_eight(Elem e) { return elem_is_float(e) && elem_bits(e) == 8; }
static bool is_long(const Op *op) {
    return op->kind == OP_CAST && (is_eight(op->arg.p[0]->type.elem) || is_eight(op->res.p[0]->type.elem));
}

const CExpr *nest_value(Nest *n, const Value *v) {
    Held *h = fn_held(n->f, v);
    if (h->hold == HOLD_SCALAR) return cexpr_name(n->f, h->name);
    if (h->hold == HOLD_TILE) return nest_tile(n, &h->tile);
    if (h->nest == n->id) return h->text;
    const CExpr *e = inline_text(n, v->def);
    bool varies_less = v->type.nrange && nest_depth(n, &v->type) < n->n && v->def->kind != OP_LOAD;
    const bool twice = h->again && is_long(v->def);
    if (!is_simple(v) && (v->name || varies_less || twice || strlen(e->text) > LONG_TEXT)) e = keep_in_variable(n, v, e);
    h->nest = n->id;
    h->text = e;
    return e;
}
