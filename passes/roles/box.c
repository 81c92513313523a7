/* box.c: which tiles of a tensor are boxes, which one lane copies (TMA), and how a box lies in its slot; how results
   go to memory otherwise. Takes: loads and stores. Gives: panels and ways; or why a tile is no box. */
#include "ir/pixels.h"
#include "passes/roles/slice.h"

enum {
    MOST_BOX_DIMS = 3, /* of a tensor: a plane, rows, columns: the coordinates that the device library counts */
    ROW_ALIGN = 16     /* bytes; rows begin at multiples of so many (cuTensorMapEncodeTiled, globalStrides) */
};

static const char *name_of_param(const Slice *s, const Op *access) { return s->k->param.p[access->param].name; }

/* Some operand has rows of that length: then what no box takes is another kernel's work anyway (otherwise.c). */
static bool operand_has_rows(const Slice *s, const Param *result) {
    for (int i = 0; i < s->stream.n; i++)
        for (int n = 0; n < s->stream.p[i].load.n; n++) {
            const Param *p = &s->k->param.p[s->stream.p[i].load.p[n]->param];
            if (p->elem == result->elem && size_equal(p->dim[p->ndim - 1], result->dim[result->ndim - 1])) return true;
        }
    return false;
}

/* Subscripts of the tensor's dimensions: behind the rank, where the access has one. */
static const Span *places(const Slice *s, const Op *access) {
    return &access->sub.p[slice_is_symmetric(s, access)];
}

/* Only a run knows whether boxes take its rows, and no operand has such rows. */
static bool has_rows_of_its_own(const Slice *s, const Op *access) {
    const Param *p = &s->k->param.p[access->param];
    return !size_is_number(p->dim[p->ndim - 1]) && !operand_has_rows(s, p);
}

/* Strides are products of the extents behind their dimension. No words: they can be those of a box. operand: of a
   product, for which another kernel stands by where a run has other strides. */
static Reason why_strides(const Slice *s, const Op *access, bool operand) {
    const Param *p = &s->k->param.p[access->param];
    Size last = p->dim[p->ndim - 1];
    for (int d = 0; d < p->ndim; d++)
        if (p->dim[d].axis >= 0)
            return (Reason){.fix = "an extent that the ranks divide",
                            .words = slice_text(s, "'%s' is split over ranks in blocks of several lengths", p->name)};
    if (!operand && s->k->plan.unaligned && has_rows_of_its_own(s, access))
        return (Reason){.fix = "a number: dim N = 4096, or -D N=4096",
                        .words = slice_text(s, "rows of '%s' have a run-time length", p->name)};
    if (!size_is_number(last) && s->chained)
        return (Reason){.fix = "a number: dim D = 128, or -D D=128",
                        .words = slice_text(s, "rows of '%s' have a run-time length", p->name)};
    if (!size_is_number(last)) return (Reason){0}; /* otherwise.c */
    if (last.c * elem_bits(p->elem) % (8 * ROW_ALIGN))
        return (Reason){.fix = slice_text(s, "pad the rows: to multiples of %d elements of %d bits",
                                          8 * ROW_ALIGN / elem_bits(p->elem), elem_bits(p->elem)),
                        .words = slice_text(s, "rows of '%s' are no multiples of %d bytes", p->name, ROW_ALIGN)};
    return (Reason){0};
}

/* The last position of a range of single positions, which are numbers; -1: another range. */
static int64_t position_most(const Slice *s, int range) {
    const Range *r = &s->k->range.p[range];
    const Op *loop = r->grid ? NULL : kernel_loop(s->k, range);
    int64_t first, past;
    if (r->kind != RANGE_POSITION) return -1;
    if (r->grid) return size_is_number(r->of) ? r->of.c - 1 : -1;
    const bool known = loop && value_const(loop->arg.p[0], &first) && value_const(loop->arg.p[1], &past);
    return known && first >= 0 ? past - 1 : -1;
}

/* The largest value of a subscript over positions of the grid and of loops; -1: it may be negative, or is something
   else. */
static int64_t subscript_most(const Slice *s, const Affine *a) {
    int64_t most = a->c;
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        const int64_t last = t->kind == TERM_POS ? position_most(s, t->id) : -1;
        if (last < 0 || t->mul < 0) return -1;
        most += t->mul * (last / t->div);
    }
    return a->c < 0 ? -1 : most;
}

/* Dimensions in front of the last two count planes, one behind the other: none is left through an end of its own. */
static bool planes_fit(const Slice *s, const Op *access) {
    const Param *p = &s->k->param.p[access->param];
    int64_t planes = 1;
    for (int d = 0; d < p->ndim - 2; d++) {
        const int64_t most = subscript_most(s, &places(s, access)[d].lo);
        if (!size_is_number(p->dim[d]) || most < 0 || most >= p->dim[d].c) return false;
        planes *= p->dim[d].c;
        if (planes > INT32_MAX) return false;
    }
    return true;
}

