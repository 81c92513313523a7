/* trace.c: executes what matters of every task of one generation: waits, signals, accesses of written tensors.
   Takes: kernels with flags. Gives: events with intervals for subscripts; loops are run where a wait or a rank needs it. */
#include "passes/proof/run.h"

#include <string.h>

/* Uses of a value that are followed; chosen: no measurement is recorded. Tasks of all ranks (docs/design/proof.md,
   "Many tasks"). */
enum { USE_BUDGET = 64, MAX_TASKS = 1 << 21 };

typedef struct Step Step;
typedef VEC(Step) Steps;

struct Step {
    const Op *op;
    int tensor;
    bool written; /* LOAD, STORE: of a tensor that this node writes */
    bool iterate; /* FOR: run trip by trip */
    Steps in[2];
};

typedef struct {
    Run *run;
    const Node *node;
    Env env;
    int task;
    bool top; /* not inside a loop or a condition */
} Trace;

/* ---- what to look at ---- */

static bool value_uses(const Value *v, int range, int *budget);

static bool affine_uses(const Affine *a, int range, int *budget) {
    for (int i = 0; i < a->nterm; i++) {
        const Term *t = &a->term[i];
        bool of_range = t->kind == TERM_POS || t->kind == TERM_INDEX || t->kind == TERM_BLOCK;
        if (of_range && t->id == range) return true;
        if (t->kind == TERM_VALUE && value_uses(t->value, range, budget)) return true;
    }
    return false;
}

static bool value_uses(const Value *v, int range, int *budget) {
    const Op *op = v->def;
    if (!op || (*budget)-- <= 0) return true;
    if (op->kind == OP_POS || op->kind == OP_BEGIN || op->kind == OP_END) return op->range == range;
    for (int i = 0; i < op->arg.n; i++)
        if (value_uses(op->arg.p[i], range, budget)) return true;
    return op->kind == OP_LOAD;
}

static bool step_needs(const Run *r, const Step *s, int range) {
    if (s->op->kind == OP_WAIT) return true;
    int budget = USE_BUDGET;
    if (s->tensor >= 0) {
        const Tensor *t = &r->p->tensor.p[s->tensor];
        for (int i = 0; t->packet && i < s->op->sub.n; i++)
            if (affine_uses(&s->op->sub.p[i].lo, range, &budget)) return true;
        return t->symmetric >= 0 && affine_uses(&s->op->sub.p[0].lo, range, &budget);
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < s->in[k].n; i++)
            if (step_needs(r, &s->in[k].p[i], range)) return true;
    return false;
}

static bool node_writes(const Node *node, int tensor) {
    for (int i = 0; i < node->arg.n; i++)
        if (node->arg.p[i].tensor == tensor && (node->kernel->param.p[i].out || node->kernel->param.p[i].inout)) return true;
    return false;
}

static Steps steps_of(Run *r, const Node *node, const Region *region);

static void step_add(Run *r, const Node *node, Steps *to, const Op *op) {
    Step s = {.op = op, .tensor = -1};
    if (op->kind == OP_LOAD || op->kind == OP_STORE || op->kind == OP_GROUP) {
        s.tensor = node->arg.p[op->param].tensor;
        if (!r->written[s.tensor]) return;
        s.written = node_writes(node, s.tensor);
    } else if (op->kind == OP_FOR || op->kind == OP_IF) {
        s.in[0] = steps_of(r, node, op->region[0]);
        if (op->kind == OP_IF && op->region[1]) s.in[1] = steps_of(r, node, op->region[1]);
        if (s.in[0].n + s.in[1].n == 0) return;
        s.iterate = op->kind == OP_FOR && step_needs(r, &s, op->range);
    } else if (op->kind != OP_WAIT && op->kind != OP_SIGNAL) return;
    vec_push(r->arena, to, s);
}

static Steps steps_of(Run *r, const Node *node, const Region *region) {
    Steps s = {0};
    for (const Op *op = region->first; op; op = op->next) step_add(r, node, &s, op);
    return s;
}

/* ---- events ---- */

static Interval cut(Interval a, int64_t lo, int64_t hi) {
    return (Interval){a.lo < lo ? lo : a.lo, a.hi > hi ? hi : a.hi};
}

