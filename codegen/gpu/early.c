/* early.c: loads of constant tensors, such as weights of a norm, before the launch before has ended: those at the
   body's top whose places are known without a load. What is read behind a loop of products is loaded there: registers
   that are taken during the loop make the compiler spill. */
#include "codegen/gpu/hip.h"

enum { MOST_EARLY = 32 /* registers of a thread for such tiles; chosen: no measurement is recorded */ };

static bool is_known_place(const Op *load) {
    for (int d = 0; d < load->sub.n; d++)
        for (int i = 0; i < load->sub.p[d].lo.nterm; i++)
            if (load->sub.p[d].lo.term[i].kind == TERM_VALUE) return false;
    return true;
}

static bool is_early(Fn *f, const GpuLaunch *l, const Op *op) {
    if (op->kind != OP_LOAD || op->pipelined || op->sub.n == 0 || f->k->param.p[op->param].packet) return false;
    return is_known_place(op) && gpu_reads_early(l, f->p, op->param);
}

static bool has_products(const Op *op) { return op->kind == OP_FOR && region_has_dot(op->region[0]); }

bool hip_early(Fn *f, const GpuLaunch *l) {
    int left = MOST_EARLY;
    bool any = false;
    for (const Op *op = f->k->body->first; op && !has_products(op); op = op->next) {
        if (!is_early(f, l, op) || !is_step(f, op)) continue;
        const Layout *at = held_layout(f, op->res.p[0]);
        left -= at ? layout_registers(at) : 1;
        if (left < 0) break;
        emit_ahead(f, op);
        any = true;
    }
    return any;
}
