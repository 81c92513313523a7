/* once.c: does a node write every element of its results exactly once? Looked at while it runs, also where nothing
   proves it: places and conditions made of data. Takes the stores of one rank's tasks; gives the fault of the first
   element of a result that breaks the rule. */
#include "ir/interp/state.h"

#include <string.h>

/* Of a result, from the view's first element on. */
struct Once {
    const View *view;
    uint8_t *written;
    int64_t cap, elements, count;
    int64_t again, by; /* the first element that is written again, and the task that does; -1: none */
    bool sums;
};

void once_make(World *w) {
    int most = 0;
    for (int i = 0; i < w->m->kernel.n; i++)
        if (w->m->kernel.p[i]->param.n > most) most = w->m->kernel.p[i]->param.n;
    w->once = ARENA_ARRAY(w->arena, Once, most + 1);
}

/* From the first element of a view to behind its last one. */
static int64_t view_span(const View *v, int ndim, int64_t *elements) {
    int64_t last = 0;
    *elements = 1;
    for (int d = 0; d < ndim; d++) {
        *elements *= v->dim[d];
        last += (v->dim[d] - 1) * v->stride[d];
    }
    return *elements > 0 ? last + 1 : 0;
}

static void result_begin(World *w, Once *o, const View *v, const Param *p) {
    *o = (Once){.view = v, .written = o->written, .cap = o->cap, .again = -1};
    int64_t n = view_span(v, p->ndim, &o->elements);
    if (n >= o->cap) {
        o->cap = 2 * n + 1;
        o->written = arena_alloc(w->arena, (size_t)o->cap);
    }
    memset(o->written, 0, (size_t)n);
}

static bool is_result(const Param *p) { return p->out && p->ranks < 0 && !p->packet; }

void once_begin(World *w, const Node *node, const View *view) {
    for (int i = 0; i < node->arg.n; i++)
        if (is_result(&node->kernel->param.p[i]))
            result_begin(w, &w->once[i], &view[i * w->peers], &node->kernel->param.p[i]);
}

void once_store(const Task *t, const Op *store, const int64_t *offset, int64_t n) {
    Once *o = &t->w->once[store->param];
    if (!is_result(&t->k->param.p[store->param])) return;
    o->sums = o->sums || store->mode == STORE_ADD || store->mode == STORE_SUM;
    for (int64_t i = 0; i < n; i++) {
        if (offset[i] < 0) continue;
        int64_t at = offset[i] - o->view->offset;
        if (!o->written[at]) {
            o->written[at] = 1;
            o->count++;
        } else if (o->again < 0 || at < o->again) {
            o->again = at;
            o->by = t->linear;
        }
    }
}

/* ---- when the tasks are done ---- */

/* The first element that nothing wrote; -1: there is none. */
static int64_t first_gap(const Once *o, int ndim) {
    int64_t index[MAX_DIMS] = {0}, at = 0;
    for (int64_t i = 0; o->count < o->elements && i < o->elements; i++) {
        if (!o->written[at]) return at;
        for (int d = ndim - 1; d >= 0; d--) {
            at += o->view->stride[d];
            if (++index[d] < o->view->dim[d]) break;
            at -= index[d] * o->view->stride[d];
            index[d] = 0;
        }
    }
    return -1;
}

static const char *index_text(const World *w, const View *v, int ndim, int64_t at) {
    const char *text = "";
    for (int d = 0; d < ndim; at %= v->stride[d++])
        text = arena_format(w->report_arena, "%s%s%lld", text, d ? ", " : "", (long long)(at / v->stride[d]));
    return text;
}

bool once_broken(const World *w, const Node *node, int param, InterpTask at, InterpFault *f) {
    const Param *p = &node->kernel->param.p[param];
    const Once *o = &w->once[param];
    if (!is_result(p) || o->sums) return false;
    int64_t gap = first_gap(o, p->ndim);
    bool twice = o->again >= 0 && (gap < 0 || o->again < gap);
    int64_t element = twice ? o->again : gap;
    at.task = twice ? o->by : -1;
    *f = (InterpFault){.kind = twice ? FAULT_TWICE : FAULT_GAP,
                       .at = at,
                       .other.rank = -1,
                       .tensor = o->view->part->t->id,
                       .home = at.rank,
                       .element = o->view->offset + element,
                       .flag = -1,
                       .result = p->name,
                       .text = element < 0 ? "" : index_text(w, o->view, p->ndim, element)};
    return element >= 0;
}