static void box_push(Run *r, Interval a) {
    a = (Interval){a.lo < INT32_MIN ? INT32_MIN : a.lo, a.hi > INT32_MAX ? INT32_MAX : a.hi};
    Bounds b = {(int32_t)(a.lo > INT32_MAX ? INT32_MAX : a.lo), (int32_t)(a.hi < INT32_MIN ? INT32_MIN : a.hi)};
    vec_push(r->arena, &r->box, b);
}

static Event event_new(Trace *t, const Op *op, EventKind kind, int ref) {
    return (Event){.op = op, .kind = (uint8_t)kind, .task = t->task, .ref = ref, .box = t->run->box.n, .until = ALWAYS};
}

static bool event_push(Trace *t, Event e) {
    Run *r = t->run;
    if (r->event.n >= r->most_events) return run_fail_size(r, e.op->loc, r->p->name);
    vec_push(r->arena, &r->event, e);
    return true;
}

/* Cells of dimension d of the argument that a subscript can reach, in memory of the rank with these coordinates. */
static Interval access_cells(Trace *t, const Arg *arg, const Param *p, int d, const Span *sub, const int *owner) {
    const Run *r = t->run;
    const Tensor *tensor = &r->p->tensor.p[arg->tensor];
    if (d < arg->lead) return interval_of(arg->at[d]);
    if (!sub || d >= arg->lead + arg_same_dims(tensor, arg, p)) return (Interval){0, tensor->dim[d].c - 1};
    Interval a = env_affine(&t->env, &sub[d - arg->lead].lo);
    if (interval_empty(a)) return a;
    Size extent = tensor->dim[d];
    if (arg->slice[d] < 0) return cut(a, 0, size_eval(r->m, extent, r->sym, owner) - 1);
    Size own = size_split(extent, arg->slice[d]);
    int64_t origin = size_origin(r->m, own, r->sym, t->env.coord) - size_origin(r->m, extent, r->sym, t->env.coord);
    a = cut(a, 0, size_eval(r->m, own, r->sym, t->env.coord) - 1);
    return (Interval){a.lo + origin, a.hi + origin};
}

/* One whole range of positions in a dimension, or one place; no range twice. */
static bool sub_is_dense(Trace *t, const Affine *a, uint64_t *ranges) {
    bool found = false;
    for (int i = 0; i < a->nterm; i++) {
        const Term *x = &a->term[i];
        Affine alone = {.nterm = 1, .term = {*x}};
        if (x->kind == TERM_POS && range_is_ragged(t->node->kernel, x->id)) return false;
        if (interval_exact(env_affine(&t->env, &alone))) continue;
        bool pos = x->kind == TERM_POS && x->id < 64 && x->div == 1 && (x->mul == 1 || x->mul == -1);
        uint64_t bit = pos ? (uint64_t)1 << x->id : 0;
        if (!pos || found || (*ranges & bit)) return false;
        *ranges |= bit;
        found = true;
    }
    return true;
}

static bool access_is_dense(Trace *t, const Op *op) {
    const Arg *arg = &t->node->arg.p[op->param];
    const Tensor *tensor = &t->run->p->tensor.p[arg->tensor];
    uint64_t ranges = 0;
    if (arg->lead + arg_same_dims(tensor, arg, &t->node->kernel->param.p[op->param]) < tensor->ndim) return false;
    for (int d = 0; d < op->sub.n; d++)
        if (!sub_is_dense(t, &op->sub.p[d].lo, &ranges)) return false;
    return true;
}

static bool trace_access(Trace *t, const Step *s) {
    Run *r = t->run;
    const Arg *arg = &t->node->arg.p[s->op->param];
    const Tensor *tensor = &r->p->tensor.p[arg->tensor];
    Event e = event_new(t, s->op, s->op->kind == OP_STORE ? EVENT_WRITE : EVENT_READ, arg->tensor);
    int lead = tensor->symmetric >= 0, owner[MAX_AXES];
    memcpy(owner, t->env.coord, sizeof owner);
    const bool whole = s->op->kind == OP_GROUP; /* reads all of it */
    e.dense = !whole && (tensor->packet || s->written) && access_is_dense(t, s->op);
    if (lead) {
        Interval at = cut(env_affine(&t->env, &s->op->sub.p[0].lo), 0, r->m->axis.p[tensor->symmetric].ranks - 1);
        if (interval_empty(at)) return true;
        e.rank_lo = (int16_t)at.lo, e.rank_hi = (int16_t)at.hi;
        owner[tensor->symmetric] = e.rank_lo; /* of several, the first one's blocks are the longest */
    }
    for (int d = 0; d < tensor->ndim; d++) {
        Interval a = access_cells(t, arg, &t->node->kernel->param.p[s->op->param], d, whole ? NULL : s->op->sub.p + lead, owner);
        if (interval_empty(a)) {
            r->box.n = e.box;
            return true;
        }
        if (a.hi >= INT32_MAX) return run_fail_size(r, s->op->loc, tensor->name);
        box_push(r, a);
    }
    return event_push(t, e);
}

