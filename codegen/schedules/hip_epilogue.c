/* hip_epilogue.c: what a schedule does with each of its sums before it stores it, as a function of the sums and their
 * place. */
#include "codegen/schedules/hip_schedule.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    Fn *f;
    const Op *sums;
    const char *name[2]; /* of the sums */
    bool read[2];
    const CExpr **text; /* by value id */
    int *uses;
} Epilogue;

static void count_uses(Epilogue *e, const Region *r) {
    for (const Op *op = r->first; op; op = op->next)
        for (int i = 0; i < op->arg.n; i++) e->uses[op->arg.p[i]->id]++;
}

/* Row-major, of at most two subscripts. */
static const char *subscript(Fn *f, const Param *p, const Op *load) {
    bool row = load->sub.p[0].lo.term[0].id == 0;
    if (load->sub.n == 1) return row ? "i" : "j";
    return fn_text(f, "(int64_t)%s * %" PRId64 " + %s", row ? "i" : "j", p->dim[1].c,
                   load->sub.p[1].lo.term[0].id ? "j" : "i");
}

static const CExpr *load_text(Fn *f, const Op *load) {
    const Param *p = &f->k->param.p[load->param];
    if (p->ndim == 0) return cexpr_name(f, f->param[load->param]);
    return f->back->read(f, p->elem, cexpr_call(f, "%s[%s]", f->param[load->param], subscript(f, p, load)));
}

static const CExpr *value_text(Epilogue *e, const Value *v);

static const CExpr *operation_text(Epilogue *e, const Op *op) {
    const CExpr *arg[3];
    if (op->kind == OP_LOAD) return load_text(e->f, op);
    for (int i = 0; i < op->arg.n; i++) arg[i] = value_text(e, op->arg.p[i]);
    return op_text(e->f, op, arg);
}

enum { LONG_TEXT = 72 };

static const CExpr *sum_text(Epilogue *e, const Value *v) {
    int n = v != e->sums->res.p[0];
    e->read[n] = true;
    return cexpr_name(e->f, e->name[n]);
}

static const CExpr *value_text(Epilogue *e, const Value *v) {
    const Op *op = v->def;
    if (op == e->sums) return sum_text(e, v);
    if (op->kind == OP_CONST) return literal_text(e->f, v->type.elem, op);
    if (op->kind == OP_BROADCAST) return value_text(e, op->arg.p[0]);
    if (e->text[v->id]) return e->text[v->id];
    const CExpr *text = operation_text(e, op);
    if (v->name || e->uses[v->id] > 1 || strlen(text->text) > LONG_TEXT) {
        const char *name = c_name(&e->f->names, fn_value_name(e->f, v));
        fn_line(e->f, "const %s %s = %s;", elem_c(v->type.elem), name, cexpr_bare(text)->text);
        text = cexpr_name(e->f, name);
    }
    return e->text[v->id] = text;
}

/* One that is not read has no name. */
static const char *sums_text(const Epilogue *e) {
    const char *text = "";
    for (int i = 0; i < e->sums->res.n; i++) {
        Elem elem = e->sums->res.p[i]->type.elem;
        text = fn_text(e->f, "%s%s%s%s, ", text, elem_c(elem), e->read[i] ? " " : "", e->read[i] ? e->name[i] : "");
    }
    return text;
}

/* A parameter's name where the body reads it. */
static const char *read_as(Fn *f, const char *body, const char *name) {
    return text_has_word(body, name) ? fn_text(f, " %s", name) : "";
}

const char *epilogue_text(Schedule *s, const Value *v, Elem to, const Op *sums, const char *name) {
    Fn *f = &s->f;
    Epilogue e = {.f = f,
                  .sums = sums,
                  .name = {"x", sums->res.n > 1 ? c_name(&f->names, "y") : NULL},
                  .text = ARENA_ARRAY(f->arena, const CExpr *, f->k->nvalue + 1),
                  .uses = ARENA_ARRAY(f->arena, int, f->k->nvalue + 1)};
    count_uses(&e, f->k->body);
    f->indent = 1;
    const CExpr *result = nest_convert(&(Nest){.f = f}, to, v->type.elem, value_text(&e, v));
    fn_line(f, "return %s;", cexpr_bare(result)->text);
    hip_arguments(f);
    const char *body = text_str(&f->body);
    const char *text =
        fn_text(f, "TILE_FN %s %s(%s%s, %sint%s, int%s) {\n%s}\n", elem_c(to), name, f->hip->call,
                read_as(f, body, "call"), sums_text(&e), read_as(f, body, "i"), read_as(f, body, "j"), body);
    text_free(&f->body);
    return text;
}
