/* proof.c: the proof of a synchronised program for given sizes, and of every program of a module.
   Takes: a module with flags. Gives: the same module; what is not proved is an internal error with its witness. */
#include "passes/proof/run.h"
#include "passes/proof/sketch.h"
#include "passes/proof/symbolic.h"

/* Run-time sizes in the proof of one size; programs of more events are first looked at from their structure
   (docs/design/proof.md, "Many tasks"). */
enum { SAMPLE = 200, FEW_EVENTS = 1 << 19 };

bool run_trace(Run *r) {
    bool ok = trace_program(r);
    r->proof->tasks = r->task.n;
    r->access = ARENA_ARRAY(r->arena, Accesses, r->p->tensor.n + 1);
    if (ok) run_list(r);
    return ok;
}

bool run_orders(Run *r) { return words_check(r) && cells_check(r) && slot_reuse_check(r); }

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
