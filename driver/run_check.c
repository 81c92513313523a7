/* run_check.c: tilec run --check: results against the interpreter, element by element, within bounds.
   Takes: a program that ran, and its arguments as they were. The reference is one rank, which is what a mesh program
   means. Where values that differ per rank make the result, the reference is the interpreter on as many ranks. */
#include "driver/progress.h"
#include "driver/run.h"
#include "driver/run_compare.h"
#include "driver/run_odd.h"

#include <math.h>

/* ---- what to compare with ---- */

/* One rank's value goes to another: what the ranks compute need not be what one computes. */
static bool program_varies(const Program *p) {
    for (int i = 0; i < p->node.n; i++) {
        const Node *n = p->node.p[i];
        if (n->kind == NODE_COLLECTIVE && coll_info[n->coll].argument) return true;
    }
    return false;
}

static bool is_partial(const Tensor *t) {
    for (int a = 0; a < MAX_AXES; a++)
        if (t->place[a].kind == PLACE_P && t->place[a].op == PART_SUM) return true;
    return false;
}

static bool is_short_float(Elem e) { return elem_is_float(e) && elem_bits(e) < 32; }

/* Rounded to less than they were summed in. */
static bool is_rounded(const Node *n, const Tensor *t) {
    bool rounded = is_short_float(t->elem);
    for (int i = 0; t->elem == ELEM_F32 && i < n->arg.n; i++)
        rounded = rounded || n->kernel->param.p[i].elem == ELEM_F64;
    return rounded;
}

/* Each rank rounds its partial sum before they are added: what comes to that depends on the ranks. */
static bool program_rounds_parts(const Program *p) {
    for (int i = 0; i < p->node.n; i++) {
        const Node *n = p->node.p[i];
        for (int a = 0; n->kind == NODE_CALL && a < n->arg.n; a++) {
            const Tensor *t = &p->tensor.p[n->arg.p[a].tensor];
            if (is_partial(t) && is_rounded(n, t)) return true;
        }
    }
    return false;
}

static bool region_has_short_floats(const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        for (int i = 0; i < op->res.n; i++)
            if (is_short_float(op->res.p[i]->type.elem)) return true;
    return false;
}

static bool has_short_floats(const Program *p) {
    bool has = false;
    for (int i = 0; i < p->tensor.n; i++) has = has || is_short_float(p->tensor.p[i].elem);
    for (int i = 0; i < p->node.n && !has; i++)
        has = p->node.p[i]->kind == NODE_CALL && region_has_short_floats(p->node.p[i]->kernel->body);
    return has;
}

static bool has_unbounded(const Array *a) {
    for (int64_t i = 0, n = a->bound ? array_count(a) : 0; i < n; i++)
        if (isinf(a->bound[i])) return true;
    return false;
}

/* Where floats are rounded to 16 bits and less the worst case is far from what happens; infinite, it says nothing. */
static bool wants_expected(const Run *reference) {
    bool wants = has_short_floats(reference->p);
    for (int i = 0; i < reference->p->io.n; i++) wants = wants || has_unbounded(&reference->io[i]);
    return wants;
}

int run_interp(Run *r, RunBounds bounds) {
    InterpOptions io = {.sym = r->sym,
                        .seed = (uint64_t)r->s.o->seed,
                        .once = true,
                        .prints = bounds == NO_BOUNDS ? run_prints(r) : NULL,
                        .bounds = bounds != NO_BOUNDS,
                        .expected = bounds == EXPECTED_BOUNDS,
                        .roles = bounds == NO_BOUNDS};
    InterpReport report = {0};
    Progress *progress = progress_begin(r->s.arena, bounds != NO_BOUNDS ? "checking with the interpreter" : "interpreting");
    bool good = interp_run(r->s.arena, r->s.m, r->p, &io, r->io, &report);
    progress_end(progress);
    if (io.prints && !run_prints_show(io.prints)) return EXIT_RUN;
    if (good) return EXIT_OK;
    interp_report_print(r->p, &report, stderr);
    return EXIT_RUN;
}

