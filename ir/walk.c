/* walk.c: one walk over the operations of a region and of the regions within, in the order of the text. An operation
   comes before those of its regions. A caller that removes an operation asks for the next one first. */
#include "ir/ir.h"

static Op *first_of(const Region *r) { return r ? r->first : NULL; }

Op *walk(const Region *root) { return first_of(root); }

static Op *walk_past(const Op *op, const Region *root) {
    while (!op->next && op->in != root) {
        const Region *left = op->in;
        op = left->parent;
        if (left == op->region[0] && first_of(op->region[1])) return op->region[1]->first;
    }
    return op->next;
}

Op *walk_next(const Op *op, const Region *root) {
    for (int i = 0; i < 2; i++)
        if (first_of(op->region[i])) return op->region[i]->first;
    return walk_past(op, root);
}

bool kernel_prints(const Kernel *k) {
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body))
        if (op_info[op->kind].class == CLASS_PRINT) return true;
    return false;
}
