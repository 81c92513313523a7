/* explain.c: tilec explain: what each pass decided, in order, with its reason and prediction. */
#include "driver/explain.h"
#include "passes/model/model.h"

#include <math.h>
#include <stdio.h>

static void print_programs(const Session *s) {
    for (int i = 0; i < s->m->program.n; i++) {
        const Program *p = s->m->program.p[i];
        printf("program %s: %d kernels", p->name, p->node.n);
        for (int k = 0; k < p->node.n; k++) printf("%s %s", k ? "," : ":", p->node.p[k]->kernel->name);
        printf("\n");
    }
}

static void print_count(double n, const char *what) {
    if (n > 0) printf(", %.3g %s", n, what);
}

static void print_node(const Session *s, const TargetFacts *f, const Node *n, const int64_t *bound) {
    if (n->kind != NODE_CALL) return;
    NodeCost c = model_node(s->arena, f, s->m, n, bound);
    printf("model: '%s': %.3g us%s: %.0f task%s", n->kernel->name, model_node_seconds(f, &c, 1) * 1e6,
           s->target.gpu ? "" : " on a core", c.tasks, c.tasks == 1 ? "" : "s");
    print_count(c.dot, "flop in products");
    print_count(c.row, "flop in products with one row");
    print_count(c.ops, "other operations");
    print_count(c.bytes, "bytes");
    print_count(c.linked, "bytes of peers");
    printf("\n");
}

static int64_t *sizes_at_bounds(const Session *s) {
    int64_t *bound = ARENA_ARRAY(s->arena, int64_t, s->m->symbol.n + 1);
    for (int i = 0; i < s->m->symbol.n; i++) bound[i] = s->m->symbol.p[i].bound;
    return bound;
}

static Taxes *count_taxes(const Session *s) {
    Taxes *x = ARENA_ARRAY(s->arena, Taxes, s->m->program.n + 1);
    for (int i = 0; i < s->m->program.n; i++) x[i] = taxes_of(s->m, s->m->program.p[i], sizes_at_bounds(s));
    return x;
}

static void print_taxes(const Session *s, const char *when, const Taxes *list) {
    for (int i = 0; i < s->m->program.n; i++) {
        const Taxes *x = &list[i];
        printf("taxes: program %s %s: %d node%s, %d barrier%s of all ranks, %.3g bytes of intermediates through memory\n",
               s->m->program.p[i]->name, when, x->nodes, x->nodes == 1 ? "" : "s", x->barriers, x->barriers == 1 ? "" : "s", x->bytes);
    }
}

static const char *bound_by(const Bounds *b) {
    const double most = fmax(fmax(b->link, b->products), fmax(b->memory, b->latency));
    return most == b->link ? "the link" : most == b->products ? "products" : most == b->memory ? "memory" : "latency";
}

/* Of programs of several ranks: in microseconds, before and after. */
static void print_times(const Session *s, const Taxes *before, const Taxes *after) {
    const TargetFacts *f = target_facts(s->target.machine);
    for (int i = 0; f && i < s->m->program.n; i++) {
        const Program *p = s->m->program.p[i];
        const TaxTimes x = taxes_times(f, &before[i]), y = taxes_times(f, &after[i]);
        const Bounds b = bounds_of(f, s->m, p, sizes_at_bounds(s), &after[i]);
        printf("taxes: program %s, as written and as compiled, in us: launches %.3g, %.3g; ranks that meet %.3g, %.3g; "
               "intermediates %.3g, %.3g\n",
               p->name, x.launches * 1e6, y.launches * 1e6, x.meetings * 1e6, y.meetings * 1e6, x.memory * 1e6,
               y.memory * 1e6);
        printf("bounds: program %s, in us: link %.3g, products %.3g, memory %.3g, latency %.3g: bound by %s\n", p->name,
               b.link * 1e6, b.products * 1e6, b.memory * 1e6, b.latency * 1e6, bound_by(&b));
    }
}

static void print_program(const Session *s, const TargetFacts *f, const Program *p, const int64_t *bound) {
    double alone = model_program(f, s->m, p, bound, 1) * 1e6;
    if (s->target.gpu)
        printf("model: program %s: %.4g us\n", p->name, alone);
    else
        printf("model: program %s: %.3g us on one core of a rank, %.3g us on two: %s\n", p->name, alone,
               model_program(f, s->m, p, bound, 2) * 1e6, model_workers(f, s->m, p) == 1 ? "one worker" : "all workers");
}

static void print_model(const Session *s) {
    const TargetFacts *f = target_facts(s->target.machine);
    int64_t *bound = sizes_at_bounds(s);
    for (int i = 0; f && i < s->m->program.n; i++) {
        const Program *p = s->m->program.p[i];
        for (int k = 0; k < p->node.n; k++) print_node(s, f, p->node.p[k], bound);
        print_program(s, f, p, bound);
    }
}

static void print_remarks(const Session *s) {
    for (int i = 0; i < s->context.remark.n; i++) {
        const Remark *r = &s->context.remark.p[i];
        if (r->loc.file) printf("%s:%d:%d: ", loc_path(s->diags, r->loc), loc_line(s->diags, r->loc), loc_column(s->diags, r->loc));
        printf("%s: %s\n", r->pass, r->text);
    }
}

static void print_all(const Session *s, const Taxes *before) {
    const Taxes *after = count_taxes(s);
    const bool several = mesh_ranks(s->m) > 1;
    if (!s->target.gpu || several) print_taxes(s, "as written", before), print_taxes(s, "as compiled", after);
    if (several) print_times(s, before, after);
    print_model(s);
    for (int i = 0; i < s->m->program.n; i++) explain_sizes(s, s->m->program.p[i], sizes_at_bounds(s));
    print_programs(s);
    if (s->o->cache_sim) explain_caches(s);
}

static int write_pictures(const Session *s, const Taxes *before) {
    json_t *data = explain_data(s, before, count_taxes(s), sizes_at_bounds(s));
    bool good = explain_trace(data, s->o->trace);
    if (good) pictures_add(data);
    if (good && s->o->html) good = explain_page(data, s->o->html);
    if (good && s->o->svg) good = pictures_write(s, data, s->o->svg);
    json_decref(data);
    return good ? EXIT_OK : EXIT_USAGE;
}

int command_explain(Options *o) {
    Session s;
    if (!session_open(&s, o)) return EXIT_USAGE;
    const bool drawn = o->html || o->svg;
    if (o->trace && !drawn) return fputs("tilec: error: explain shows a --trace in the pictures of --html and --svg\n", stderr), EXIT_USAGE;
    bool good = session_lower(&s);
    const Taxes *before = good ? count_taxes(&s) : NULL;
    good = good && session_passes(&s);
    if (!drawn || !good) print_remarks(&s);
    if (good && !drawn) print_all(&s, before);
    int code = good && drawn ? write_pictures(&s, before) : EXIT_OK;
    return session_close(&s, good ? code : EXIT_WRONG);
}
