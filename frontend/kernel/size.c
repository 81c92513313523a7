/* size.c: a size of tiles is a choice of the compiler and of tuning, unless the source says `fixed`. Where the meaning
   depends on a size that is not fixed, either the tile is meant or the whole dimension: an error that names both.
   Takes: a lowered kernel. Gives: errors. */
#include "frontend/syntax/ast_print.h"
#include "frontend/kernel/kernel.h"

#include <inttypes.h>

static const char *reduction_word(const Op *op) {
    const OpInfo *o = &op_info[op->kind];
    return op->kind == OP_DOT ? "sum" : o->function ? o->text : op_info[o->joins].text;
}

/* What stands behind the size: ` of n`, or ` in lo .. hi`. */
static const char *over_text(const Kern *c, const RangeDecl *d) {
    Text t = {0};
    ast_print_range((Writer){&t, &c->diags->file.p[d->loc.file - 1]}, &(RangeDecl){.name = "", .of = d->of, .lo = d->lo, .hi = d->hi});
    const char *text = arena_format(c->arena, "%s", text_str(&t));
    text_free(&t);
    return text;
}

static void note_tile(Kern *c, const RangeDecl *d, int64_t size) {
    diag_note(c->diags, d->loc, "if this size is meant: %s: fixed %" PRId64 "%s", d->name, size, over_text(c, d));
}

static void report_reduction(Kern *c, int range, const Op *use) {
    const RangeDecl *d = c->range_decl.p[range];
    const Range *r = &c->b.k->range.p[range];
    const char *over = over_text(c, d), *word = reduction_word(use);
    diag_error(c->diags, use->loc, "tile-size", "this '%s' is of one tile of '%s', up to %" PRId64 " positions, not of all%s", word,
               r->name, r->size, over);
    if (op_takes_positions(use->kind))
        diag_note(c->diags, d->loc, "if all is meant: %s: *%s", d->name, over);
    else if (r->grid)
        diag_note(c->diags, d->loc, "if all is meant: %s: *%s, or a loop that adds up, for %s: %" PRId64 "%s { .. }", d->name, over,
                  d->name, r->size, over);
    else
        diag_note(c->diags, d->loc, "if all is meant: a variable before the loop takes the '%s' of each step, and is used behind it", word);
    note_tile(c, d, r->size);
}

static void report_loop(Kern *c, const RangeDecl *d, const Range *r, const Op *loop) {
    diag_error(c->diags, loop->loc, "tile-size", "this loop may compute something else where its steps have another size than %" PRId64,
               r->size);
    diag_note(c->diags, d->loc, "if all is meant: 'merge' says how parts of the loop go together; sums, maxima and minima need none");
    note_tile(c, d, r->size);
}

static void report_edge(Kern *c, const RangeDecl *d, const Range *r, const Op *use) {
    diag_error(c->diags, use->loc, "tile-size", "this may depend on where tiles of '%s' begin or end, and so on their size", r->name);
    diag_note(c->diags, d->loc, "as the end of a loop such a place is the same for every size if the loop leaves out the positions behind");
    note_tile(c, d, r->size);
}

static void report_count(Kern *c, int range, const Op *use) {
    const RangeDecl *d = c->range_decl.p[range];
    const Range *r = &c->b.k->range.p[range];
    diag_error(c->diags, use->loc, "tile-size", "this is added once for each tile of '%s', up to %" PRId64 " positions",
               r->name, r->size);
    if (r->grid)
        diag_note(c->diags, d->loc, "if once is meant: %s: *%s; for each position: for r in %s { .. }", d->name,
                  over_text(c, d), d->name);
    else
        diag_note(c->diags, d->loc, "if once is meant: behind the loop; for each position: for r in %s { .. }",
                  d->name);
    note_tile(c, d, r->size);
}

static void size_check(Kern *c, int range) {
    const Range *r = &c->b.k->range.p[range];
    const RangeDecl *d = c->range_decl.p[range];
    const Op *use = kernel_size_use(c->b.k, range), *step = use ? NULL : loop_size_use(c->b.k, range);
    if (use && op_adds_tiles(c->b.k, use, range))
        report_count(c, range, use);
    else if (use && !op_reduces(use, range))
        report_edge(c, d, r, use);
    else if (step && step->kind == OP_FOR) report_loop(c, d, r, step);
    else if (use || step) report_reduction(c, range, use ? use : step);
}

void sizes_check(Kern *c) {
    for (int i = 0; i < c->b.k->range.n; i++)
        if (c->b.k->range.p[i].tunable) size_check(c, i);
}
