/* dot.c: contractions as products of matrices, a call for each position of the ranges that are not the product's own.
   left: m rows of k. right: k rows of n, or n rows of k. result: m rows of n, to which the product is added. Operands
   that lie in memory in such rows are read there; others become tiles first. */
#include "codegen/host/host.h"
#include "codegen/host/rows.h"
#include "codegen/text/size.h"

typedef struct {
    const Op *op;
    DotRanges d;
    const Tile *to;
    Nest nest;
    Rows left, right;
    bool memory, turned; /* the right operand is read by panels; it has n rows of k */
    const char *panel;   /* where the panels are copied to; NULL: they are read where they are */
} Product;

static const char *extent_text(Fn *f, int16_t range) { return cexpr_bare(f->range[range].count)->text; }

static Nest nest_around(Fn *f, const Op *op, const DotRanges *d) {
    Type all = type_union(op->arg.p[0]->type, op->arg.p[1]->type);
    Nest n = nest_new(f, NULL, 0);
    for (int i = 0; i < all.nrange; i++)
        if (all.range[i] != d->m && all.range[i] != d->n && all.range[i] != d->k) n.range[n.n++] = all.range[i];
    return n;
}

/* Columns and rows of a panel at most: TILE_PANEL_f32 and TILE_STEP of tile_dot_memory.h. */
enum { PANEL = 64, STEP = 256 };

static const char *place_panel(Fn *f, int16_t k) {
    const int64_t most = f->range[k].most;
    Tile panel = {.elem = ELEM_F32, .count = PANEL * (most >= 0 && most < STEP ? most : STEP)};
    tile_place(f, &panel, "panel");
    return panel.name;
}

static void take_left(Fn *f, Product *p) {
    const Value *v = p->op->arg.p[p->d.left];
    if (p->to->elem == ELEM_F32 && rows_of_value(&p->nest, v, p->d.m, p->d.k, &p->left) && p->left.whole) return;
    Tile made = dot_operand(f, v, p->to->elem, p->d.k);
    rows_of_tile(&p->nest, &made, p->d.m, p->d.k, &p->left);
}

/* Rows of k, as a value whose rows should run along k lies in memory or is made. */
static bool take_turned(Fn *f, Product *p, const Value *v) {
    if (p->to->elem != ELEM_F32) return false;
    if (rows_of_value(&p->nest, v, p->d.n, p->d.k, &p->right) && p->right.whole) return true;
    if (fn_held(f, v)->hold == HOLD_TILE || value_fastest(f, v) != p->d.k) return false;
    Tile made = dot_operand(f, v, ELEM_F32, p->d.k);
    return rows_of_tile(&p->nest, &made, p->d.n, p->d.k, &p->right);
}

/* Panels are copied from rows that lie far apart: each would be in another page, and many in one set of the cache. */
static void take_right(Fn *f, Product *p) {
    const Value *v = p->op->arg.p[1 - p->d.left];
    int64_t stride;
    const bool is_tile = fn_held(f, v)->hold == HOLD_TILE;
    p->memory = p->turned = take_turned(f, p, v);
    if (!p->memory && p->to->elem == ELEM_F32 && !is_tile)
        p->memory = rows_of_value(&p->nest, v, p->d.k, p->d.n, &p->right) && p->right.whole;
    if (p->memory) {
        if (p->turned || !cexpr_const(p->right.stride, &stride) || stride > PANEL) p->panel = place_panel(f, p->d.k);
        return;
    }
    Tile made = dot_operand(f, v, p->to->elem, p->d.n);
    rows_of_tile(&p->nest, &made, p->d.k, p->d.n, &p->right);
}

static void emit_product(Fn *f, Product *p) {
    Rows to;
    Nest *n = &p->nest;
    rows_of_tile(n, p->to, p->d.m, p->d.n, &to);
    const char *sizes =
        fn_text(f, "%s, %s, %s", extent_text(f, p->d.m), extent_text(f, p->d.n), extent_text(f, p->d.k));
    const char *operands = fn_text(f, "&%s, %s, &%s, %s, &%s, %s", p->left.at->text, p->left.stride->text,
                                   p->right.at->text, p->right.stride->text, to.at->text, to.stride->text);
    if (p->memory)
        nest_line(n, n->n, "tile_dot_%s_f32(%s, %s, %s);", p->turned ? "turned" : "rows", sizes, operands,
                  p->panel ? p->panel : "NULL");
    else
        nest_line(n, n->n, "tile_dot_%s(%s, %s);", elem_text(p->to->elem), sizes, operands);
    nest_print(n);
}

void emit_dot(Fn *f, const Op *op) {
    DotRanges d;
    Value *v = op->res.p[0];
    Held *h = fn_held(f, v);
    const bool blocks = dot_ranges(f, op, &d);
    if (emit_few_product(f, op, &d) || emit_integer_product(f, op, &d) || emit_gathered(f, op)) return;
    if (!blocks) {
        if (!emit_row_product(f, op, &d)) emit_contract(f, op);
        return;
    }
    if (h->fastest < 0) h->fastest = d.n;
    const Tile *to = held_tile(f, v);
    int64_t mark = f->scratch;
    Tile own = *to;
    if (rows_end_with(to, d.m)) d = (DotRanges){1 - d.left, d.n, d.m, d.k};
    if (!rows_end_with(to, d.n)) {
        own = tile_for(f, v->type, to->elem, d.n);
        tile_place(f, &own, "product");
    }
    Product p = {.op = op, .d = d, .to = &own, .nest = nest_around(f, op, &d)};
    take_left(f, &p);
    take_right(f, &p);
    dot_start(f, op, &own);
    emit_product(f, &p);
    if (own.name != to->name) {
        Tile held = h->tile;
        h->tile = own;
        emit_copy(f, &held, v);
        h->tile = held;
    }
    f->scratch = mark;
}
