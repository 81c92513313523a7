/* relation_deps.c: the dependences between the tasks of a program's nodes, over isl: nearest ones only.
   Takes: any module without collectives. Gives: text for `--emit=deps`. Tasks are (ranks, tile numbers of the grid); inner
   loops are projected out; writes that cannot be told exactly never hide older ones. Generations are not looked at. */
#include "ir/poly/relation_deps.h"

#include "ir/poly/isl_context.h"
#include "ir/poly/relation_text.h"

#include <isl/flow.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/union_map.h>
#include <isl/val.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERATIONS = 20000000 };

typedef struct {
    int from, to, tensor;
    const char *text;
} Line;

typedef struct {
    const Module *m;
    const Program *p;
    Arena *arena;
    isl_ctx *isl;
    FILE *out;
    isl_union_map *read, *write, *exact, *order; /* exact: writes of whole known boxes */
    const char *kind;
    VEC(Line) line;
} Deps;

/* ---- relations ---- */

static bool access_exact(const Access *a) {
    for (const Op *up = a->op->in->parent; up; up = up->in->parent)
        if (up->kind == OP_IF) return false;
    for (int d = 0; d < a->ndim; d++)
        if (!a->dim[d].known) return false;
    return !a->remote || a->rank.known;
}

static void write_task(const Deps *d, Text *t, int node) {
    bool some = false;
    text_printf(t, "S%d[", node);
    relation_names(t, "pr", d->m->axis.n, &some);
    relation_names(t, "p", d->p->node.p[node]->kernel->ngrid, &some);
    text_add(t, "]");
}

static void write_params(const Deps *d, Text *t) {
    bool some = false;
    text_add(t, "[");
    relation_names(t, "n", d->m->symbol.n, &some);
    text_add(t, "] -> { ");
}

static void write_ranks(const Deps *d, Text *t) {
    text_add(t, " : 1 > 0");
    for (int i = 0; i < d->m->axis.n; i++) text_printf(t, " and 0 <= pr%d < %lld", i, (long long)d->m->axis.p[i].ranks);
    relation_symbols(t, d->m);
}

static void write_loops(const Kernel *k, Text *t) {
    text_add(t, " and exists (");
    for (int i = k->ngrid; i < k->range.n; i++) text_printf(t, "%sp%d", i > k->ngrid ? ", " : "", i);
    text_add(t, k->range.n > k->ngrid ? " : 1 > 0" : "e : e = 0");
}

/* Private memory is that of the task's own rank: (rank, places); peers' memory: (the other axes' ranks, m0, places). */
static void write_memory(const Deps *d, Text *t, const Access *a) {
    const Tensor *x = &d->p->tensor.p[a->tensor];
    bool some = false;
    text_printf(t, " -> T%d[", a->tensor);
    for (int i = 0; i < d->m->axis.n; i++, some = true)
        text_printf(t, i == x->symmetric ? "%sm0" : "%spr%d", some ? ", " : "", i);
    relation_names(t, "x", x->ndim, &some);
    text_add(t, "]");
}

static isl_union_map *access_map(const Deps *d, const Access *a) {
    Text t = {0};
    const Tensor *x = &d->p->tensor.p[a->tensor];
    RelationText w = {.m = d->m, .k = d->p->node.p[a->node]->kernel, .letter = 'p', .text = &t};
    write_params(d, &t);
    write_task(d, &t, a->node);
    write_memory(d, &t, a);
    write_ranks(d, &t);
    write_loops(w.k, &t);
    relation_ranges(&w);
    relation_tensor(&w, x);
    if (a->remote) relation_box(&w, &a->rank, "m", 0);
    for (int i = 0; i < a->ndim; i++) relation_box(&w, &a->dim[i], "x", i);
    text_add(&t, ") }");
    isl_union_map *map = isl_union_map_read_from_str(d->isl, t.p);
    text_free(&t);
    return map;
}

static isl_union_map *order_map(const Deps *d, int node) {
    Text t = {0};
    const Kernel *k = d->p->node.p[node]->kernel;
    bool ordered = kernel_orders_tasks(k);
    write_params(d, &t);
    write_task(d, &t, node);
    text_printf(&t, " -> [%d", node);
    for (int i = 0; i < MAX_RANGES; i++) text_printf(&t, ordered && i < k->ngrid ? ", p%d" : ", 0", i);
    text_add(&t, "] }");
    isl_union_map *map = isl_union_map_read_from_str(d->isl, t.p);
    text_free(&t);
    return map;
}

static void add_node(Deps *d, int node) {
    AccessList list = node_accesses(d->m, d->p, node, d->arena);
    d->order = isl_union_map_union(d->order, order_map(d, node));
    for (int i = 0; i < list.n; i++) {
        const Access *a = &list.p[i];
        if (d->p->tensor.p[a->tensor].ndim == 0) continue;
        isl_union_map *map = access_map(d, a);
        if (!a->write) d->read = isl_union_map_union(d->read, map);
        else if (access_exact(a)) d->exact = isl_union_map_union(d->exact, map);
        else d->write = isl_union_map_union(d->write, map);
    }
}

