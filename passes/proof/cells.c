/* cells.c: is every pair of accesses of one tile, of which one writes, ordered within a generation?
   Takes: events. A tensor is cut into the coarsest cells that no access splits. Each cell holds its last writers and
   the readers since. Only these are compared with the next node's accesses: order is transitive. */
#include "passes/proof/run.h"

#include <stdlib.h>

/* Cells of tensors in all: memory and time of the proof; cells of an access that is compared as a whole;
   chosen: no measurement is recorded. */
enum { MAX_CELLS = 1 << 23, SKETCH_CELLS = 1 << 20, WIDE = 16 };

typedef struct {
    int32_t event, next; /* next: in Cells.link, -1 ends */
} Link;

/* Heads of lists, -1 when empty. */
typedef struct {
    int32_t writers, readers;         /* of earlier nodes */
    int32_t new_writers, new_readers; /* of the node being looked at */
    bool stands;                      /* some new writer certainly follows everything older */
} Cell;

typedef struct {
    Run *run;
    int tensor, ndim, node;
    VEC(int64_t) cuts[MAX_DIMS]; /* where a cell begins, ascending */
    int64_t per_rank, cells;     /* cells in the memory of a rank; in all */
    Cell *cell;
    VEC(Link) link;
    VEC(int64_t) touched;
    VEC(int) writer;             /* nodes, ascending */
    bool packet;
    bool meets;                  /* accesses of the node are compared with each other even where they may not meet */
    bool writes;                 /* the node certainly writes some place */
} Cells;

/* ---- cutting a tensor ---- */

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Most tasks of a grid repeat the cuts of their neighbours: a small table of those seen last drops them. */
static void cut_add(Cells *c, int d, int64_t at, int64_t *recent) {
    int64_t *slot = &recent[((uint64_t)at * 0x9E3779B97F4A7C15u) >> 54];
    if (*slot == at) return;
    *slot = at;
    vec_push(c->run->arena, &c->cuts[d], at);
}

static void cells_cut(Cells *c, const Accesses *list, int d) {
    int64_t recent[1024];
    for (int i = 0; i < 1024; i++) recent[i] = -1;
    for (int i = 0; i < list->n; i++) {
        const Event *e = &c->run->event.p[list->p[i]];
        Bounds a = c->run->box.p[e->box + d];
        cut_add(c, d, a.lo, recent);
        cut_add(c, d, (int64_t)a.hi + 1, recent);
    }
    int64_t *p = c->cuts[d].p;
    int n = 0;
    qsort(p, (size_t)c->cuts[d].n, sizeof *p, compare);
    for (int i = 0; i < c->cuts[d].n; i++)
        if (n == 0 || p[n - 1] != p[i]) p[n++] = p[i];
    c->cuts[d].n = n;
}

