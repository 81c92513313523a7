/* laws.c: tilec check --laws. Each loop with a `merge` is run whole and in parts, from the left and from the right. A
   result that differs by more than its bound breaks the law.
   Takes: a module in value form. Gives: errors, and what was tried on standard output. */
#include "driver/laws.h"

#include "driver/draw.h"
#include "passes/split/pieces.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LONGEST = 256 }; /* run-time dimensions without --size */

static const int64_t part_counts[] = {2, 3, 7};
enum { NPARTS = sizeof part_counts / sizeof *part_counts };

typedef struct {
    Session *s;
    const Program *p;
    int64_t *sym;
    const Array *input; /* in the order of p->io; outputs are empty */
    Array *whole;       /* results with loops run whole */
} Laws;

/* ---- runs ---- */

static const Tensor *io_tensor(const Laws *l, int i) { return &l->p->tensor.p[l->p->io.p[i]]; }

static int64_t *sizes_make(Session *s) {
    int64_t *sym = ARENA_ARRAY(s->arena, int64_t, s->m->symbol.n + 1);
    for (int i = 0; i < s->m->symbol.n; i++) {
        const Symbol *d = &s->m->symbol.p[i];
        sym[i] = d->bound < LONGEST ? d->bound : LONGEST;
        for (int k = 0; k < s->o->size.n; k++)
            if (strcmp(s->o->size.p[k].name, d->name) == 0 && s->o->size.p[k].value <= d->bound)
                sym[i] = s->o->size.p[k].value;
    }
    return sym;
}

static bool inputs_make(const Laws *l, Array *input) {
    for (int i = 0; i < l->p->io.n; i++) {
        const Tensor *t = io_tensor(l, i);
        if (t->role == ROLE_OUTPUT) continue;
        if (!array_for_tensor(l->s->arena, l->s->m, t, l->sym, &input[i])) return false;
        array_draw(&input[i], l->s->m, l->p, t, l->sym, l->s->o->seed, i);
    }
    return true;
}

/* Results of the program of module m on copies of the inputs, in an arena of the caller. */
static Array *results(const Laws *l, Arena *a, const Module *m, const Program *p) {
    Array *io = ARENA_ARRAY(a, Array, p->io.n + 1);
    InterpOptions how = {.sym = l->sym, .seed = (uint64_t)l->s->o->seed, .bounds = true};
    InterpReport report = {0};
    for (int i = 0; i < p->io.n; i++) {
        const Array *from = &l->input[i];
        io[i] = *from;
        if (from->data) io[i].data = arena_copy(a, from->data, (size_t)array_count(from) * elem_bytes(from->elem));
    }
    if (interp_run(a, m, p, &how, io, &report)) return io;
    interp_report_print(p, &report, stderr);
    return NULL;
}

/* ---- one loop ---- */

/* The sign of what is no number says nothing. */
static const char *number_text(const Laws *l, double x) {
    return isnan(x) ? "nan" : arena_format(l->s->arena, "%.9g", x);
}

static bool element_report(const Laws *l, Loc loc, int io, int64_t i, const Array *cut, const char *how) {
    const Array *whole = &l->whole[io];
    const char *place = "";
    int64_t rest = i;
    for (int d = whole->ndim - 1; d >= 0; rest /= whole->dim[d--])
        place = arena_format(l->s->arena, "%" PRId64 "%s%s", rest % whole->dim[d], *place ? ", " : "", place);
    diag_error(l->s->diags, loc, "merge-law",
               "the merge of this loop does not put its parts together: %s, '%s'[%s] of program "
               "'%s' is %s, and %s with the loop run whole",
               how, io_tensor(l, io)->name, place, l->p->name, number_text(l, array_get(cut, i)), number_text(l, array_get(whole, i)));
    if (isnan(array_get(cut, i)))
        diag_note(l->s->diags, loc, "a part may carry infinities, and their difference is no number: where(m == mx, 1, exp(m - mx))");
    diag_note(l->s->diags, loc, "inputs are drawn from --seed=%" PRId64 "; two evaluations may differ by %.3g here",
              l->s->o->seed, array_bound(cut, i) + array_bound(whole, i));
    return false;
}

static bool agrees(const Laws *l, Loc loc, const Array *io, const char *how) {
    for (int k = 0; k < l->p->io.n; k++)
        for (int64_t i = 0, n = io_tensor(l, k)->role == ROLE_INPUT ? 0 : array_count(&io[k]); i < n; i++)
            if (array_error(&io[k], &l->whole[k], i) > array_bound(&io[k], i) + array_bound(&l->whole[k], i))
                return element_report(l, loc, k, i, &io[k], how);
    return true;
}

/* The nth loop of a kernel in so many parts. */
static bool cut_agrees(const Laws *l, int program, int kernel, int nth, int64_t parts, bool backwards) {
    Arena *a = arena_new();
    Module *m = module_clone(l->s->m, a);
    Op *loop = merge_loop(m->kernel.p[kernel], nth);
    Loc loc = loop->loc;
    loop_cut(m, m->kernel.p[kernel], loop, parts, backwards);
    const Array *io = module_verify(m) ? results(l, a, m, m->program.p[program]) : NULL;
    const char *how =
        arena_format(l->s->arena, "in %" PRId64 " parts from the %s", parts, backwards ? "right" : "left");
    bool good = io && agrees(l, loc, io, how);
    arena_free(a);
    return good;
}

static bool loop_check(const Laws *l, int program, int kernel, int nth) {
    Loc loc = merge_loop(l->s->m->kernel.p[kernel], nth)->loc;
    for (int i = 0; i < 2 * NPARTS; i++)
        if (!cut_agrees(l, program, kernel, nth, part_counts[i / 2], i % 2)) return false;
    printf("%s:%d: program '%s': the loop of %s agrees with its merge, in %d ways\n", loc_path(l->s->diags, loc),
           loc_line(l->s->diags, loc), l->p->name, l->s->m->kernel.p[kernel]->name, 2 * NPARTS);
    return true;
}

/* ---- programs ---- */

static bool is_called(const Program *p, const Kernel *k) {
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]->kernel == k) return true;
    return false;
}

static bool program_check(Session *s, int program) {
    Laws l = {.s = s, .p = s->m->program.p[program], .sym = sizes_make(s)};
    Array *input = ARENA_ARRAY(s->arena, Array, l.p->io.n + 1);
    bool good = true;
    l.input = input;
    for (int k = 0; k < s->m->kernel.n; k++) {
        if (!is_called(l.p, s->m->kernel.p[k]) || !merge_loop(s->m->kernel.p[k], 0)) continue;
        if (!l.whole && (!inputs_make(&l, input) || !(l.whole = results(&l, s->arena, s->m, l.p)))) return false;
        for (int n = 0; merge_loop(s->m->kernel.p[k], n); n++) good = loop_check(&l, program, k, n) && good;
    }
    return good;
}

bool laws_check(Session *s) {
    bool good = true;
    for (int i = 0; i < s->m->program.n; i++) good = program_check(s, i) && good;
    return good;
}
