/* map.c: tensors that kernels copy by boxes, as the runtime describes them to the driver before a run. */
#include "codegen/gpu/hip.h"

/* Which of the parts of that shape it is, in the tensor's order; refused where that is known at run time only. */
static int64_t part_number(Fn *f, const Tensor *t, const Arg *a) {
    int64_t number = 0;
    bool known = true;
    for (int d = 0; d < t->ndim; d++) {
        known = known && a->slice[d] < 0 && (d == 0 || d >= a->lead || size_is_number(t->dim[d]));
        if (d < a->lead) number = number * (d ? t->dim[d].c : 1) + a->at[d];
    }
    if (!known)
        fn_unsupported(f, f->node->loc, fn_text(f, "a part of '%s' whose place is known at run time only", t->name));
    return known ? number : 0;
}

static void dim_add(GpuMap *m, Size n) {
    m->dim[m->ndim] = n;
    m->box[m->ndim++] = 1;
}

GpuMap hip_map(Fn *f, int param, int last, int64_t planes) {
    const Arg *arg = &f->node->arg.p[param];
    const Tensor *t = &f->p->tensor.p[arg->tensor];
    const Param *p = &f->k->param.p[param];
    GpuMap m = {.arg = f->memory->arg[t->id],
                .symmetric = t->symmetric >= 0 ? MAP_OWN : 0,
                .before = part_number(f, t, arg),
                .elem = t->elem};
    if (m.arg < 0) m.first = f->memory->offset[t->id];
    if (planes) dim_add(&m, size_number(planes));
    for (int d = p->ndim - last; d < p->ndim; d++) dim_add(&m, p->dim[d]);
    return m;
}