static bool weakened(const Run *r, const Op *op, bool crosses) {
    const Flag *f = &r->p->flag.p[op->flag];
    return op->order != ORDER_ACQ_REL || (crosses && (op->scope != SCOPE_SYSTEM || f->scope != SCOPE_SYSTEM));
}

static bool dim_counts(const Flag *f, int d) { return f->dim.p[d].group > 0; }

static bool trace_wait(Trace *t, const Op *op) {
    Run *r = t->run;
    const Flag *f = &r->p->flag.p[op->flag];
    Event e = event_new(t, op, EVENT_WAIT, op->flag);
    bool exact = true;
    for (int d = 0; d < f->dim.n; d++) {
        Interval lo = interval_of(0), hi = lo;
        if (dim_counts(f, d)) lo = env_affine(&t->env, &op->sub.p[d].lo), hi = env_affine(&t->env, &op->sub.p[d].hi);
        exact = exact && interval_exact(lo) && interval_exact(hi);
        box_push(r, (Interval){lo.lo, hi.hi});
    }
    if (f->axis >= 0) {
        Interval lo = env_affine(&t->env, &op->dest.lo), hi = env_affine(&t->env, &op->dest.hi);
        exact = exact && interval_exact(lo) && interval_exact(hi);
        Interval at = cut((Interval){lo.lo, hi.hi}, 0, r->m->axis.p[f->axis].ranks - 1);
        e.rank_lo = (int16_t)at.lo, e.rank_hi = (int16_t)at.hi;
    }
    e.sync = exact && !weakened(r, op, f->axis >= 0 && (e.rank_lo != e.rank_hi || e.rank_lo != t->env.coord[f->axis]));
    return event_push(t, e);
}

static bool trace_signal(Trace *t, const Op *op) {
    Run *r = t->run;
    const Flag *f = &r->p->flag.p[op->flag];
    Event e = event_new(t, op, EVENT_SIGNAL, op->flag);
    if (!t->top) return run_fail_flag(r, op->flag, op, "a signal is conditional or repeated");
    for (int d = 0; d < f->dim.n; d++) {
        Interval a = dim_counts(f, d) ? env_affine(&t->env, &op->sub.p[d].lo) : interval_of(0);
        if (!interval_exact(a)) return run_fail_flag(r, op->flag, op, "the word of a signal is not known");
        box_push(r, a);
    }
    if (f->axis >= 0) {
        Interval lo = env_affine(&t->env, &op->dest.lo), hi = env_affine(&t->env, &op->dest.hi);
        if (!interval_exact(lo) || !interval_exact(hi) || lo.lo < 0 || hi.lo >= r->m->axis.p[f->axis].ranks)
            return run_fail_flag(r, op->flag, op, "the ranks that a signal goes to are not known");
        e.rank_lo = (int16_t)lo.lo, e.rank_hi = (int16_t)hi.lo;
    }
    e.sync = !weakened(r, op, f->axis >= 0 && (e.rank_lo != e.rank_hi || e.rank_lo != t->env.coord[f->axis]));
    return event_push(t, e);
}

/* ---- walking a body ---- */

static bool trace_steps(Trace *t, const Steps *s);

/* What was waited for inside does not count after it: it may not have been executed. */
static bool trace_maybe(Trace *t, const Steps *s) {
    Run *r = t->run;
    int first = r->event.n;
    if (!trace_steps(t, s)) return false;
    for (int i = first; i < r->event.n; i++)
        if (r->event.p[i].until == ALWAYS) r->event.p[i].until = r->event.n - 1;
    return true;
}

