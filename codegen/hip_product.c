/* hip_product.c: what the schedule of a product of two matrices wants to know of a kernel. */
#include "codegen/hip_schedule.h"

/* b[j, p], its rows along what is summed over, or b[p, j]. */
static bool product_has_rows(const Kernel *k) {
    const Op *loop = k->body->first;
    while (loop->kind != OP_FOR) loop = loop->next;
    const Op *load = loop->region[0]->first;
    while (load->kind != OP_LOAD || load->param != 1) load = load->next;
    return load->sub.p[1].lo.term[0].id == loop->range;
}

bool product_prepare(Schedule *s) {
    const Kernel *k = s->f.k;
    bool rows = product_has_rows(k);
    s->facts = matrix_schedule(s->f.hip->target, "product", 0);
    if (!s->facts) return false;
    s->kind = rows ? "rows" : "columns";
    schedule_maps(
        s, (GpuMap[]){schedule_map(s, 0, 0, 128), schedule_map(s, 1, 0, rows ? 128 : 64), schedule_map(s, 2, 0, 64)},
        (int[]){0, 1, 2}, 3);
    schedule_number(s, "M", k->param.p[2].dim[0].c);
    schedule_number(s, "N", k->param.p[2].dim[1].c);
    schedule_number(s, "K", k->param.p[0].dim[1].c);
    schedule_hole(s, "type", elem_text(k->param.p[0].elem));
    schedule_hole(s, "across", rows ? "0" : "1");
    return true;
}
