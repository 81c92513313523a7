/* hip_product_residual.c: a matrix of 16-bit elements that results are made with besides the sums, at the same place: it
   comes by boxes through the ring of the operands, and is read as the sums lie in registers. */
#include "codegen/schedules/hip_schedule.h"

#include <inttypes.h>

static bool is_near(const Op *op) {
    return op->kind == OP_LOAD && op->sub.n == 2 && op->sub.p[0].lo.term[0].id == 0 && op->sub.p[1].lo.term[0].id == 1;
}

/* NULL: there is none, or there are several, which would want more registers than there are. */
static const Op *only_near(const Kernel *k) {
    const Op *found = NULL;
    for (const Op *op = k->body->first; op; op = op->next) {
        if (!is_near(op)) continue;
        if (found) return NULL;
        found = op;
    }
    return found;
}

/* In vectors of 16 bytes, and by boxes. Where only a plan is asked for, tensors begin where they should. */
static bool product_loads_residual(Schedule *s, const Op *load) {
    enum { VECTOR = 8 /* elements */ };
    const Param *p = &s->f.k->param.p[load->param];
    if (!is_near(load) || elem_bits(p->elem) != 16) return false;
    return s->f.node ? hip_rows_are_multiple(&s->f, load, VECTOR) : p->dim[p->ndim - 1].c % VECTOR == 0;
}

/* Results that leave by tiles have rows that boxes take. */
const Op *product_residual(Schedule *s, const Product *p) {
    const Kernel *k = s->f.k;
    bool tiles = p->stores == 1 && product_stores_tiles(&k->param.p[p->c[0]]) && !product_has_fringe(s, p);
    const Op *near = tiles ? only_near(k) : NULL;
    return near && product_loads_residual(s, near) ? near : NULL;
}

void product_fill_residual(Schedule *s, const Product *p, ProductMaps *maps) {
    Fn *f = &s->f;
    const Op *near = product_residual(s, p);
    const char *name = s->launch->function;
    schedule_hole(s, "near_steps", near ? fn_text(f, " + %s_NEAR", name) : "");
    schedule_hole(s, "near_take", near ? fn_text(f, "%s_place at, int *s, int *phase, ", name) : "");
    schedule_hole(s, "near_give", near ? "at, &s, &phase, " : "");
    if (!near) return schedule_hole(s, "given", "");
    const int param = near->param;
    schedule_kind(s, "near");
    schedule_number(s, "NEAR_MAP", maps->n);
    product_maps_add(maps, s, &param, 1, 128);
    schedule_hole(s, "given", fn_text(f, "(%s)(near[r >> 1] >> 16 * (r & 1)), ", elem_c(f->k->param.p[param].elem)));
}
