/* dot.c: a contraction as a product of matrices: which range runs along each side. */
#include "codegen/text/step.h"

enum { VECTOR = 16 }; /* f32 of the widest vectors */

typedef struct {
    int n;
    int16_t range[MAX_RANGES];
} Ranges;

static Ranges ranges_only_in(const Type *a, const Type *b) {
    Ranges r = {0};
    for (int i = 0; i < a->nrange; i++)
        if (!type_has(*b, a->range[i])) r.range[r.n++] = a->range[i];
    return r;
}

/* The largest; the later of equals. -1: none has more than one position. */
static int16_t largest(Fn *f, const int16_t *range, int n) {
    int16_t best = -1;
    for (int i = 0; i < n; i++)
        if (f->range[range[i]].most != 1 && (best < 0 || f->range[range[i]].most >= f->range[best].most))
            best = range[i];
    return best;
}

/* That one, so that readers find neighbours, if it fills a vector; else the largest. */
static int16_t preferred(Fn *f, const Ranges *r, int16_t wanted) {
    for (int i = 0; i < r->n; i++)
        if (r->range[i] == wanted && f->range[wanted].most >= VECTOR) return wanted;
    return largest(f, r->range, r->n);
}

static bool has_block_product(Elem e) { return e == ELEM_F32 || e == ELEM_F64 || e == ELEM_I32; }

bool dot_ranges(Fn *f, const Op *op, DotRanges *d) {
    const Type *x = &op->arg.p[0]->type, *y = &op->arg.p[1]->type, *r = &op->res.p[0]->type;
    Ranges m = ranges_only_in(x, y), n = ranges_only_in(y, x);
    for (int i = 0; i < r->nrange; i++)
        if (!type_has(*x, r->range[i]) && !type_has(*y, r->range[i])) return *d = (DotRanges){0, -1, -1, -1}, false;
    const int16_t wanted = fn_held(f, op->res.p[0])->fastest;
    *d = (DotRanges){0, preferred(f, &m, wanted), preferred(f, &n, wanted), largest(f, op->over, op->nover)};
    return d->m >= 0 && d->n >= 0 && d->k >= 0 && has_block_product(r->elem);
}
