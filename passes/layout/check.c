/* check.c: contracts of the steps of the pass layout.
   Takes: a kernel between two steps. Gives: an error for each fact that a step should have left and did not. */
#include "passes/layout/layout.h"

static bool any_op(const Lay *l, bool (*wrong)(const Lay *, const Op *)) {
    for (const Op *op = walk(l->k->body); op; op = walk_next(op, l->k->body))
        if (wrong(l, op)) return true;
    return false;
}

static bool is_refused(const Lay *l, const Op *op) {
    if (op->kind == OP_FOR) return op->region[1] != NULL;
    return op->kind == OP_STORE && op->mode == STORE_ADD && !lay_adds_atomically(l->k->param.p[op->param].elem);
}

static bool is_supported(const Lay *l) { return !any_op(l, is_refused); }

static bool names_differ(const Lay *l) {
    for (int i = 0; i < l->k->range.n; i++)
        for (int j = 0; j < i; j++)
            if (l->k->range.p[i].name == l->k->range.p[j].name) return false;
    return true;
}

static bool extents_hold(const Lay *l) {
    for (int i = 0; i < l->k->range.n; i++)
        if (l->extent[i] < range_most(l->m, l->k, i) || (l->extent[i] & (l->extent[i] - 1))) return false;
    return true;
}

/* Only its conversion to bytes takes a packed tile that was loaded. */
static bool takes_packed(const Lay *l, const Op *op) {
    (void)l;
    for (int i = 0; i < op->arg.n; i++) {
        const Value *v = op->arg.p[i];
        bool packed = v->def && v->def->kind == OP_LOAD && elem_is_packed(v->type.elem);
        if (packed && (op->kind != OP_CAST || op->res.p[0]->type.elem != ELEM_I8)) return true;
    }
    return false;
}

static bool are_bytes(const Lay *l) { return !any_op(l, takes_packed); }

static bool waves_count(const Lay *l) { return l->k->plan.waves >= 1 && l->k->plan.waves == 1 << l->wave_bits; }

static bool store_lacks_ranges(const Lay *l, const Op *op) {
    Type place = {0};
    for (int d = 0; d < op->sub.n; d++) place = type_union(place, affine_type(l->k, &op->sub.p[d].lo));
    return op->kind == OP_STORE && !type_covers(op->arg.p[0]->type, place);
}

static bool stores_are_whole(const Lay *l) { return !any_op(l, store_lacks_ranges); }

static bool lacks_fragments(const Lay *l, const Op *op) {
    (void)l;
    return op->kind == OP_DOT && op->by && !(op->arg.p[0]->layout && op->arg.p[1]->layout);
}

static bool products_have_fragments(const Lay *l) { return !any_op(l, lacks_fragments); }

static bool rows_are_aligned(const Lay *l) {
    for (int i = 0; i < l->k->range.n; i++)
        if (l->k->range.p[i].aligned && l->k->range.p[i].aligned != range_row_alignment(l->k, i)) return false;
    return true;
}

static bool class_differs(const Lay *l, const Value *v) {
    Type own = v->type;
    own.elem = l->class[lay_class(l, v)].type.elem;
    return !type_equal(own, l->class[lay_class(l, v)].type);
}

static bool classes_agree(const Lay *l) {
    for (int i = 0; i < l->value.n; i++)
        if (l->value.p[i] && class_differs(l, l->value.p[i])) return false;
    return l->nvalue == l->k->nvalue;
}

static bool are_chosen(const Lay *l) {
    for (int i = 0; i < l->value.n; i++) {
        const Value *v = l->value.p[i];
        int layout = v && v->type.nrange ? l->class[lay_class(l, v)].layout : 1;
        if (layout < 1 || (v && v->type.nrange && layout > l->k->layout.n)) return false;
    }
    return true;
}

static bool layouts_hold(const Lay *l) { return l->k->form == KERNEL_LAYOUT && kernel_is_valid(l->m, l->k); }

static void mark_results(const Op *op, bool *used) {
    for (int i = 0; i < op->res.n; i++) used[op->res.p[i]->layout] = true;
    for (int r = 0; r < 2; r++)
        for (int i = 0; op->region[r] && i < op->region[r]->arg.n; i++) used[op->region[r]->arg.p[i]->layout] = true;
}

static bool layouts_are_used(const Lay *l) {
    bool *used = ARENA_ARRAY(l->scratch, bool, l->k->layout.n + 1);
    for (const Op *op = walk(l->k->body); op; op = walk_next(op, l->k->body)) mark_results(op, used);
    for (int i = 1; i <= l->k->layout.n; i++)
        if (!used[i]) return false;
    return true;
}

static const struct {
    PassFact about;
    bool (*holds)(const Lay *); /* NULL: no look at the kernel tells */
} facts[] = {
    {{"supported", "nothing is left that GPUs do not do, and no `merge`"}, is_supported},
    {{"names", "no two ranges have one name"}, names_differ},
    {{"extents", "each range has an extent: a power of two, at least as long as its tiles"}, extents_hold},
    {{"bytes", "no operation but a conversion takes packed elements"}, are_bytes},
    {{"sizes", "tiles keep their sizes"}, NULL},
    {{"waves", "the kernel has its number of waves, a power of two"}, waves_count},
    {{"stores", "what is stored has all ranges of its place"}, stores_are_whole},
    {{"products", "operands of matrix instructions are fragments, with layouts"}, products_have_fragments},
    {{"aligned", "aligned rows are those that can be"}, rows_are_aligned},
    {{"classes", "each tile is of one class, of its own ranges"}, classes_agree},
    {{"chosen", "each class has a layout"}, are_chosen},
    {{"layouts", "each tile has a layout, and operands lie where elements meet"}, layouts_hold},
    {{"compact", "each layout of the kernel is some tile's"}, layouts_are_used},
};

const PassFact *lay_fact(size_t i) { return i < sizeof facts / sizeof *facts ? &facts[i].about : NULL; }

bool lay_check(const Lay *l, const PassStep *step) {
    int errors = l->m->diags->errors;
    kernel_is_valid(l->m, l->k);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if ((l->facts & 1 << i) && facts[i].holds && !facts[i].holds(l))
            diag_error(l->m->diags, l->k->loc, "invalid-ir", "kernel '%s' behind layout.%s: not so: %s", l->k->name,
                       step->name, facts[i].about.means);
    return l->m->diags->errors == errors;
}