/* The last two dimensions have the two ranges, in any order; those in front have one place for the whole tile. */
static Reason why_shape(const Slice *s, const Op *access, int a, int b) {
    const int n = s->k->param.p[access->param].ndim;
    const Span *sub = places(s, access);
    if (sub > access->sub.p && subscript_range(s, &access->sub.p[0].lo) != -1)
        return (Reason){.fix = NULL,
                        .words = slice_text(s, "the rank of an element of '%s' is computed", name_of_param(s, access))};
    for (int d = 0; d < n; d++)
        if (subscript_range(s, &sub[d].lo) == -2)
            return (Reason){
                .fix = "gather by a kernel of its own, and multiply what that has stored",
                .words = slice_text(s, "a place in '%s' is computed for each element", name_of_param(s, access))};
    if (n > MOST_BOX_DIMS && !planes_fit(s, access))
        return (Reason){.fix = "view(x, [n, m]) puts dimensions together",
                        .words =
                            slice_text(s, "'%s' has more than %d dimensions", name_of_param(s, access), MOST_BOX_DIMS)};
    int row = n > 1 ? subscript_range(s, &sub[n - 2].lo) : -1, column = n ? subscript_range(s, &sub[n - 1].lo) : -1;
    if ((row == a && column == b) || (row == b && column == a)) return (Reason){0};
    return (Reason){.fix = "the last two subscripts are the tile's two ranges, each once",
                    .words =
                        slice_text(s, "rows of a tile of '%s' do not lie beside each other", name_of_param(s, access))};
}

/* Tiles of so many positions certainly end where the range does. */
static bool is_full(const Slice *s, int range, int64_t size) {
    Kernel k = *s->k;
    k.range.p = arena_copy(s->scratch, k.range.p, sizeof *k.range.p * (size_t)k.range.n);
    k.range.p[range].size = size;
    return range_is_full(&k, range);
}

/* Or before: nothing of the tensor lies behind the end. */
static bool ends_at(const Value *end, Size dim) {
    int64_t n;
    if (value_const(end, &n)) return size_is_number(dim) && dim.c <= n;
    return end->def && end->def->kind == OP_SIZE && size_equal(end->def->size, dim);
}

/* The end of a tile of the grid: a whole number of steps, or where the dimension ends. */
static bool ends_with_tile(const Slice *s, const Value *end, Size dim) {
    if (!end->def || end->def->kind != OP_END) return false;
    const Range *r = &s->k->range.p[end->def->range];
    bool begins_at_0 = r->grid && r->owner < 0 && !r->starts && !r->part_of;
    return begins_at_0 && r->size > 0 && !r->tunable && r->size % slice_depth(s) == 0 && size_equal(r->of, dim);
}

static bool is_whole(const Slice *s, int over) {
    const Op *loop = kernel_loop(s->k, over);
    const int depth = slice_depth(s);
    if (loop && value_is_multiple(loop->arg.p[0], depth) && value_is_multiple(loop->arg.p[1], depth)) return true;
    return is_full(s, over, depth);
}

static bool ends_with_loop(const Slice *s, const Op *load, int over) {
    const Param *p = &s->k->param.p[load->param];
    const Value *end = kernel_loop(s->k, over)->arg.p[1];
    for (int d = 0; d < p->ndim; d++)
        if (affine_position(&places(s, load)[d].lo) == over &&
            (ends_at(end, p->dim[d]) || (!s->chained && ends_with_tile(s, end, p->dim[d]))))
            return true;
    return false;
}

/* Positions behind the end of the loop add nothing: there are none in a whole number of steps, or the tensor ends, too.
   (Products in a chain have steps of several lengths, and sum the width of a tensor exactly.) */
Reason box_tail(const Slice *s, const Op *load, int over) {
    const bool whole = s->chained ? s->k->range.p[over].grid : is_whole(s, over);
    if (whole || ends_with_loop(s, load, over)) return (Reason){0};
    return (Reason){.fix = s->chained ? "a loop over all of its positions"
                                      : "a loop over all of its positions, or over whole steps of 128 bytes",
                    .words = slice_text(s, "'%s' goes on behind the end of the loop", s->k->param.p[load->param].name)};
}

static bool is_at_most(const Value *v, Size n) {
    const Op *d = v->def;
    if (d && d->kind == OP_MIN) return is_at_most(d->arg.p[0], n) || is_at_most(d->arg.p[1], n);
    if (d && d->kind == OP_MAX) return is_at_most(d->arg.p[0], n) && is_at_most(d->arg.p[1], n);
    return d && d->kind == OP_SIZE && size_equal(d->size, n);
}

