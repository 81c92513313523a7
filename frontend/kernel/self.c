/* self.c: a kernel that reads its own result sees the final value: tasks and iterations have an order in which
   each element is written before it is read. Takes a lowered body; reports a read for which there is none. */
#include "frontend/kernel/kernel.h"

#include "ir/poly/relation_self.h"

#include <string.h>

static void self_note(Kern *c, const SelfFault *f, bool same) {
    Loc loc = f->read->loc;
    const char *other = f->certain ? self_order_other(c->m, c->b.k, f->read->param, c->arena) : NULL;
    if (!f->certain) diag_note(c->diags, loc, "subscripts of a result that the kernel reads are sums of ranges, numbers and sizes");
    else if (other) diag_note(c->diags, loc, "it holds where the ranges of each stand in the order %s", other);
    else if (same) diag_note(c->diags, loc, "a tile is read whole; one position after another: for r in ..");
    else diag_note(c->diags, loc, "tasks go in the order of each, the last range first; elements of later ones cannot be read");
    if (c->checking) diag_note(c->diags, loc, "nothing calls this kernel: its extents are taken for large powers of two");
}

static void self_report(Kern *c, const Param *p, const SelfFault *f) {
    Loc loc = f->read->loc;
    bool same = f->element && strcmp(f->writer, f->reader) == 0;
    const char *reads = f->certain ? "reads" : "may read";
    if (!f->element)
        diag_error(c->diags, loc, "self-order", "it cannot be told that '%s' is written before it is read here", p->name);
    else if (same)
        diag_error(c->diags, loc, "self-order", "task [%s] %s '%s'[%s] before it writes it", f->reader, reads, p->name, f->element);
    else
        diag_error(c->diags, loc, "self-order", "task [%s] %s '%s'[%s], which the later task [%s] writes", f->reader, reads, p->name,
                   f->element, f->writer);
    diag_note(c->diags, f->write->loc, "it is written here");
    self_note(c, f, same);
}

void self_check(Kern *c) {
    for (int i = 0; i < c->b.k->param.n; i++) {
        SelfFault fault;
        if (!kernel_reads_result(c->b.k, i) || self_order_holds(c->m, c->b.k, i, c->arena, &fault)) continue;
        if (c->checking && !fault.certain) continue;
        self_report(c, &c->b.k->param.p[i], &fault);
        return;
    }
}