static int reference_run(const Run *r, const Array *before, Run *reference) {
    reference->io = inputs_copy(r, before);
    int code = run_interp(reference, WORST_BOUNDS);
    if (code || !wants_expected(reference)) return code;
    Run again = *reference;
    again.io = inputs_copy(r, before);
    reference->expected = again.io;
    return run_interp(&again, EXPECTED_BOUNDS);
}

/* ---- the comparison ---- */

/* By how much each element may differ from what these references have; NULL without bounds. */
static const double *bounds_sum(const Run *r, const Array *one, const Array *more) {
    if (!one->bound || !more->bound) return NULL;
    double *sum = ARENA_ARRAY(r->s.arena, double, array_count(one));
    for (int64_t i = 0, n = array_count(one); i < n; i++) sum[i] = one->bound[i] + more->bound[i];
    return sum;
}

static const double *expected_of(const Run *r, int i, const Run *one, const Run *more) {
    if (!one->expected || (more && !more->expected)) return NULL;
    return more ? bounds_sum(r, &one->expected[i], &more->expected[i]) : one->expected[i].bound;
}

/* more: a reference whose bounds count as well; or NULL */
static Comparison comparison_of(const Run *r, int i, const Run *reference, const Run *more, bool on_ranks) {
    const Array *one = &reference->io[i];
    const char *with = on_ranks ? arena_format(r->s.arena, "the interpreter on %d ranks", r->nranks) : NULL;
    return (Comparison){.program = r->p->name,
                        .name = run_tensor(r, i)->name,
                        .result = &r->io[i],
                        .reference = one,
                        .bound = more ? bounds_sum(r, one, &more->io[i]) : one->bound,
                        .expected = expected_of(r, i, reference, more),
                        .with = with,
                        .allow_nan = r->s.o->allow_nan};
}

static int outputs_compare(const Run *r, const Array *before, const Run *reference, const Run *more, bool on_ranks) {
    int code = EXIT_OK;
    bool odd = false;
    for (int i = 0; i < r->p->io.n; i++) {
        if (run_tensor(r, i)->role == ROLE_INPUT) continue;
        Comparison c = comparison_of(r, i, reference, more, on_ranks);
        Difference d = compare(&c);
        compare_print(&c, &d);
        if (!compare_agrees(&c, &d)) code = EXIT_DIFFERS;
        odd = odd || (d.odd && !c.allow_nan);
    }
    if (odd) {
        fputs("tilec: note: floats are drawn from [-1, 1): 'x: f32[N] in 0 .. 1' declares others, --in gives them, and "
              "--allow-nan lets NaN and infinities agree\n",
              stderr);
        run_locate_odd(r, before);
    }
    return code;
}

/* Of a ring, which passes every value to every rank, one rank computes the same. */
static bool one_agrees(const Run *r, const Run *one) {
    for (int i = 0; i < r->p->io.n; i++) {
        if (run_tensor(r, i)->role == ROLE_INPUT) continue;
        Comparison c = comparison_of(r, i, one, NULL, false);
        if (compare(&c).over) return false;
    }
    return true;
}

static int ranks_check(const Run *r, const Array *before, Run *ranks) {
    Run one;
    bool has_one = reference_open(r, 1, &one) && same_extents(r, &one), varies = !has_one || program_varies(ranks->p);
    bool rounds = program_rounds_parts(ranks->p);
    int code = varies || rounds ? reference_run(r, before, ranks) : EXIT_OK;
    if (!code && has_one) code = reference_run(r, before, &one);
    if (code) return code;
    if (varies && !(has_one && one_agrees(r, &one))) return outputs_compare(r, before, ranks, NULL, true);
    return outputs_compare(r, before, &one, rounds ? ranks : NULL, false);
}

int run_check(const Run *r, const Array *before) {
    Run reference;
    if (!reference_open(r, 0, &reference)) return session_close(&reference.s, EXIT_WRONG);
    if (r->nranks > 1) return ranks_check(r, before, &reference);
    int code = reference_run(r, before, &reference);
    return code ? code : outputs_compare(r, before, &reference, NULL, false);
}
