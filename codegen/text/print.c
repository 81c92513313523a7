/* print.c: statements that leave records of elements: print, and assertions that fail. */
#include "codegen/text/print.h"
#include "codegen/text/share.h"

#include <inttypes.h>

static bool is_print(const Op *op) { return op_info[op->kind].class == CLASS_PRINT; }

static int prints_of(const Node *n) {
    int count = 0;
    const Region *body = n->kind == NODE_CALL ? n->kernel->body : NULL;
    for (const Op *op = walk(body); op; op = walk_next(op, body)) count += is_print(op);
    return count;
}

int print_count(const Program *p) {
    int n = 0;
    for (int i = 0; i < p->node.n; i++) n += prints_of(p->node.p[i]);
    return n;
}

Sites print_sites(Arena *a, const Program *p) {
    Sites all = {0};
    for (int i = 0; i < p->node.n; i++) {
        const Region *body = prints_of(p->node.p[i]) ? p->node.p[i]->kernel->body : NULL;
        for (const Op *op = walk(body); op; op = walk_next(op, body))
            if (is_print(op)) vec_push(a, &all, op);
    }
    return all;
}

/* Roles, and kernels that stand by, have the texts of the body that they compute. */
int64_t print_site(const Program *p, int node, const Op *op) {
    int64_t n = 0;
    for (int i = 0; i < node; i++) n += prints_of(p->node.p[i]);
    const Region *body = p->node.p[node]->kernel->body;
    for (const Op *other = walk(body); other && other->by != op->by; other = walk_next(other, body)) n += is_print(other);
    return n;
}

static const char *places_text(Nest *n, const Op *op) {
    const char *all = "";
    for (int i = 2; i < op->arg.n; i++)
        all = fn_text(n->f, "%s%s%s", all, i > 2 ? ", " : "", cexpr_bare(nest_value(n, op->arg.p[i]))->text);
    return op->arg.n > 2 ? all : "0";
}

void print_lines(Nest *n, const Op *op, const char *exists) {
    Fn *f = n->f;
    const Value *x = op->arg.p[0];
    const char *which = op->kind == OP_PRINT ? "" : "!", *what = op->kind == OP_PRINT ? "print" : "failed";
    const char *when = conjoin(f, exists, fn_text(f, "%s%s", which, cexpr_operand(f, nest_value(n, op->arg.p[1]))->text));
    const char *site = field_number(f, "site", print_site(f->p, f->node->id, op))->text, *value = cexpr_bare(nest_value(n, x))->text;
    const char *places = c_name(&f->names, "places");
    nest_line(n, n->n, "if (%s) {", when);
    nest_line(n, n->n, "    const int64_t %s[] = {%s};", places, places_text(n, op));
    nest_line(n, n->n, "    tile_%s(t->prints, %s, tile_shown_%s(%s), %s, %d);", what, site, elem_text(x->type.elem), value, places,
              op->arg.n - 2);
    nest_line(n, n->n, "}");
}