/* The tensor has an element there where a task or a step has one. */
static bool is_there(const Slice *s, const Affine *at, Size dim) {
    const int range = affine_position(at);
    if (size_is_number(dim) || range < 0) return size_is_number(dim) && dim.c > 0;
    const Op *loop = kernel_loop(s->k, range);
    return loop ? is_at_most(loop->arg.p[1], dim) : size_equal(s->k->range.p[range].of, dim);
}

/* Boxes of tensors without elements cannot be described to the machine. */
static Reason why_empty(const Slice *s, const Op *load) {
    const Param *p = &s->k->param.p[load->param];
    for (int d = 0; d < p->ndim; d++)
        if (!is_there(s, &places(s, load)[d].lo, p->dim[d]))
            return (Reason){.fix = "a loop that ends with the tensor: in 0 .. min(t, ..)",
                            .words = slice_text(s, "'%s' may be empty where a loop over it is not", p->name)};
    return (Reason){0};
}

/* Pixels of an image, but for the positions of a step: they are channels of several places of the weights. */
static bool mixes_channels(const Slice *s, const Op *load, int kept, int over) {
    Pixels pixels;
    return s->k->param.p[load->param].ndim == PIXEL_DIMS && access_pixels(s->k, load, kept, over, 1, &pixels) &&
           !access_pixels(s->k, load, kept, over, slice_depth(s), &pixels);
}

/* Of elements that share a byte: boxes are of bytes, and a map has no extents that are parts of a run-time length. */
static Reason why_packed(const Slice *s, const Op *load, int over) {
    const Param *p = &s->k->param.p[load->param];
    const Affine *at = &places(s, load)[p->ndim - 1].lo;
    const Op *loop = kernel_loop(s->k, over);
    if (elem_bits(p->elem) >= 8) return (Reason){0};
    if (!size_is_number(p->dim[p->ndim - 1]))
        return (Reason){.fix = "a number: dim K = 4096, or -D K=4096",
                        .words = slice_text(s, "rows of packed '%s' have a run-time length", p->name)};
    const int each = 8 / elem_bits(p->elem);
    bool whole = at->c % each == 0 && loop && value_is_multiple(loop->arg.p[0], each);
    for (int i = 0; i < at->nterm; i++)
        whole = whole && (at->term[i].mul % each == 0 || (at->term[i].kind == TERM_POS && at->term[i].id == over));
    if (whole) return (Reason){0};
    return (Reason){.fix = "places that are multiples of a byte's elements",
                    .words = slice_text(s, "tiles of packed '%s' may begin within a byte", p->name)};
}

Reason box_why(Slice *s, const Op *load, int kept, int over, Panel *panel) {
    if (mixes_channels(s, load, kept, over))
        return (Reason){.fix =
                            "multiples of so many channels; or loops over the weights' places around one over channels",
                        .words = slice_text(s, "a step of %d has channels of several places in '%s'", slice_depth(s),
                                            name_of_param(s, load))};
    Reason why = why_shape(s, load, kept, over);
    if (!why.words) why = why_strides(s, load, true);
    if (!why.words) why = why_packed(s, load, over);
    if (!why.words && s->chained) why = why_empty(s, load);
    const bool along = subscript_range(s, &load->sub.p[load->sub.n - 1].lo) == over;
    if (!why.words && !s->chained) why = box_tail(s, load, over);
    if (!why.words) *panel = along ? PANEL_K128 : PANEL_MN128;
    return why;
}

/* An image in whole chunks of memory, whose channels end with the loop. */
bool box_is_pixels(const Slice *s, const Op *load, int kept, int over) {
    const Param *p = &s->k->param.p[load->param];
    Pixels pixels;
    if (s->chained || p->ranks >= 0 || p->ndim != PIXEL_DIMS || !size_is_number(p->dim[p->ndim - 1])) return false;
    return !why_strides(s, load, true).words && !box_tail(s, load, over).words &&
           access_pixels(s->k, load, kept, over, slice_depth(s), &pixels);
}

bool box_is_line(Slice *s, const Op *load) {
    const int n = s->k->param.p[load->param].ndim, range = load->res.p[0]->type.range[0];
    if (n < 2 || slice_is_symmetric(s, load) || subscript_range(s, &load->sub.p[n - 1].lo) != range) return false;
    for (int d = 0; d < n - 1; d++)
        if (subscript_range(s, &load->sub.p[d].lo) != -1) return false;
    return !why_strides(s, load, true).words && !why_empty(s, load).words &&
           (n <= MOST_BOX_DIMS || planes_fit(s, load));
}

