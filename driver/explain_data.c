/* explain_data.c: what the page of `tilec explain --html` shows, as JSON: sources, remarks, machine, programs with their
   tensors and nodes, emitted text. Times are microseconds, sizes bytes, counts those of one rank. */
#include "base/json.h"
#include "driver/emit.h"
#include "driver/explain.h"
#include "ir/text/print.h"
#include "passes/model/model.h"
#include "target/matrix.h"

#include <string.h>

static void put(json_t *o, const char *key, json_t *value) { json_object_set_new(o, key, value); }

static void put_place(const Session *s, json_t *o, Loc loc) {
    if (!loc.file) return;
    put(o, "file", json_integer(loc.file - 1));
    put(o, "line", json_integer(loc_line(s->diags, loc)));
}

static json_t *sources_of(const Session *s) {
    json_t *list = json_array();
    for (int i = 0; i < s->diags->file.n; i++) {
        const SourceFile *f = &s->diags->file.p[i];
        json_array_append_new(list, json_pack("{s:o, s:o}", "path", json_utf8(f->path), "text", json_utf8(f->text)));
    }
    return list;
}

static json_t *remarks_of(const Session *s) {
    json_t *list = json_array();
    for (int i = 0; i < s->context.remark.n; i++) {
        const Remark *r = &s->context.remark.p[i];
        json_t *o = json_pack("{s:s, s:o}", "pass", r->pass, "text", json_utf8(r->text));
        put_place(s, o, r->loc);
        json_array_append_new(list, o);
    }
    return list;
}

/* The rates that a roofline needs: operations and bytes a second of a whole rank. */
static json_t *machine_of(const Session *s) {
    const TargetFacts *f = target_facts(s->target.machine);
    const MatrixTarget *gpu = matrix_target(s->target.machine);
    const GpuFacts *rates = gpu_facts(s->target.machine);
    if (!f) return json_null();
    double products = rates && rates->products > 0 ? rates->products : f->dot;
    return json_pack("{s:s, s:f, s:f, s:f, s:b}", "name", s->target.machine, "products", products * (gpu ? gpu->processors : 1),
                     "memory", f->memory, "link", f->link, "gpu", s->target.gpu);
}

static json_t *extents_of(const Session *s, const Size *dim, int n) {
    json_t *list = json_array();
    for (int i = 0; i < n; i++) {
        const char *split = size_split_text(s->m, dim[i]);
        const char *symbol = dim[i].sym >= 0 ? s->m->symbol.p[dim[i].sym].name : NULL;
        json_array_append_new(list, symbol ? json_sprintf("%s%s", symbol, split) : json_sprintf("%lld%s", (long long)dim[i].c, split));
    }
    return list;
}

static double tensor_bytes(const Session *s, const Tensor *t, const int64_t *sizes) {
    static const int first[MAX_AXES]; /* the first rank's block, which none is longer than */
    double bytes = elem_bits(t->elem) / 8.0;
    for (int i = 0; i < t->ndim; i++) bytes *= (double)size_eval(s->m, t->dim[i], sizes, first);
    return bytes;
}

static json_t *tensors_of(const Session *s, const Program *p, const int64_t *sizes) {
    static const char *const role[] = {"input", "state", "result", "between"};
    json_t *list = json_array();
    for (int i = 0; i < p->tensor.n; i++) {
        const Tensor *t = &p->tensor.p[i];
        json_array_append_new(list, json_pack("{s:o, s:s, s:o, s:f, s:s}", "name", json_utf8(t->name), "elem", elem_text(t->elem),
                                              "dim", extents_of(s, t->dim, t->ndim), "bytes", tensor_bytes(s, t, sizes),
                                              "role", role[t->role]));
    }
    return list;
}

static json_t *tiles_of(const Session *s, const Kernel *k) {
    json_t *list = json_array();
    for (int i = 0; i < k->ngrid; i++) {
        const Range *r = &k->range.p[i];
        json_t *o = json_pack("{s:o, s:I}", "name", json_utf8(r->name), "size", (json_int_t)(r->kind == RANGE_WHOLE ? 0 : r->size));
        put(o, "of", extents_of(s, &r->of, 1));
        json_array_append_new(list, o);
    }
    return list;
}

static const char *lowering_of(const Kernel *k) {
    if (k->roles) return "roles";
    return k->plan.lowering == LOWER_SCHEDULE ? k->plan.schedule : "plain";
}

