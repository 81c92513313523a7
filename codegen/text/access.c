/* access.c: elements of parameters in memory, and which subscripts need a check.
   Positions outside a tensor read 0 and are not stored; most subscripts are proved to be inside. */
#include "codegen/text/access.h"
#include "codegen/text/nest.h"
#include "codegen/text/program.h"
#include "codegen/text/size.h"

#include <inttypes.h>
#include <string.h>

/* hi <= size, where that can be seen. */
static bool value_within(Fn *f, const Value *hi, Size s) {
    const Op *d = hi->def;
    if (!d) return false;
    switch (d->kind) {
    case OP_CONST: return d->imm <= 0 || (size_is_number(s) && d->imm <= s.c);
    case OP_SIZE: return size_equal(d->size, s) || (size_is_number(d->size) && size_is_number(s) && d->size.c <= s.c);
    case OP_END: return f->k->range.p[d->range].grid && size_equal(f->k->range.p[d->range].of, s);
    case OP_MIN: return value_within(f, d->arg.p[0], s) || value_within(f, d->arg.p[1], s);
    case OP_CAST: return value_within(f, d->arg.p[0], s);
    case OP_SELECT: return value_within(f, d->arg.p[1], s) && value_within(f, d->arg.p[2], s);
    default: return size_is_number(s) && value_most(f->m, f->k, hi) >= 0 && value_most(f->m, f->k, hi) <= s.c;
    }
}

/* of + c <= dim, for c >= 0 */
static bool size_within(Size of, int64_t c, Size dim) {
    if (size_equal(of, dim)) return c <= 0;
    return of.sym == dim.sym && of.axis < 0 && dim.axis < 0 && of.c + c <= dim.c;
}

/* Positions of a part are those of the whole tile. */
static int whole_range(const Kernel *k, int range) {
    return k->range.p[range].part_of ? k->range.p[range].part_of - 1 : range;
}

/* Every position of the range, plus c, is a position of the dimension. */
static bool range_within(Fn *f, int part, int64_t c, Size dim) {
    const int range = whole_range(f->k, part);
    const Range *r = &f->k->range.p[range];
    if (c < 0 || !f->range[range].natural || f->range[range].missing) return false;
    if (r->grid) return size_within(r->of, c, dim);
    const Op *loop = kernel_loop(f->k, range);
    return loop && c == 0 && value_within(f, loop->arg.p[1], dim);
}

/* Largest value of what a term, which is never negative, is a multiple of; -1: not known. */
static int64_t term_most(Fn *f, const Term *t) {
    int64_t most = -1;
    const int id = t->kind == TERM_POS || t->kind == TERM_INDEX ? whole_range(f->k, t->id) : -1;
    const Range *r = id >= 0 ? &f->k->range.p[id] : NULL;
    if (r && r->grid && f->range[id].missing) return -1;
    if (t->kind == TERM_POS && r->grid) most = size_most(f->m, r->of) - 1;
    if (t->kind == TERM_POS && !r->grid && f->range[id].natural) {
        const Op *loop = kernel_loop(f->k, id);
        most = loop ? value_most(f->m, f->k, loop->arg.p[1]) - 1 : -1;
    }
    if (t->kind == TERM_INDEX && r->grid && r->size && !r->starts) most = (size_most(f->m, r->of) - 1) / r->size;
    if (t->kind == TERM_RANK) most = f->m->axis.p[t->id].ranks - 1;
    return most < 0 ? -1 : most / t->div;
}

bool affine_is_natural(Fn *f, const Affine *a) {
    bool natural = a->c >= 0;
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        bool over_range = t->kind == TERM_POS || t->kind == TERM_INDEX || t->kind == TERM_BLOCK;
        natural &= t->mul > 0 && t->kind != TERM_VALUE && (!over_range || f->range[t->id].natural);
    }
    return natural;
}

bool affine_within(Fn *f, const Affine *a, int64_t end) {
    int64_t least = a->c, most = a->c;
    for (int i = 0; i < a->nterm; i++) {
        const int64_t term = term_most(f, &a->term[i]), mul = a->term[i].mul;
        if (term < 0) return false;
        *(mul < 0 ? &least : &most) += term * mul;
    }
    return least >= 0 && most < end;
}

/* The multiple of a block that starts the block in which a range's positions count, in what the axes before it leave.
 */