bool box_is_near(Slice *s, const Op *load) {
    const Affine *last = &load->sub.p[load->sub.n - 1].lo;
    return !why_shape(s, load, s->row, s->column).words && !why_strides(s, load, false).words &&
           subscript_range(s, last) == s->column;
}

/* ---- results ---- */

/* Tiles of the range have all of their positions; in a cluster, those that there are: who has none stores nothing at
   peers. */
static bool tiles_are_full(const Slice *s, const Op *store, int range) {
    const Range *r = &s->k->range.p[range];
    if (range_is_full(s->k, range)) return true;
    return slice_is_symmetric(s, store) && r->grid && size_is_number(r->of) && r->of.c % r->size == 0;
}

/* Elements of a box that lie outside are not stored: so the tensor ends where the tiles do. */
static const char *why_end(const Slice *s, const Op *store) {
    const Param *p = &s->k->param.p[store->param];
    for (int d = 0; d < p->ndim; d++) {
        const Affine *at = &places(s, store)[d].lo;
        int r = subscript_range(s, at);
        const bool panels = !s->chained || r != s->column || slice_extent(s, r) % PANEL_COLUMNS == 0;
        if (r < 0 || (panels && tiles_are_full(s, store, r))) continue;
        if (affine_position(at) != r || !size_equal(p->dim[d], s->k->range.p[r].of))
            return slice_text(s, "'%s' goes on behind the last tile", p->name);
    }
    return NULL;
}

/* Floats of 16 bits, rounded from f32: as threads write them to slots. */
static bool is_rounded(const Slice *s, const Op *store) {
    Elem to = s->k->param.p[store->param].elem;
    const Value *v = store->arg.p[0];
    if (to != ELEM_BF16 && to != ELEM_F16) return false;
    if (v->type.elem == to) return v->def && v->def->kind == OP_CAST && v->def->arg.p[0]->type.elem == ELEM_F32;
    return v->type.elem == ELEM_F32;
}

/* NULL: it goes through a slot. */
static const char *why_no_slot(const Slice *s, const Op *store) {
    enum { WRITTEN = 16 /* columns that threads write to a slot at once (stmatrix) */ };
    if (s->swapped && !s->turned) return "rows and columns are exchanged";
    if (s->wide >= 0) return "groups share its columns";
    if (s->chained && slice_columns_laid(s, s->column) % WRITTEN) return "its columns are no multiple of 16";
    if (is_rounded(s, store)) return why_shape(s, store, s->row, s->column).words;
    bool narrow = elem_bits(s->k->param.p[store->param].elem) == 16;
    return narrow ? "it is not rounded from f32" : "its elements have not 16 bits";
}

/* Of a tile that a cluster shares, by the kernel's plan. */
static const char *why_share(const Slice *s) {
    const Plan *p = &s->k->plan;
    const bool shared = p->cluster > 1 && p->cluster_range < 0 && !s->swapped;
    if (!shared || slice_extent(s, s->column) / p->cluster >= PANEL_COLUMNS) return NULL;
    return "each workgroup of a cluster finishes fewer columns than a box has";
}

const char *store_why_no_box(Slice *s, const Op *store) {
    const char *why = why_no_slot(s, store);
    if (!why) why = why_strides(s, store, false).words;
    if (!why) why = why_share(s);
    return why ? why : why_end(s, store);
}

bool slice_is_loose(Slice *s) {
    for (int i = 0; i < s->near.n; i++)
        if (has_rows_of_its_own(s, s->near.p[i])) return true;
    for (int i = 0; i < s->store.n; i++)
        if (!store_why_no_box(s, s->store.p[i]) && has_rows_of_its_own(s, s->store.p[i])) return true;
    return false;
}

bool box_is_panels(Slice *s, const Op *access) {
    const Affine *last = &access->sub.p[access->sub.n - 1].lo;
    return !why_shape(s, access, s->row, s->column).words && !why_strides(s, access, false).words &&
           subscript_range(s, last) == s->column;
}

/* They go through a slot: to a box, or row by row. Others go to memory from registers. */
static const char *store_way(Slice *s, const Op *store) {
    if (store->in->parent && store->in->parent->kind == OP_FOR) return NULL;
    const char *why = store_why_no_box(s, store), *way = s->swapped || why_no_slot(s, store) ? NULL : "rows";
    if (!why) return "box";
    remark(s->c, "roles", store->loc, "'%s': '%s' is stored %s: %s", s->k->name, name_of_param(s, store),
           way ? "by rows" : "from registers", why);
    return way;
}

void slice_stores(Slice *s) {
    for (int i = 0; i < s->store.n; i++) vec_push(s->scratch, &s->way, store_way(s, s->store.p[i]));
}
