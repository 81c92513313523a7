/* proof.c: the proof of a synchronised program for given sizes, and of every program of a module.
   Takes: a module with flags. Gives: the same module; what is not proved is an internal error with its witness. */
#include "passes/proof/run.h"
#include "passes/proof/sketch.h"
#include "passes/proof/symbolic.h"

#include <stdarg.h>
#include <string.h>

/* Programs of more events are first looked at from their structure. */
enum { SAMPLE = 200, FEW_EVENTS = 1 << 19 };

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

void run_note(Run *r, const char *format, ...) {
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

/* ---- one program ---- */

bool *program_written(const Program *p, Arena *arena) {
    bool *written = ARENA_ARRAY(arena, bool, p->tensor.n + 1);
    for (int i = 0; i < p->node.n; i++) {
        const Node *n = p->node.p[i];
        for (int a = 0; n->kind == NODE_CALL && a < n->arg.n; a++)
            if (n->kernel->param.p[a].out || n->kernel->param.p[a].inout) written[n->arg.p[a].tensor] = true;
    }
    return written;
}

static void find_own_order(Run *r) {
    r->own_order = ARENA_ARRAY(r->arena, bool, r->p->node.n + 1);
    for (int i = 0; i < r->p->flag.n; i++)
        if (r->p->flag.p[i].producer == r->p->flag.p[i].consumer) r->own_order[r->p->flag.p[i].producer] = true;
}

void run_list(Run *r) {
    for (int i = 0; i < r->event.n; i++) {
        const Event *e = &r->event.p[i];
        switch (e->kind) {
        case EVENT_WAIT: r->proof->waits++; break;
        case EVENT_SIGNAL: r->proof->signals++; break;
        case EVENT_READ:
        case EVENT_WRITE: vec_push(r->arena, &r->access[e->ref], i); break;
        case EVENT_NONE: break;
        }
    }
}

void run_renew(Run *r, Arena *arena) {
    r->arena = arena;
    r->reach = reach_new(arena, r->p, r->ranks);
    if (r->launches) r->heard = ARENA_ARRAY(arena, int32_t, (r->p->node.n + 1) * r->ranks * r->ranks);
}

Run run_begin(const Module *m, const Program *p, const int64_t *sym, Arena *arena, Proof *proof) {
    Run r = {.m = m, .p = p, .sym = sym, .arena = arena, .ranks = (int)mesh_ranks(m), .most_events = MAX_EVENTS, .proof = proof};
    r.launches = m->form & FORM_LAUNCHES;
    r.coord = arena_alloc(arena, sizeof *r.coord * (size_t)r.ranks);
    for (int i = 0; i < r.ranks; i++) mesh_coord(m, i, r.coord[i]);
    r.written = program_written(p, arena);
    find_own_order(&r);
    return r;
}

bool run_trace(Run *r) {
    bool ok = trace_program(r);
    r->proof->tasks = r->task.n;
    r->access = ARENA_ARRAY(r->arena, Accesses, r->p->tensor.n + 1);
    if (ok) run_list(r);
    return ok;
}

bool run_orders(Run *r) { return words_check(r) && cells_check(r) && slot_reuse_check(r); }

void proof_keep(Proof *proof, Arena *out) {
    if (proof->why) proof->why = arena_text(out, proof->why, strlen(proof->why));
    for (int i = 0; i < 3; i++)
        if (proof->note[i]) proof->note[i] = arena_text(out, proof->note[i], strlen(proof->note[i]));
}

/* Of at most so many events. */
static Proof proof_explicit(const Module *m, const Program *p, const int64_t *sym, int most_events, Arena *out) {
    Proof proof = {.loc = p->loc, .flag = -1};
    Run r = run_begin(m, p, sym, arena_new(), &proof);
    r.most_events = most_events;
    int64_t tables = (p->node.n + p->flag.n + MAX_LAG) * (int64_t)r.ranks * r.ranks; /* by pairs of ranks */
    if (tables > 4 * (int64_t)most_events) run_fail_size(&r, p->loc, p->name);
    else if (run_trace(&r)) {
        run_renew(&r, r.arena);
        proof.proved = run_orders(&r);
    }
    proof_keep(&proof, out);
    arena_free(r.arena);
    return proof;
}

Proof proof_program(const Module *m, const Program *p, const int64_t *sym, Arena *out) {
    return proof_explicit(m, p, sym, MAX_EVENTS, out);
}

static void proof_report(PassContext *c, const Program *p, const Proof *proof) {
    if (proof->id) diag_error(c->m->diags, proof->loc, proof->id, "%s", proof->why);
    else diag_error(c->m->diags, proof->loc, "sync-unproved", "internal error: the synchronisation of '%s' is not proved: %s", p->name, proof->why);
    for (int i = 0; i < 3 && proof->note[i]; i++) diag_note(c->m->diags, proof->loc, "%s", proof->note[i]);
}

static void proof_tell(PassContext *c, const Program *p, const Proof *proof) {
    if (proof->symbolic)
        remark(c, "proof", p->loc, "'%s': %lld nodes, %lld waits and %lld signals proved for all sizes", p->name,
               (long long)proof->tasks, (long long)proof->waits, (long long)proof->signals);
    else remark(c, "proof", p->loc, "'%s': %lld tasks, %lld waits, %lld signals and %lld ordered pairs of accesses checked", p->name,
                (long long)proof->tasks, (long long)proof->waits, (long long)proof->signals, (long long)proof->pairs);
}

static int64_t *sample_sizes(const Module *m, Arena *out) {
    int64_t *sym = ARENA_ARRAY(out, int64_t, m->symbol.n + 1);
    for (int i = 0; i < m->symbol.n; i++) sym[i] = m->symbol.p[i].bound < SAMPLE ? m->symbol.p[i].bound : SAMPLE;
    return sym;
}

Proof proof_sample(const Module *m, const Program *p, Arena *out) {
    return proof_explicit(m, p, sample_sizes(m, out), FEW_EVENTS, out);
}

/* Tasks of one node that share a place: at one size there is a witness, if it is so there. */
static Proof with_witness(const Module *m, const Program *p, Proof all, Arena *out) {
    Proof sample = all.id ? proof_sample(m, p, out) : all;
    return sample.id && !sample.proved ? sample : all;
}

/* What holds for all sizes, for these. */
static Proof proof_sampled(const Module *m, const Program *p, Arena *out) {
    Proof proof = proof_symbolic(m, p, out);
    if (!proof.proved) return with_witness(m, p, proof, out);
    Proof sample = proof_sample(m, p, out);
    if (sample.too_large) proof.proved = proof_sketch(m, p, sample_sizes(m, out), NULL, &proof, out);
    return sample.proved || sample.too_large ? proof : sample;
}

Proof proof_for(const Module *m, const Program *p, bool structural, Arena *out) {
    if (structural || program_has_symbols(p)) return proof_sampled(m, p, out);
    Proof proof = proof_explicit(m, p, NULL, FEW_EVENTS, out);
    if (!proof.too_large) return proof;
    Proof structure = proof_symbolic(m, p, out);
    if (structure.proved || structure.id) return structure;
    proof = proof_program(m, p, NULL, out);
    return proof.too_large ? structure : proof;
}

bool proof_check(PassContext *c) {
    bool ok = true;
    if (!(c->m->form & FORM_FLAGS)) return true;
    for (int i = 0; i < c->m->program.n; i++) {
        const Program *p = c->m->program.p[i];
        Proof proof = proof_for(c->m, p, c->options->structural, c->m->arena);
        if (proof.proved) proof_tell(c, p, &proof);
        if (!proof.proved && !proof.too_large) proof_report(c, p, &proof), ok = false;
    }
    return ok;
}
