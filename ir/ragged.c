/* ragged.c: ranges of a grid whose tiles lie inside groups, which a parameter bounds: rows by expert, documents of a
   batch. Takes: starts that ascend. Gives: which positions the tile of a number has. */
#include "ir/ir.h"

bool ragged_is_whole(const Kernel *k, int range) {
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body))
        for (int d = 0; op->kind == OP_STORE && k->param.p[op->param].out && d < op->sub.n; d++)
            if (affine_follows(&op->sub.p[d].lo, range)) return true;
    return false;
}

bool tensor_has_starts(const Program *p, int tensor, Size *of) {
    for (int i = 0; i < p->node.n; i++) {
        const Node *n = p->node.p[i];
        for (int r = 0; n->kind == NODE_CALL && r < n->kernel->ngrid; r++) {
            const Range *range = &n->kernel->range.p[r];
            if (!range->starts || n->arg.p[range->starts - 1].tensor != tensor) continue;
            *of = range->of;
            return true;
        }
    }
    return false;
}

static int64_t clamp(int64_t x, int64_t hi) { return x < 0 ? 0 : x > hi ? hi : x; }

/* The last group whose first tile has no higher number: what is compared rises from group to group. */
RaggedTile ragged_tile(int64_t (*start)(void *, int64_t), void *of, int64_t groups, int64_t n, int64_t size,
                       int64_t number) {
    int64_t lo = 0, hi = groups;
    if (groups <= 0) return (RaggedTile){0, 0, 0};
    while (hi - lo > 1) {
        int64_t mid = lo + (hi - lo) / 2;
        if (clamp(start(of, mid), n) / size + mid <= number)
            lo = mid;
        else
            hi = mid;
    }
    int64_t first = clamp(start(of, lo), n), past = clamp(start(of, lo + 1), n), tile = number - first / size - lo;
    int64_t begin = tile < 0 || past - first <= tile * size ? past : first + tile * size;
    return (RaggedTile){lo, begin, past - begin > size ? begin + size : past};
}
