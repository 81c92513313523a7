/* argument.c: a node's arguments as text: elements and bytes where parts of tensors begin. */
#include "codegen/text/argument.h"
#include "codegen/text/share.h"
#include "codegen/text/size.h"

#include <inttypes.h>

const CExpr *tensor_slot(Fn *f, const Tensor *t) {
    const CExpr *offset = field_number(f, "slot", f->memory->offset[t->id]);
    const char *generation = f->back->sync->generation;
    if (t->slots == 1) return offset;
    const CExpr *slot = cexpr_open(f, "%s %% %d * %" PRId64, generation, t->slots, f->memory->bytes[t->id]);
    return cexpr_add(f, offset, slot);
}

static const char *tensor_text(Fn *f, const Tensor *t) {
    int arg = f->memory->arg[t->id];
    if (arg >= 0) return fn_text(f, "t->arg[%d]", arg);
    if (t->symmetric >= 0) return fn_text(f, "tile_at(t->symmetric[t->rank], %s)", tensor_slot(f, t)->text);
    return fn_text(f, "tile_at(t->local, %s)", tensor_slot(f, t)->text);
}

static const CExpr *number_text(Fn *f, int64_t n) { return cexpr_number(f, n); }

const CExpr *part_text(Fn *f, const Tensor *t, const Arg *a) {
    const CExpr *sum = cexpr_number(f, 0);
    for (int d = 0; d < t->ndim; d++) {
        Size whole = t->dim[d];
        const CExpr *origin = number_text(f, d < a->lead ? a->at[d] : 0);
        if (a->slice[d] >= 0) {
            origin = size_origin_in_text(f, whole, a->slice[d]);
        }
        sum = cexpr_add(f, d ? cexpr_mul(f, sum, cexpr_operand(f, tensor_extent(f, t, d))) : sum, origin);
    }
    return sum;
}

const CExpr *packed_part_text(Fn *f, const Node *n, const Tensor *t, const Arg *a) {
    int64_t step = 1, each = 8 / elem_bits(t->elem);
    bool whole = true;
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (d < a->lead || a->slice[d] >= 0) whole = whole && step % each == 0;
        step = size_is_number(t->dim[d]) ? step * t->dim[d].c % each : 1;
    }
    if (!whole) fn_unsupported(f, n->loc, fn_text(f, "a part of '%s' that begins within a byte", t->name));
    return cexpr_open(f, "%s / %" PRId64, cexpr_group(f, part_text(f, t, a))->text, each);
}

const CExpr *symmetric_text(Fn *f, const Tensor *t, const CExpr *first) {
    const CExpr *bytes = cexpr_mul(f, cexpr_operand(f, first), number_text(f, t->packet ? 8 : elem_bits(t->elem) / 8));
    return cexpr_is(first, 0) ? tensor_slot(f, t) : cexpr_open(f, "%s + %s", tensor_slot(f, t)->text, bytes->text);
}

const char *argument_text(Fn *f, const Node *n, int i) {
    const Arg *a = &n->arg.p[i];
    const Tensor *t = &f->p->tensor.p[a->tensor];
    const Param *p = &n->kernel->param.p[i];
    const CExpr *first = part_text(f, t, a);
    if (p->ranks >= 0) return symmetric_text(f, t, first)->text;
    if (t->ndim == 0 && !p->out && !p->inout) return fn_text(f, "*(const %s *)%s", elem_c(t->elem), tensor_text(f, t));
    if (cexpr_is(first, 0)) return tensor_text(f, t);
    if (elem_is_packed(t->elem))
        return fn_text(f, "(tile_packed *)%s + %s", tensor_text(f, t), packed_part_text(f, n, t, a)->text);
    return fn_text(f, "(%s *)%s + %s", elem_c(t->elem), tensor_text(f, t), first->text);
}