static bool is_origin_of(Fn *f, const Term *t, const Range *r) {
    if (t->div != 1) return false;
    if (t->kind == TERM_BLOCK) return t->id == r->owner && t->mul == 1 && size_equal(t->size, r->of);
    if (r->of.sym >= 0 || t->mul != size_block(f->m, r->of, NULL)) return false;
    return r->owner >= 0 ? t->kind == TERM_POS && t->id == r->owner
                         : t->kind == TERM_RANK && t->id == axes_last(r->of.axis);
}

/* A position of a block, plus where the block begins, is a position of the whole dimension. */
static bool block_within(Fn *f, const Affine *a, Size dim) {
    if (a->nterm != 2 || a->c != 0) return false;
    for (int i = 0; i < 2; i++) {
        const Term *t = &a->term[i];
        if (t->kind != TERM_POS || t->mul != 1 || t->div != 1) continue;
        const Range *r = &f->k->range.p[t->id];
        if (f->range[t->id].missing) return false;
        if (r->grid && r->of.axis >= 0 && size_equal(size_gathered(r->of), dim) && is_origin_of(f, &a->term[1 - i], r))
            return true;
    }
    return false;
}

/* The rank whose memory it is, where its block may have another extent than this rank's; NULL: it has not. */
static const Affine *owner_of(Fn *f, const Op *access, int d) {
    const Param *p = &f->k->param.p[access->param];
    Size dim = p->dim[d];
    if (p->ranks < 0 || dim.axis < 0 || axes_last(dim.axis) != p->ranks || size_is_number(size_even(f->m, dim)))
        return NULL;
    const Affine *rank = &access->sub.p[0].lo;
    bool own = rank->nterm == 1 && rank->c == 0 && rank->term[0].kind == TERM_RANK && rank->term[0].id == p->ranks;
    return own ? NULL : rank;
}

/* Positions of the block of the rank whose memory it is. */
static bool counts_in_owner(Fn *f, const Affine *a, const Affine *rank, Size dim) {
    int range = affine_position(a), at = affine_position(rank);
    if (range < 0 || at < 0 || f->range[range].missing) return false;
    const Range *r = &f->k->range.p[range];
    return r->grid && r->owner == at && size_equal(r->of, dim);
}

/* A group of a ragged range, of which there is one. */
static bool group_within(Fn *f, const Affine *a, Size dim) {
    const Term *t = &a->term[0];
    const Op *group = a->nterm == 1 && a->c == 0 && t->kind == TERM_VALUE ? t->value->def : NULL;
    return group && group->kind == OP_GROUP && t->mul == 1 && t->div == 1 && size_is_number(dim) && dim.c > 0 &&
           size_equal(range_groups(f->k, group->range), dim);
}

bool access_within(Fn *f, const Op *access, int d) {
    const Param *p = &f->k->param.p[access->param];
    const Affine *a = &access->sub.p[(p->ranks >= 0) + d].lo, *owner = owner_of(f, access, d);
    const Term *t = &a->term[0];
    Size dim = p->dim[d];
    if (owner) return counts_in_owner(f, a, owner, dim);
    if (block_within(f, a, dim) || group_within(f, a, dim)) return true;
    if (a->nterm == 1 && t->kind == TERM_POS && t->mul == 1 && t->div == 1 && range_within(f, t->id, a->c, dim))
        return true;
    bool known = dim.sym < 0 && axes_ranks(f->m, dim.axis) == 1;
    return known && affine_within(f, a, dim.c);
}

/* ---- places ---- */

const CExpr *peer_text(Fn *f, int axis, const CExpr *coord) {
    if (f->m->axis.n == 1) return coord;
    int64_t step = 1;
    for (int i = axis + 1; i < f->m->axis.n; i++) step *= f->m->axis.p[i].ranks;
    return cexpr_open(f, "t->rank + (%s - t->coord[%d]) * %" PRId64, cexpr_operand(f, coord)->text, axis, step);
}

/* Pointer to a rank's part of a symmetric parameter, declared where its rank is known. */
static const char *peer_base(Nest *n, const Op *access, const Param *p) {
    Fn *f = n->f;
    const Affine *rank = &access->sub.p[0].lo;
    const char *coord = peer_text(f, p->ranks, nest_affine(n, rank))->text;
    const char *name = c_name(&f->names, fn_text(f, "%s_at", f->param[access->param]));
    const char *type = p->packet ? "tile_packet" : elem_c(p->elem);
    nest_line(n, nest_affine_depth(n, rank), "%s *const %s = (%s *)(t->symmetric[%s] + %s);", type, name, type, coord,
              f->param[access->param]);
    return name;
}