static void put_call(const Session *s, json_t *o, const Node *n, const int64_t *sizes) {
    const TargetFacts *f = target_facts(s->target.machine);
    json_t *reads = json_array(), *writes = json_array(), *also = json_array();
    for (int i = 0; i < n->arg.n; i++) {
        const Param *p = &n->kernel->param.p[i];
        if (!p->out) json_array_append_new(reads, json_integer(n->arg.p[i].tensor));
        if (p->out || p->inout) json_array_append_new(writes, json_integer(n->arg.p[i].tensor));
    }
    for (int i = 0; i < n->otherwise.n; i++) json_array_append_new(also, json_utf8(n->otherwise.p[i]->name));
    put(o, "name", json_utf8(n->kernel->name));
    put(o, "plan", json_string(lowering_of(n->kernel)));
    put(o, "tiles", tiles_of(s, n->kernel));
    put(o, "also", also);
    put(o, "reads", reads);
    put(o, "writes", writes);
    if (!f) return;
    NodeCost c = model_node(s->arena, f, s->m, n, sizes);
    put(o, "us", json_real(model_node_seconds(f, &c, 1) * 1e6));
    put(o, "tasks", json_real(c.tasks));
    put(o, "flop", json_real(c.dot + c.row));
    put(o, "ops", json_real(c.ops));
    put(o, "bytes", json_real(c.bytes));
    put(o, "linked", json_real(c.linked));
}

static json_t *nodes_of(const Session *s, const Program *p, const int64_t *sizes) {
    json_t *list = json_array();
    for (int i = 0; i < p->node.n; i++) {
        const Node *n = p->node.p[i];
        json_t *o = json_object();
        put_place(s, o, n->loc);
        if (n->kind == NODE_CALL)
            put_call(s, o, n, sizes);
        else
            put(o, "name", json_string(text_coll[n->coll])), put(o, "plan", json_string("collective")),
                put(o, "reads", json_pack("[i]", n->src)), put(o, "writes", json_pack("[i]", n->dst));
        json_array_append_new(list, o);
    }
    return list;
}

/* The texts that `compile` would write, without the manifest. */
static json_t *emitted_of(const Session *s, const Program *p) {
    Outputs out = outputs_of(s, 1);
    json_t *list = json_array();
    bool good = outputs_add_source(&out, p, ".");
    for (int i = 0; good && i < out.file.n; i++) {
        const OutFile *f = &out.file.p[i];
        const char *ending = strrchr(f->path, '.');
        if (strcmp(ending, ".c") && strcmp(ending, ".hip")) continue;
        json_array_append_new(list, json_pack("{s:o, s:o}", "path", json_utf8(f->path + 2), "text", json_utf8(f->text->p)));
    }
    outputs_free(&out);
    return list;
}

static json_t *taxes_json(const Taxes *x) {
    return json_pack("{s:i, s:i, s:f}", "nodes", x->nodes, "barriers", x->barriers, "bytes", x->bytes);
}

static json_t *times_json(const TargetFacts *f, const Taxes *x) {
    const TaxTimes t = taxes_times(f, x);
    return json_pack("{s:f, s:f, s:f}", "launches", t.launches * 1e6, "ranks that meet", t.meetings * 1e6, "intermediates", t.memory * 1e6);
}

/* Of several ranks: what the taxes take before and after, and what the program would take if one thing alone bounded it. */
static void put_times(const Session *s, json_t *o, const Program *p, const Taxes *before, const Taxes *after, const int64_t *sizes) {
    const TargetFacts *f = target_facts(s->target.machine);
    if (!f || mesh_ranks(s->m) == 1) return;
    const Bounds b = bounds_of(f, s->m, p, sizes, after);
    put(o, "taxes", json_pack("[o, o]", times_json(f, before), times_json(f, after)));
    put(o, "bounds", json_pack("{s:f, s:f, s:f, s:f}", "link", b.link * 1e6, "products", b.products * 1e6, "memory", b.memory * 1e6,
                               "latency", b.latency * 1e6));
}

json_t *explain_data(const Session *s, const Taxes *before, const Taxes *after, const int64_t *sizes) {
    const TargetFacts *f = target_facts(s->target.machine);
    json_t *programs = json_array();
    for (int i = 0; i < s->m->program.n; i++) {
        const Program *p = s->m->program.p[i];
        json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name", json_utf8(p->name), "before", taxes_json(&before[i]), "after",
                              taxes_json(&after[i]), "tensors", tensors_of(s, p, sizes), "nodes", nodes_of(s, p, sizes), "emitted",
                              emitted_of(s, p));
        if (f) put(o, "us", json_real(model_program(f, s->m, p, sizes, 1) * 1e6));
        put_times(s, o, p, &before[i], &after[i], sizes);
        json_array_append_new(programs, o);
    }
    return json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o}", "file", json_utf8(s->o->file), "target", s->target.machine, "version",
                     TILEC_VERSION, "machine", machine_of(s), "sources", sources_of(s), "remarks", remarks_of(s), "programs", programs);
}

/* ---- what reads it ---- */

double data_number(const json_t *o, const char *key) { return json_number_value(json_object_get(o, key)); }

const char *data_text(const json_t *o, const char *key) {
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

const char *node_class(const json_t *node) {
    const char *plan = data_text(node, "plan");
    return !strcmp(plan, "roles") || !strcmp(plan, "plain") || !strcmp(plan, "collective") ? plan : "schedule";
}
