/* lay.c: what the steps of the pass layout share: refusals, visits, layouts by number, sizes of tiles and grids. */
#include "passes/layout/layout.h"

#include <stdarg.h>
#include <stdio.h>

void lay_refuse(Lay *l, Loc loc, const char *format, ...) {
    char text[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    l->failed = true;
    diag_error(l->m->diags, loc, "unsupported", "not supported yet on %s: %s", l->target->name, text);
}

void lay_each(Lay *l, Region *r, LayVisit *visit) {
    for (Op *op = r ? r->first : NULL, *next; op; op = next) {
        next = op->next;
        visit(l, op);
        for (int i = 0; i < 2; i++) lay_each(l, op->region[i], visit);
    }
}

Layout lay_slice(const Lay *l, const Layout *of, Type t) {
    const char *name[MAX_RANGES];
    Layout to = {0};
    for (int i = 0; i < t.nrange; i++) name[i] = l->k->range.p[t.range[i]].name;
    layout_slice(&to, of, name, t.nrange);
    return to;
}

int lay_number(Lay *l, const Layout *wanted) {
    for (int i = 0; i < l->k->layout.n; i++)
        if (layout_equal(&l->k->layout.p[i], wanted)) return i + 1;
    vec_push(l->m->arena, &l->k->layout, *wanted);
    return l->k->layout.n;
}

int64_t lay_elements(const Lay *l, Type t) {
    int64_t n = 1;
    for (int i = 0; i < t.nrange; i++) n *= l->extent[t.range[i]];
    return n;
}

bool lay_adds_atomically(Elem e) { return e == ELEM_F32 || e == ELEM_F64 || e == ELEM_I32 || e == ELEM_I64; }

int lay_words(Elem e) { return elem_bits(e) > 32 ? 2 : 1; }

void lay_insert_behind(Op *fresh, const Value *v) {
    Op *next = v->def ? v->def->next : v->arg_of->first;
    if (next)
        op_insert_before(next, fresh);
    else
        op_append_to(v->def->in, fresh);
}

static int64_t tasks_along(const Lay *l, int range) {
    const Range *r = &l->k->range.p[range];
    int64_t n = size_most(l->m, r->of);
    return r->kind == RANGE_WHOLE ? 1 : r->kind == RANGE_TILE ? (n + r->size - 1) / r->size : n;
}

int64_t lay_tasks(const Lay *l, int64_t most) {
    int64_t n = 1;
    for (int i = 0; i < l->k->ngrid && n < most; i++) n *= tasks_along(l, i);
    return n;
}