/* ---- printing ---- */

static const char *count_text(const Deps *d, isl_map *map) {
    if (d->m->symbol.n) return "for all sizes";
    isl_set *pairs = isl_map_wrap(isl_map_copy(map));
    isl_val *n = isl_set_count_val(pairs);
    const char *text = "too many pairs of tasks to count";
    if (n && isl_val_is_int(n) == isl_bool_true) text = arena_format(d->arena, "%ld pairs of tasks", isl_val_get_num_si(n));
    isl_val_free(n);
    isl_set_free(pairs);
    return text;
}

/* S<from> -> [S<to> -> T<tensor>] */
static isl_stat add_dependence(isl_map *map, void *arg) {
    Deps *d = arg;
    isl_map *tasks = isl_map_range_factor_domain(isl_map_copy(map));
    const char *from = isl_map_get_tuple_name(tasks, isl_dim_in), *to = isl_map_get_tuple_name(tasks, isl_dim_out);
    isl_map *memory = isl_map_range_factor_range(isl_map_copy(map));
    const char *tensor = isl_map_get_tuple_name(memory, isl_dim_out);
    if (from && to && tensor) {
        Line l = {.from = atoi(from + 1), .to = atoi(to + 1), .tensor = atoi(tensor + 1)};
        l.text = arena_format(d->arena, "%s on '%s', %s", d->kind, d->p->tensor.p[l.tensor].name, count_text(d, tasks));
        vec_push(d->arena, &d->line, l);
    }
    isl_map_free(tasks);
    isl_map_free(memory);
    isl_map_free(map);
    return isl_stat_ok;
}

/* The nearest sources of each sink: exact ones, and the kill, hide what is older. */
static void find_flow(Deps *d, const char *kind, isl_union_map *sink, isl_union_map *exact, isl_union_map *source, isl_union_map *kill) {
    isl_union_access_info *info = isl_union_access_info_from_sink(isl_union_map_copy(sink));
    info = isl_union_access_info_set_may_source(info, isl_union_map_copy(source));
    if (exact) info = isl_union_access_info_set_must_source(info, isl_union_map_copy(exact));
    if (kill) info = isl_union_access_info_set_kill(info, isl_union_map_copy(kill));
    info = isl_union_access_info_set_schedule_map(info, isl_union_map_copy(d->order));
    isl_union_flow *flow = isl_union_access_info_compute_flow(info);
    isl_union_map *found = isl_union_flow_get_full_may_dependence(flow);
    d->kind = kind;
    if (!found) fprintf(d->out, "  %s: unknown, the operation budget is spent\n", kind);
    else isl_union_map_foreach_map(found, add_dependence, d);
    isl_union_map_free(found);
    isl_union_flow_free(flow);
}

static int line_compare(const void *x, const void *y) {
    const Line *a = x, *b = y;
    if (a->to != b->to) return a->to - b->to;
    if (a->from != b->from) return a->from - b->from;
    return a->tensor != b->tensor ? a->tensor - b->tensor : strcmp(a->text, b->text);
}

static void print_lines(Deps *d) {
    if (d->line.n) qsort(d->line.p, (size_t)d->line.n, sizeof *d->line.p, line_compare);
    else fprintf(d->out, "  no dependences\n");
    for (int i = 0; i < d->line.n; i++) {
        const Line *l = &d->line.p[i];
        fprintf(d->out, "  %d %s -> %d %s: %s\n", l->from, d->p->node.p[l->from]->kernel->name, l->to,
                d->p->node.p[l->to]->kernel->name, l->text);
    }
}

static isl_union_map *empty_map(const Deps *d) { return isl_union_map_read_from_str(d->isl, "{ }"); }

static void print_program(Deps *d) {
    fprintf(d->out, "program %s\n", d->p->name);
    d->read = empty_map(d), d->write = empty_map(d), d->exact = empty_map(d), d->order = empty_map(d);
    for (int i = 0; i < d->p->node.n; i++)
        if (d->p->node.p[i]->kind == NODE_CALL) add_node(d, i);
    isl_union_map *writes = isl_union_map_union(isl_union_map_copy(d->write), isl_union_map_copy(d->exact));
    find_flow(d, "read after write", d->read, d->exact, d->write, NULL);
    find_flow(d, "write after read", writes, NULL, d->read, d->exact);
    find_flow(d, "write after write", writes, d->exact, d->write, NULL);
    print_lines(d);
    isl_union_map_free(writes);
    isl_union_map_free(d->read);
    isl_union_map_free(d->write);
    isl_union_map_free(d->exact);
    isl_union_map_free(d->order);
}

void deps_print(const Module *m, FILE *out) {
    for (int i = 0; i < m->program.n; i++) {
        Deps d = {.m = m, .p = m->program.p[i], .arena = arena_new(), .isl = isl_context_open(MAX_OPERATIONS), .out = out};
        print_program(&d);
        isl_context_close(d.isl);
        arena_free(d.arena);
    }
}
