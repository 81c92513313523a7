/* size.c: extents as C text: a number where it is one on every rank, else a constant declared at the head of the
 * function. */
#include "codegen/text/size.h"

#include <inttypes.h>

static bool size_same(const SizeText *a, Size s, bool block, const CExpr *coord) {
    return size_equal(a->size, s) && a->block == block &&
           (a->coord == coord || (coord && a->coord && cexpr_equal(a->coord, coord)));
}

static const CExpr *declared(Fn *f, Size s, bool block, const CExpr *coord) {
    for (int i = 0; i < f->size.n; i++)
        if (size_same(&f->size.p[i], s, block, coord)) return f->size.p[i].text;
    return NULL;
}

static const CExpr *declare(Fn *f, Size s, bool block, const CExpr *coord, const char *wanted, const CExpr *value) {
    const CExpr *name = cexpr_name(f, c_name(&f->names, wanted));
    fn_constant(f, name->text, value->text);
    vec_push(f->arena, &f->size, ((SizeText){s, block, coord, name}));
    return name;
}

static const CExpr *symbol_text(Fn *f, Size s) {
    Size bare = {.sym = s.sym, .axis = -1};
    const CExpr *name = declared(f, bare, false, NULL);
    if (!name) name = declare(f, bare, false, NULL, f->m->symbol.p[s.sym].name, f->back->symbol(f, s.sym));
    return cexpr_add(f, name, cexpr_number(f, s.c));
}

static const CExpr *whole_text(Fn *f, Size s) { return s.sym < 0 ? cexpr_number(f, s.c) : symbol_text(f, s); }

static const CExpr *own_coord(Fn *f, int axis) { return f->back->coord(f, axis); }

static bool splits_evenly(const Module *m, Size s) { return s.sym < 0 && s.c >= 0 && s.c % axes_ranks(m, s.axis) == 0; }

static const char *size_name(Fn *f, Size s, const char *what) {
    const char *axis = axes_text(f->m, s.axis, "_");
    if (s.sym < 0) return fn_text(f, "%s_%" PRId64 "_%s", what, s.c, axis);
    return fn_text(f, "%s_%s_%s", what, f->m->symbol.p[s.sym].name, axis);
}

/* What the rank with this coordinate along the last axis has. */
static const CExpr *share_text(Fn *f, Size s, const CExpr *coord) {
    int64_t ranks = f->m->axis.p[axes_last(s.axis)].ranks;
    Size in = size_gathered(s);
    if (in.axis < 0)
        return cexpr_call(f, "tile_share(%s, %" PRId64 ", %s)", whole_text(f, s)->text, ranks, coord->text);
    return cexpr_call(f, "tile_part(%s, %s, %s)", size_text(f, in)->text, size_block_text(f, s)->text, coord->text);
}

const CExpr *size_text_at(Fn *f, Size s, const CExpr *coord) {
    if (s.axis < 0) return whole_text(f, s);
    if (splits_evenly(f->m, s)) return cexpr_number(f, s.c / axes_ranks(f->m, s.axis));
    if (coord) return share_text(f, s, coord);
    const CExpr *name = declared(f, s, false, NULL);
    if (name) return name;
    const CExpr *share = share_text(f, s, own_coord(f, axes_last(s.axis)));
    return declare(f, s, false, NULL, size_name(f, s, "part"), share);
}

const CExpr *size_text(Fn *f, Size s) { return size_text_at(f, s, NULL); }

const CExpr *size_block_text(Fn *f, Size s) {
    return s.axis < 0 ? whole_text(f, s) : cexpr_ceil_div(f, whole_text(f, s), axes_ranks(f->m, s.axis));
}

const CExpr *size_origin_in_text(Fn *f, Size s, int axes) {
    const CExpr *sum = cexpr_number(f, 0);
    for (Size in = size_split(s, axes); !size_equal(in, s); in = size_gathered(in))
        sum =
            cexpr_add(f, sum, cexpr_mul(f, own_coord(f, axes_last(in.axis)), cexpr_operand(f, size_block_text(f, in))));
    return sum;
}

const CExpr *size_origin_text(Fn *f, Size s) { return size_origin_in_text(f, size_whole(s), s.axis); }

/* Arguments of the program are dense in the rank's own extents; temporaries have those of a full block on every rank.
 */
const CExpr *tensor_extent(Fn *f, const Tensor *t, int dim) {
    return t->role == ROLE_TEMP ? size_block_text(f, t->dim[dim]) : size_text(f, t->dim[dim]);
}

const CExpr *param_extent(Fn *f, int param, int dim) {
    const Arg *a = &f->node->arg.p[param];
    const Param *p = &f->node->kernel->param.p[param];
    const Tensor *t = &f->p->tensor.p[a->tensor];
    return dim < arg_same_dims(t, a, p) ? tensor_extent(f, t, a->lead + dim) : size_text(f, p->dim[dim]);
}

const CExpr *tasks_text(Fn *f, Size of, int64_t size) {
    int64_t n;
    if (size == 0) return cexpr_number(f, 1);
    const CExpr *tasks = cexpr_ceil_div(f, size_block_text(f, of), size);
    if (cexpr_const(tasks, &n)) return n > 0 ? tasks : cexpr_number(f, 1);
    return cexpr_call(f, "tile_most(1, %s)", tasks->text);
}

const CExpr *ragged_tasks_text(Fn *f, Size of, int64_t size, Size groups) {
    return cexpr_group(f, cexpr_add(f, tasks_text(f, of, size), size_text(f, groups)));
}
