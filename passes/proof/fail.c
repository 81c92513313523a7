/* fail.c: failures of a proof, with their witnesses in words: tasks, tiles and the places that they share.
   Takes: the run, and what was found. Gives: the proof's texts; the first failure is kept. */
#include "passes/proof/run.h"

#include <stdarg.h>
#include <string.h>

void proof_fail(Proof *p, Arena *arena, Loc loc, const char *format, va_list list) {
    char text[512];
    vsnprintf(text, sizeof text, format, list);
    if (!p->why) p->why = arena_text(arena, text, strlen(text)), p->loc = loc;
}

bool run_fail(Run *r, Loc loc, const char *format, ...) {
    va_list list;
    va_start(list, format);
    proof_fail(r->proof, r->arena, loc, format, list);
    va_end(list);
    return false;
}

bool run_fail_size(Run *r, Loc loc, const char *what) {
    r->proof->too_large = true;
    return run_fail(r, loc, "'%s' has more tasks or tiles than can be checked", what);
}

bool run_fail_flag(Run *r, int flag, const Op *op, const char *format, ...) {
    va_list list;
    va_start(list, format);
    char text[256];
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (!r->proof->why) r->proof->flag = flag;
    return run_fail(r, op->loc, "flag '%s': %s", r->p->flag.p[flag].name, text);
}

static void run_note(Run *r, const char *format, ...) {
    va_list list;
    va_start(list, format);
    char text[512];
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    for (int i = 0; i < 3; i++)
        if (!r->proof->note[i]) {
            r->proof->note[i] = arena_text(r->arena, text, strlen(text));
            return;
        }
}

/* ---- the words of a witness ---- */

const char *task_text(Run *r, const Task *t) {
    const Kernel *k = r->p->node.p[t->node]->kernel;
    const char *at = "";
    int64_t number = t->number;
    for (int i = k->ngrid - 1; i >= 0; i--) {
        int64_t n = range_tiles(r->m, k, i, r->sym);
        at = arena_format(r->arena, "%s %lld%s%s", k->range.p[i].name, (long long)(number % n), *at ? ", " : "", at);
        number /= n;
    }
    return arena_format(r->arena, "task '%s' [%s] of rank %d (node %d)", k->name, at, t->rank, t->node);
}

static const char *box_text(Run *r, const Event *e) {
    const Tensor *t = &r->p->tensor.p[e->ref];
    const char *text = "";
    for (int d = 0; d < t->ndim; d++) {
        Bounds a = r->box.p[e->box + d];
        text = arena_format(r->arena, "%s%s%lld..%lld", text, d ? ", " : "", (long long)a.lo, (long long)a.hi);
    }
    if (t->symmetric >= 0)
        return arena_format(r->arena, "'%s'[%s] of rank %d..%d", t->name, text, e->rank_lo, e->rank_hi);
    return arena_format(r->arena, "'%s'[%s]", t->name, text);
}

bool run_fail_pair(Run *r, const Event *a, const Event *b, int64_t later) {
    if (r->proof->why) return false;
    Proof *p = r->proof;
    p->from = a->op, p->to = b->op, p->later = later;
    p->from_node = r->task.p[a->task].node, p->to_node = r->task.p[b->task].node;
    run_fail(r, b->op->loc, "nothing orders %s before %s on '%s'", a->kind == EVENT_WRITE ? "a write" : "a read",
             b->kind == EVENT_WRITE ? "a write" : "a read", r->p->tensor.p[a->ref].name);
    run_note(r, "first: %s, %s", task_text(r, &r->task.p[a->task]), box_text(r, a));
    run_note(r, "then: %s, %s, %lld generations later", task_text(r, &r->task.p[b->task]), box_text(r, b), (long long)later);
    return false;
}

bool run_fail_siblings(Run *r, const Event *a, const Event *b) {
    if (r->proof->why) return false;
    Proof *p = r->proof;
    p->id = "tasks-collide";
    p->from = a->op, p->to = b->op;
    p->from_node = p->to_node = r->task.p[b->task].node;
    run_fail(r, b->op->loc, "two tasks of '%s' %s one place of '%s' in no order", r->p->node.p[r->task.p[b->task].node]->kernel->name,
             a->kind == b->kind ? "write" : "read and write", r->p->tensor.p[a->ref].name);
    run_note(r, "one: %s, %s", task_text(r, &r->task.p[a->task]), box_text(r, a));
    run_note(r, "other: %s, %s", task_text(r, &r->task.p[b->task]), box_text(r, b));
    return false;
}

void proof_keep(Proof *proof, Arena *out) {
    if (proof->why) proof->why = arena_text(out, proof->why, strlen(proof->why));
    for (int i = 0; i < 3; i++)
        if (proof->note[i]) proof->note[i] = arena_text(out, proof->note[i], strlen(proof->note[i]));
}