const char *memory_c(Elem e) { return elem_is_packed(e) ? "tile_packed" : elem_c(e); }

static bool term_follows(const Term *t, int range) {
    if (t->kind == TERM_VALUE) return type_has(t->value->type, range);
    return t->kind != TERM_SIZE && t->kind != TERM_RANK && t->id == range;
}

/* Within one tile: its number stays. */
static bool term_moves(const Term *t, int range) { return t->kind != TERM_INDEX && term_follows(t, range); }

static bool follows(const Op *access, int range) {
    for (int d = 0; d < access->sub.n; d++)
        for (int i = 0; i < access->sub.p[d].lo.nterm; i++)
            if (term_follows(&access->sub.p[d].lo.term[i], range)) return true;
    return false;
}

/* The same places are loaded again and again by a loop outside of the innermost one. */
static bool stands_still(const Nest *n, const Op *load) {
    for (int d = 0; d + 1 < n->n; d++)
        if (!follows(load, n->range[d])) return true;
    for (const Op *op = load->in->parent; op && n->n; op = op->in->parent)
        if (op->kind == OP_FOR && !follows(load, op->range)) return true;
    return false;
}

/* GCC 12 takes vectors from wrong places where it loads them under a mask and has moved their address out of a loop. */
static const char *load_base(Nest *n, const Op *access, const char *base, const char *inside) {
    Fn *f = n->f;
    const Param *p = &f->k->param.p[access->param];
    bool masked = access->kind == OP_LOAD && !p->packet && (inside || n->chosen);
    bool innermost = masked && nest_depth(n, &access->res.p[0]->type) == n->n;
    if (!f->back->anew || !innermost || !stands_still(n, access)) return base;
    const char *name = c_name(&f->names, fn_text(f, "%s_here", f->param[access->param]));
    nest_line(n, n->n - 1, "const %s *const %s = %s(%s);", memory_c(p->elem), name, f->back->anew, base);
    return name;
}

static const char *check_text(Fn *f, const CExpr *sub, const CExpr *extent) {
    return fn_text(f, "tile_inside(%s, %s)", sub->text, extent->text);
}

/* An integer of 32 bits as a subscript of a dimension that is not longer than such: compared as it is, in vectors of
   twice as many. NULL: it is something else. */
static const char *check_narrow(Nest *n, const Affine *a, Size dim, const CExpr *extent) {
    const Term *t = &a->term[0];
    const bool alone = a->nterm == 1 && a->c == 0 && t->kind == TERM_VALUE && t->mul == 1 && t->div == 1;
    if (!alone || t->value->type.elem != ELEM_I32 || size_most(n->f->m, dim) > INT32_MAX) return NULL;
    return fn_text(n->f, "tile_inside_i32(%s, %s)", cexpr_bare(nest_value(n, t->value))->text, extent->text);
}

const CExpr *nest_number(Nest *n, const Op *access) {
    Fn *f = n->f;
    const Param *p = &f->k->param.p[access->param];
    const CExpr *index = cexpr_number(f, 0);
    for (int d = 0; d < p->ndim; d++)
        index = cexpr_add(f, d ? cexpr_mul(f, index, cexpr_operand(f, param_extent(f, access->param, d))) : index,
                          nest_affine(n, &access->sub.p[(p->ranks >= 0) + d].lo));
    return index;
}

static const CExpr *element_text(Nest *n, const Op *access, const char *inside) {
    Fn *f = n->f;
    const Param *p = &f->k->param.p[access->param];
    int first = p->ranks >= 0;
    const char *base = first ? peer_base(n, access, p) : f->param[access->param];
    if (p->ndim == 0) return cexpr_name(f, first ? fn_text(f, "%s[0]", base) : base);
    base = load_base(n, access, base, inside);
    const CExpr *index = nest_number(n, access);
    if (elem_is_packed(p->elem) && access->kind == OP_STORE)
        return cexpr_open(f, "%s, %s", base, cexpr_bare(index)->text);
    if (elem_is_packed(p->elem)) return f->back->packed(f, p->elem, base, cexpr_bare(index));
    return cexpr_call(f, "%s[%s]", base, index->text);
}

const CExpr *nest_element(Nest *n, const Op *access) { return element_text(n, access, NULL); }

