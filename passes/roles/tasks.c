/* tasks.c: who gives tasks to workgroups.
   Takes: a kernel with its streams. Gives: a counter, where loops or conditions around copies, or which tasks have
   positions, follow from data: such tasks differ in length; else each workgroup has a fixed share. */
#include "ir/size.h"
#include "passes/roles/slice.h"

/* Data that the scalar is made of, read at a place. */
static bool reads_data(const Value *v) {
    enum { DEEP = 32 /* operations */ };
    VEC(const Value *) left = {0};
    Arena *a = arena_new();
    bool found = false;
    vec_push(a, &left, v);
    for (int i = 0; i < left.n && i < DEEP && !found; i++) {
        const Op *op = left.p[i]->def;
        found = op && op->kind == OP_LOAD && op->sub.n;
        for (int n = 0; op && n < op->arg.n; n++) vec_push(a, &left, op->arg.p[n]);
    }
    arena_free(a);
    return found;
}

/* Tasks wait for rows that come, and workgroups begin late where others still push; or some tasks send tiles, which takes
   as long as links need. */
TaskOrder slice_tasks(const Slice *s) {
    if (kernel_is_ragged(s->k)) return TASKS_TICKET; /* some numbers have no positions */
    if (slice_has_peers(s)) return TASKS_TICKET;
    for (int i = 0; i < s->op.n; i++) {
        const Op *op = s->op.p[i];
        int bounds = op->kind == OP_FOR ? 2 : op->kind == OP_IF ? 1 : 0;
        for (int n = 0; n < bounds && slice_copies(s, op); n++)
            if (reads_data(op->arg.p[n])) return TASKS_TICKET;
    }
    return TASKS_STATIC;
}
