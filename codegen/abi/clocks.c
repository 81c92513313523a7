/* clocks.c: how long a kernel takes, as the host predicts it at each run, where several may do the work of a call:
   rounds of tasks, by the costs of its plan (passes/plan/variants.c compares the same at some sizes). */
#include "codegen/abi/abi.h"
#include "codegen/text/program.h"
#include "codegen/text/size.h"
#include "ir/roles.h"
#include "ir/size.h"
#include "target/matrix.h"
#include "target/rates.h"

#include <string.h>

/* In which runs rows of the tile's tensor begin between lines; "": in all, NULL: in none. */
static const char *row_apart(Fn *f, const Kernel *k, const SlotTile *t) {
    const Param *p = &k->param.p[t->param];
    const int line = LINE * 8 / elem_bits(p->elem);
    const Size row = p->dim[p->ndim - 1];
    if (size_is_number(row)) return row.c % line ? "" : NULL;
    return fn_text(f, "%s %% %d", cexpr_operand(f, size_text(f, row))->text, line);
}

/* In which runs all rows of what comes by boxes begin between lines; NULL: that is no question of a run. */
static const char *rows_apart(Fn *f, const Kernel *k) {
    VEC(const char *) all = {0};
    for (int i = 0; i < k->roles->ring.n; i++)
        for (int n = 0; n < k->roles->ring.p[i].tile.n; n++) {
            const SlotTile *t = &k->roles->ring.p[i].tile.p[n];
            if (t->param < 0) continue;
            const char *own = t->fill == FILL_BOX ? row_apart(f, k, t) : NULL;
            if (!own) return NULL;
            bool held = !*own;
            for (int at = 0; at < all.n && !held; at++) held = strcmp(all.p[at], own) == 0;
            if (!held) vec_push(f->arena, &all, own);
        }
    const char *both = all.n ? all.p[0] : NULL;
    for (int at = 1; at < all.n; at++) both = fn_text(f, "%s && %s", both, all.p[at]);
    return both;
}

/* The range of the grid of which a cluster's workgroups copy tiles for each other. */
static int shared_range(const Kernel *k) {
    for (int i = 0; i < k->roles->ring.n; i++)
        for (int t = 0; t < k->roles->ring.p[i].tile.n; t++) {
            const SlotTile *tile = &k->roles->ring.p[i].tile.p[t];
            for (int d = 0; tile->share >= 0 && d < tile->type.nrange; d++)
                if (k->range.p[tile->type.range[d]].grid) return tile->type.range[d];
        }
    return -1;
}

/* How often copies lie outside: where a cluster has a workgroup without a tile, and where one's part of the last shared
   tile has no position. */
static const char *copies_outside(Fn *f, const Kernel *k) {
    const int shared = shared_range(k), size = shared < 0 ? 0 : (int)k->range.p[shared].size, of = k->roles->cluster;
    const char *tiles = cexpr_operand(f, range_tasks(f, k, k->roles->cluster_range))->text,
               *odd = fn_text(f, "(%s %% %d != 0)", tiles, of);
    if (shared < 0) return odd;
    const char *last =
        fn_text(f, "(%s + %d) %% %d", cexpr_operand(f, size_text(f, k->range.p[shared].of))->text, size - 1, size);
    return fn_text(f, "%s + (%s < %d)", odd, last, size / of);
}

static const CExpr *workers_tasks(Fn *f, const Kernel *k) {
    const CExpr *n = cexpr_number(f, 1);
    for (int i = 0; i < k->ngrid; i++) {
        const CExpr *own = range_tasks(f, k, i);
        if (range_cluster(k, i) > 1) own = cexpr_ceil_div(f, own, range_cluster(k, i));
        n = cexpr_mul(f, n, cexpr_operand(f, own));
    }
    return n;
}

/* A cluster, or a workgroup, takes a task in each round. */
static const CExpr *rounds_text(Fn *f, const Kernel *k, const CExpr *tasks, const char *target) {
    return cexpr_ceil_div(f, tasks, gpu_facts(target)->at_once[k->roles->cluster]);
}

void clocks_lines(Fn *f, const Kernel *k, const char *target) {
    const char *apart = k->plan.apart ? rows_apart(f, k) : NULL;
    const CExpr *tasks = workers_tasks(f, k);
    const char *many = k->plan.few ? fn_text(f, "%s > %d", cexpr_operand(f, tasks)->text, k->plan.few) : "rounds > 1";
    fn_line(f, "const int64_t rounds = %s;", rounds_text(f, k, tasks, target)->text);
    fn_line(f, "%sint64_t task = %d;", apart || k->plan.again ? "" : "const ", k->plan.cost);
    if (apart) fn_line(f, "if (%s) task += %d;", apart, k->plan.apart);
    if (k->plan.again) fn_line(f, "if (%s) task += %d;", many, k->plan.again);
    if (k->roles->cluster == 1) {
        fn_line(f, "return task * rounds;");
        return;
    }
    if (roles_slice(k)) {
        fn_line(f, "return %d + task * rounds;", (int)gpu_facts(target)->cluster);
        return;
    }
    fn_line(f, "const int64_t outside = %d * (%s);", k->plan.outside, copies_outside(f, k));
    fn_line(f, "return %d + task * (rounds - 1) + tile_most(task, outside);", (int)gpu_facts(target)->cluster);
}