const char *nest_inside(Nest *n, const Op *access, int d) {
    Fn *f = n->f;
    const Param *p = &f->k->param.p[access->param];
    if (access_within(f, access, d)) return NULL;
    const Affine *owner = owner_of(f, access, d);
    const CExpr *extent = size_text_at(f, p->dim[d], owner ? cexpr_operand(f, nest_affine(n, owner)) : NULL);
    const Affine *a = &access->sub.p[(p->ranks >= 0) + d].lo;
    const char *narrow = check_narrow(n, a, p->dim[d], extent);
    return narrow ? narrow : check_text(f, nest_affine(n, a), extent);
}

/* Where the loops begin, or end: the subscript is least or largest there. */
static const CExpr *affine_corner(Nest *n, const Affine *a, bool last) {
    Fn *f = n->f;
    const CExpr *was[MAX_RANGES];
    for (int i = 0; i < n->n; i++) {
        RangeText *r = &f->range[n->range[i]];
        bool down = false;
        for (int j = 0; j < a->nterm; j++) down |= term_moves(&a->term[j], n->range[i]) && a->term[j].mul < 0;
        was[i] = r->pos;
        r->pos = last != down ? cexpr_open(f, "%s - 1", cexpr_operand(f, r->count)->text) : cexpr_number(f, 0);
    }
    const CExpr *corner = nest_affine(n, a);
    for (int i = 0; i < n->n; i++) f->range[n->range[i]].pos = was[i];
    return corner;
}

/* Each range of the loops moves the subscript one way. */
static bool has_corners(const Nest *n, const Affine *a) {
    for (int i = 0; i < n->n; i++) {
        int terms = 0;
        for (int j = 0; j < a->nterm; j++) {
            const Term *t = &a->term[j];
            if (!term_moves(t, n->range[i])) continue;
            if (t->kind != TERM_POS || n->f->range[n->range[i]].begin == n->f->range[n->range[i]].pos) return false;
            terms++;
        }
        if (terms > 1) return false;
    }
    return true;
}

/* The check, or that it holds for all elements of the loops, which is found out once before them: compilers make loops
   of each. */
static const char *check_ahead(Nest *n, const Op *load, int d, const char *check) {
    Fn *f = n->f;
    const Param *p = &f->k->param.p[load->param];
    const Affine *a = &load->sub.p[(p->ranks >= 0) + d].lo;
    if (!f->back->anew || n->layout || owner_of(f, load, d) || !has_corners(n, a)) return check;
    for (int i = 0; i < n->whole.n; i++)
        if (strcmp(n->whole.p[i].check, check) == 0) return fn_text(f, "(%s || %s)", n->whole.p[i].name, check);
    const char *extent = size_text(f, p->dim[d])->text, *name = c_name(&f->names, "whole");
    nest_line(n, 0, "const bool %s = tile_inside(%s, %s) && tile_inside(%s, %s);", name,
              affine_corner(n, a, false)->text, extent, affine_corner(n, a, true)->text, extent);
    vec_push(f->arena, &n->whole, ((Whole){check, name}));
    return fn_text(f, "(%s || %s)", name, check);
}

/* Of so many of its subscripts it is checked that they are inside. */
static const CExpr *place_checked(Nest *n, const Op *access, int subscripts, const char **inside) {
    Fn *f = n->f;
    const Param *p = &f->k->param.p[access->param];
    int first = p->ranks >= 0;
    *inside = NULL;
    for (int d = 0; d < subscripts; d++) {
        const Affine *a = &access->sub.p[first + d].lo, *owner = owner_of(f, access, d);
        const char *check = nest_inside(n, access, d);
        if (!check) continue;
        int depth = nest_affine_depth(n, a), of_owner = owner ? nest_affine_depth(n, owner) : 0;
        if (depth < of_owner) depth = of_owner;
        /* Where one loop runs over registers, texts of tiles are made inside of it, even if it has one turn. */
        bool of_tile = n->layout && affine_type(f->k, a).nrange;
        if (access->kind == OP_STORE && depth == 0 && !of_tile)
            n->guard = conjoin(f, n->guard, check);
        else if (access->kind == OP_STORE && depth < n->n)
            nest_line(n, depth, "if (!%s) continue;", check);
        else
            *inside =
                conjoin(f, *inside, access->kind == OP_LOAD && depth > 0 ? check_ahead(n, access, d, check) : check);
    }
    return element_text(n, access, *inside);
}

const CExpr *nest_place(Nest *n, const Op *access, const char **inside) {
    return place_checked(n, access, n->f->k->param.p[access->param].ndim, inside);
}

const CExpr *nest_row_place(Nest *n, const Op *access, const char **inside) {
    return place_checked(n, access, n->f->k->param.p[access->param].ndim - 1, inside);
}
