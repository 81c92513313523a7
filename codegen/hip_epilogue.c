/* hip_epilogue.c: what a schedule does with each of its sums before it stores it, as a function of the sum and its
 * place. */
#include "codegen/hip_schedule.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    Fn *f;
    const Value *sum;
    const char **text; /* by value id */
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

static const char *load_text(Fn *f, const Op *load) {
    const Param *p = &f->k->param.p[load->param];
    if (p->ndim == 0) return f->param[load->param];
    return f->back->read(f, p->elem, fn_text(f, "%s[%s]", f->param[load->param], subscript(f, p, load)));
}

static const char *value_text(Epilogue *e, const Value *v);

static const char *operation_text(Epilogue *e, const Op *op) {
    const char *arg[3];
    if (op->kind == OP_LOAD) return load_text(e->f, op);
    for (int i = 0; i < op->arg.n; i++) arg[i] = value_text(e, op->arg.p[i]);
    return op_text(e->f, op, arg);
}

enum { LONG_TEXT = 72 };

static const char *value_text(Epilogue *e, const Value *v) {
    const Op *op = v->def;
    if (v == e->sum) return "x";
    if (op->kind == OP_CONST) return literal_text(e->f, v->type.elem, op);
    if (op->kind == OP_BROADCAST) return value_text(e, op->arg.p[0]);
    if (e->text[v->id]) return e->text[v->id];
    const char *text = operation_text(e, op);
    if (v->name || e->uses[v->id] > 1 || strlen(text) > LONG_TEXT) {
        const char *name = c_name(&e->f->names, fn_value_name(e->f, v));
        fn_line(e->f, "const %s %s = %s;", elem_c(v->type.elem), name, text_bare(e->f, text));
        text = name;
    }
    return e->text[v->id] = text;
}

const char *epilogue_text(Schedule *s, const Op *store, const Value *sum, const char *name) {
    Fn *f = &s->f;
    Epilogue e = {.f = f,
                  .sum = sum,
                  .text = ARENA_ARRAY(f->arena, const char *, f->k->nvalue + 1),
                  .uses = ARENA_ARRAY(f->arena, int, f->k->nvalue + 1)};
    count_uses(&e, f->k->body);
    f->indent = 1;
    const Value *v = store->arg.p[0];
    const char *result = nest_convert(&(Nest){.f = f}, ELEM_F32, v->type.elem, value_text(&e, v));
    fn_line(f, "return %s;", text_bare(f, result));
    hip_arguments(f);
    const char *text = fn_text(f, "TILE_FN float %s(%s_call call, float x, int i, int j) {\n%s}\n", name, f->p->name,
                               text_str(&f->body));
    text_free(&f->body);
    return text;
}