/* The cell that begins at a cut. */
static int64_t cell_at(const Cells *c, int d, int64_t at) {
    int lo = 0, hi = c->cuts[d].n - 1;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (c->cuts[d].p[mid] < at) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

/* ---- one access ---- */

static bool list_ordered(Cells *c, int32_t head, const Event *e) {
    for (int32_t i = head; i >= 0; i = c->link.p[i].next) {
        const Event *a = &c->run->event.p[c->link.p[i].event];
        if (a->task == e->task) continue;
        c->run->proof->pairs++;
        if (!order_holds(c->run, a, e)) return run_fail_pair(c->run, a, e, 0);
    }
    return true;
}

static void list_push(Cells *c, int32_t *head, int32_t event) {
    Link l = {event, *head};
    *head = c->link.n;
    vec_push(c->run->arena, &c->link, l);
}

/* Of other tasks of one node only what certainly meets is compared; what is scattered or strided is left to the language's
   rules and to the interpreter. */
static bool certain(const Event *e) { return e->dense && e->until == ALWAYS; }

static bool adds(const Event *e) { return e->kind == EVENT_WRITE && e->op->mode == STORE_ADD; }

/* What a kernel reads of its own result it gets from other tasks: it is compared wherever it may meet. */
bool event_reads_result(const Run *r, const Event *e) {
    const Node *n = r->p->node.p[r->task.p[e->task].node];
    return e->kind == EVENT_READ && n->kernel->param.p[e->op->param].out;
}

static bool sums(const Event *e) { return e->kind == EVENT_WRITE && e->op->mode == STORE_SUM; }

static bool always_compared(const Run *r, const Event *e) { return event_reads_result(r, e) || sums(e); }

static bool siblings_compared(const Run *r, const Event *a, const Event *b) {
    if (a->task == b->task || (adds(a) && adds(b))) return false;
    return always_compared(r, a) || always_compared(r, b) || (certain(a) && certain(b));
}

/* What a task stores for another rank's task of the node, which may come first in the list. */
static bool is_taken_by(const Run *r, const Event *write, const Event *read) {
    return write->kind == EVENT_WRITE && event_reads_result(r, read) &&
           r->task.p[write->task].rank != r->task.p[read->task].rank;
}

static bool siblings_ordered(Cells *c, int32_t head, const Event *e) {
    if (!c->meets && !certain(e)) return true;
    for (int32_t i = head; i >= 0; i = c->link.p[i].next) {
        const Event *a = &c->run->event.p[c->link.p[i].event];
        if (!siblings_compared(c->run, a, e)) continue;
        c->run->proof->pairs++;
        if (is_taken_by(c->run, e, a) ? !order_holds(c->run, e, a) : !order_holds(c->run, a, e))
            return run_fail_siblings(c->run, a, e);
    }
    return true;
}

/* Whoever comes after the task also comes after this: what was waited for where the write may not happen does not
 * count. */
static bool list_precedes(Cells *c, int32_t head, const Event *e) {
    const Task *t = &c->run->task.p[e->task];
    const Event *leaves = e, *last = &c->run->event.p[t->first + t->n - 1];
    while (leaves < last && leaves->kind != EVENT_SIGNAL) leaves++;
    for (int32_t i = head; i >= 0; i = c->link.p[i].next)
        if (!order_holds(c->run, &c->run->event.p[c->link.p[i].event], leaves)) return false;
    return true;
}

static bool stands_for_older(Cells *c, const Cell *cell, const Event *e) {
    return e->until == ALWAYS || (list_precedes(c, cell->writers, e) && list_precedes(c, cell->readers, e));
}

/* A packet's load waits for its elements: they must come, and order nothing else here. */
static bool packet_comes(Cells *c, const Cell *cell, const Event *e) {
    if (cell->writers >= 0) return true;
    const Task *t = &c->run->task.p[e->task];
    return run_fail(c->run, e->op->loc, "%s waits for packets of '%s' that no earlier task sends", task_text(c->run, t),
                    c->run->p->tensor.p[c->tensor].name);
}

static bool is_written_later(const Cells *c) { return c->writer.n && c->writer.p[c->writer.n - 1] >= c->node; }

static bool cell_visit(Cells *c, int64_t at, const Event *e) {
    Cell *cell = &c->cell[at];
    int32_t event = (int32_t)(e - c->run->event.p);
    bool fresh = cell->new_writers < 0 && cell->new_readers < 0;
    if (e->kind == EVENT_WRITE) {
        if (!list_ordered(c, cell->writers, e) || !list_ordered(c, cell->readers, e)) return false;
        if (!siblings_ordered(c, cell->new_writers, e) || !siblings_ordered(c, cell->new_readers, e)) return false;
        cell->stands = cell->stands || stands_for_older(c, cell, e);
        if (sums(e) && e->until == ALWAYS) cell->new_writers = -1; /* it follows them all, and stands for them */
        list_push(c, &cell->new_writers, event);
    } else {
        if (c->packet ? !packet_comes(c, cell, e) : !list_ordered(c, cell->writers, e)) return false;
        if (!c->packet && !siblings_ordered(c, cell->new_writers, e)) return false;
        if (!is_written_later(c)) return true;
        list_push(c, &cell->new_readers, event);
    }
    if (fresh) vec_push(c->run->arena, &c->touched, at);
    return true;
}

static int64_t cells_in(const Cells *c, const Event *e) {
    int64_t n = 1;
    for (int d = 0; d < c->ndim; d++) {
        Bounds a = c->run->box.p[e->box + d];
        n *= cell_at(c, d, (int64_t)a.hi + 1) - cell_at(c, d, a.lo);
    }
    return n;
}

static bool visit_rank(Cells *c, const Event *e, int rank) {
    int64_t lo[MAX_DIMS], hi[MAX_DIMS], at[MAX_DIMS];
    for (int d = 0; d < c->ndim; d++) {
        Bounds a = c->run->box.p[e->box + d];
        lo[d] = at[d] = cell_at(c, d, a.lo);
        hi[d] = cell_at(c, d, (int64_t)a.hi + 1) - 1;
    }
    for (int d = 0; d >= 0;) {
        int64_t cell = 0;
        for (int i = 0; i < c->ndim; i++) cell = cell * c->cuts[i].n + at[i];
        if (!cell_visit(c, rank * c->per_rank + cell, e)) return false;
        for (d = c->ndim - 1; d >= 0 && ++at[d] > hi[d]; d--) at[d] = lo[d];
    }
    return true;
}

/* Nothing of the node's own has to be compared with it. */
static bool is_apart(const Cells *c, const Event *e) {
    return !c->meets && (!certain(e) || (e->kind == EVENT_READ && !c->writes));
}

/* Launches order all accesses of other nodes. A read behind a wait for all of each writer needs no look at its cells. */
static bool is_clear(Cells *c, const Event *e) {
    const int axis = c->run->p->tensor.p[c->tensor].symmetric;
    if (c->packet) return false;
    if (c->run->launches && axis < 0) return is_apart(c, e);
    if (e->kind != EVENT_READ || !c->writer.n || is_written_later(c)) return false;
    for (int i = 0; i < c->writer.n; i++)
        if (!order_after_node(c->run, c->writer.p[i], axis, e)) return false;
    return true;
}

static bool access_visit(Cells *c, const Event *e) {
    const Run *r = c->run;
    int axis = r->p->tensor.p[c->tensor].symmetric, rank = r->task.p[e->task].rank;
    if (cells_in(c, e) >= WIDE && is_clear(c, e)) return true;
    if (axis < 0) return visit_rank(c, e, rank);
    for (int i = e->rank_lo; i <= e->rank_hi; i++)
        if (!visit_rank(c, e, mesh_rank_along(r->m, rank, axis, i))) return false;
    return true;
}

/* ---- node by node ---- */

/* The list before, with those of the new one in front. */
static int32_t lists_join(Cells *c, int32_t fresh, int32_t older) {
    int32_t tail = fresh;
    if (fresh < 0) return older;
    while (c->link.p[tail].next >= 0) tail = c->link.p[tail].next;
    c->link.p[tail].next = older;
    return fresh;
}

/* What the node certainly wrote follows everything older; else its accesses join. */
static void node_end(Cells *c) {
    for (int i = 0; i < c->touched.n; i++) {
        Cell *cell = &c->cell[c->touched.p[i]];
        cell->writers = lists_join(c, cell->new_writers, cell->stands ? -1 : cell->writers);
        cell->readers = lists_join(c, cell->new_readers, cell->stands ? -1 : cell->readers);
        cell->new_writers = cell->new_readers = -1;
        cell->stands = false;
    }
    c->touched.n = 0;
}

/* What is true of all accesses of the node whose first one is there. */
static void node_begin(Cells *c, const Accesses *list, int at) {
    const Run *r = c->run;
    const int node = r->task.p[r->event.p[list->p[at]].task].node;
    c->node = node;
    c->meets = c->writes = false;
    for (int i = at; i < list->n; i++) {
        const Event *e = &r->event.p[list->p[i]];
        if (r->task.p[e->task].node != node) return;
        c->meets = c->meets || always_compared(r, e);
        c->writes = c->writes || (e->kind == EVENT_WRITE && certain(e));
    }
}

static bool tensor_visit(Cells *c, const Accesses *list) {
    const Run *r = c->run;
    for (int i = 0; i < list->n; i++) {
        const Event *e = &r->event.p[list->p[i]];
        if (r->task.p[e->task].node != c->node) {
            node_end(c);
            node_begin(c, list, i);
        }
        if (!access_visit(c, e)) return false;
    }
    return true;
}

static void writers_count(Cells *c, const Accesses *list) {
    for (int i = 0; i < list->n; i++) {
        const Event *e = &c->run->event.p[list->p[i]];
        int node = c->run->task.p[e->task].node;
        if (e->kind != EVENT_WRITE || (c->writer.n && node == c->writer.p[c->writer.n - 1])) continue;
        vec_push(c->run->arena, &c->writer, node);
    }
}

/* In the memory of so many ranks. */
static Cells cells_of(Run *r, int tensor, int ranks) {
    const Tensor *t = &r->p->tensor.p[tensor];
    const Accesses *list = &r->access[tensor];
    Cells c = {.run = r, .tensor = tensor, .ndim = t->ndim, .node = -1, .per_rank = 1, .packet = t->packet};
    writers_count(&c, list);
    for (int d = 0; d < t->ndim; d++) {
        cells_cut(&c, list, d);
        c.per_rank = c.per_rank > MAX_CELLS / c.cuts[d].n ? MAX_CELLS : c.per_rank * c.cuts[d].n;
    }
    c.cells = c.per_rank * ranks;
    return c;
}

static bool cells_visit(Cells *c) {
    c->cell = ARENA_ARRAY(c->run->arena, Cell, c->cells);
    for (int64_t i = 0; i < c->cells; i++) c->cell[i] = (Cell){-1, -1, -1, -1, false};
    return tensor_visit(c, &c->run->access[c->tensor]);
}

static bool tensor_check(Run *r, int tensor) {
    if (r->access[tensor].n == 0) return true;
    Cells c = cells_of(r, tensor, r->ranks);
    if (c.cells > MAX_CELLS) return run_fail_size(r, r->p->tensor.p[tensor].loc, r->p->tensor.p[tensor].name);
    return cells_visit(&c);
}

bool cells_siblings(Run *r, int tensor) {
    const Tensor *t = &r->p->tensor.p[tensor];
    if (r->access[tensor].n == 0 || t->packet) return true;
    Cells c = cells_of(r, tensor, t->symmetric < 0 ? 1 : r->ranks);
    return c.cells > SKETCH_CELLS || cells_visit(&c);
}

bool cells_check(Run *r) {
    for (int t = 0; t < r->p->tensor.n; t++)
        if (r->written[t] && !tensor_check(r, t)) return false;
    return true;
}