static bool trace_for(Trace *t, const Step *s) {
    int range = s->op->range;
    Interval lo = env_value(&t->env, s->op->arg.p[0]), hi = env_value(&t->env, s->op->arg.p[1]);
    if (interval_empty(lo) || interval_empty(hi)) return true;
    bool known = interval_exact(lo) && interval_exact(hi);
    if (known && hi.lo <= lo.lo) return true;
    if (!known || !s->iterate) {
        env_whole(&t->env, range, lo, hi);
        return known ? trace_steps(t, &s->in[0]) : trace_maybe(t, &s->in[0]);
    }
    int64_t trips = env_trips(&t->env, range, lo.lo, hi.lo);
    for (int64_t i = 0; i < trips; i++) {
        env_tile(&t->env, range, lo.lo, hi.lo, i);
        if (!trace_steps(t, &s->in[0])) return false;
    }
    return true;
}

static bool trace_if(Trace *t, const Step *s) {
    Interval cond = env_value(&t->env, s->op->arg.p[0]);
    if (interval_exact(cond)) return trace_steps(t, &s->in[cond.lo ? 0 : 1]);
    return trace_maybe(t, &s->in[0]) && trace_maybe(t, &s->in[1]);
}

static bool trace_inner(Trace *t, const Step *s) {
    bool top = t->top;
    t->top = false;
    bool ok = s->op->kind == OP_FOR ? trace_for(t, s) : trace_if(t, s);
    t->top = top;
    return ok;
}

static bool trace_steps(Trace *t, const Steps *s) {
    for (int i = 0; i < s->n; i++) {
        const Step *step = &s->p[i];
        bool ok = true;
        switch (step->op->kind) {
        case OP_WAIT: ok = trace_wait(t, step->op); break;
        case OP_SIGNAL: ok = trace_signal(t, step->op); break;
        case OP_FOR:
        case OP_IF: ok = trace_inner(t, step); break;
        default: ok = trace_access(t, step);
        }
        if (!ok) return false;
    }
    return true;
}

/* Row-major over the grid, the last range fastest. */
static void grid_set(Trace *t, const int64_t *extent, int64_t number) {
    int n = t->node->kernel->ngrid;
    int64_t index[MAX_RANGES];
    for (int i = n - 1; i >= 0; i--) index[i] = number % extent[i], number /= extent[i];
    for (int i = 0; i < n; i++) env_grid(&t->env, i, index[i]);
}

static bool trace_rank(Trace *t, const Steps *steps, int rank) {
    Run *r = t->run;
    const Kernel *k = t->node->kernel;
    int64_t extent[MAX_RANGES], tasks = 1;
    t->env.coord = r->coord[rank];
    for (int i = 0; i < k->ngrid; i++) {
        extent[i] = range_tiles(r->m, k, i, r->sym);
        tasks = extent[i] && tasks > MAX_TASKS / extent[i] ? MAX_TASKS + 1 : tasks * extent[i];
    }
    if (r->task.n + tasks > MAX_TASKS || r->task.n + tasks > r->most_events) return run_fail_size(r, k->loc, k->name);
    for (int64_t i = 0; i < tasks; i++) {
        t->task = r->task.n;
        grid_set(t, extent, i);
        Task task = {.node = t->node->id, .rank = rank, .number = i, .first = r->event.n};
        if (!trace_steps(t, steps)) {
            task.n = r->event.n - task.first;
            vec_push(r->arena, &r->task, task);
            return false;
        }
        task.n = r->event.n - task.first;
        vec_push(r->arena, &r->task, task);
    }
    return true;
}

bool trace_node(Run *r, int number, int ranks) {
    const Node *node = r->p->node.p[number];
    if (node->kind != NODE_CALL) return run_fail(r, node->loc, "a collective has no flags");
    Steps steps = steps_of(r, node, node->kernel->body);
    Trace t = {.run = r, .node = node, .top = true};
    t.env = (Env){.m = r->m, .k = node->kernel, .sym = r->sym, .at = ARENA_ARRAY(r->arena, RangeAt, node->kernel->range.n + 1)};
    for (int rank = 0; rank < ranks; rank++)
        if (!trace_rank(&t, &steps, rank)) return false;
    return true;
}

bool trace_program(Run *r) {
    for (int n = 0; n < r->p->node.n; n++)
        if (!trace_node(r, n, r->ranks)) return false;
    return true;
}
