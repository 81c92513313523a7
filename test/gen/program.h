/* program.h: a random program: calls of random kernels, expressions over whole tensors, collectives, repeats, over a
   mesh. Takes a tape; gives the text of a .tile file that the front end accepts. */
#ifndef TILEC_TEST_GEN_PROGRAM_H
#define TILEC_TEST_GEN_PROGRAM_H

#include "test/gen/fixed.h"
#include "test/gen/layers.h"

static void dims_choose(Src *g) {
    static const int edge[] = {15, 16, 17, 31, 32, 33, 63, 64, 65, 70};
    bool runtime = RARELY(g, 8); /* proofs for all sizes take most of the time */
    g->many = RARELY(g, 12);
    g->ndim = 1 + DRAW(g, 5);
    for (int d = 0; d < g->ndim; d++) {
        g->dim[d].size = g->many ? 1 + DRAW(g, 3) : RARELY(g, 4) ? edge[DRAW(g, 10)] : 1 + DRAW(g, RARELY(g, 3) ? 24 : 8);
        g->dim[d].runtime = runtime && RARELY(g, 3);
    }
    g->naxis = DRAW(g, 4) ? RARELY(g, 4) ? RARELY(g, 3) ? 3 : 2 : 1 : 0;
    for (int a = 0, most = g->naxis == 1 ? 5 : 5 - g->naxis; a < g->naxis; a++)
        g->ranks[a] = 1 + (DRAW(g, most) + 1) % most;
    if (g->naxis == 3 && RARELY(g, 3)) g->ranks[DRAW(g, 3)] = 3;
}

static void results_finish(Src *g) {
    for (int i = 0; i < g->tensor.n; i++)
        if (!g->tensor.p[i].read && !is_whole_place(g, &g->tensor.p[i])) move_make(g, i, true);
    for (int i = 0; i < g->tensor.n; i++) {
        SrcTensor *t = &g->tensor.p[i];
        if (t->read || t->kind == KIND_OUTPUT || t->kind == KIND_STATE) continue;
        const char *name = SAY(g, "y%d", g->nname++);
        text_printf(&g->outputs, "%s%s: %s", g->outputs.n ? ", " : "", name, type_text(g, t));
        statement_print(g, name, t->name);
    }
}

static void text_join(Text *to, const char *head, const Text *fields) {
    if (fields->n) text_printf(to, "%s%s", to->n ? ", " : "", head);
}

static void source_print(Src *g, Text *to) {
    if (g->library) text_add(to, "import \"std/rows.tile\";\n");
    for (int d = 0; d < g->ndim; d++)
        text_printf(to, "dim N%d %s %" PRId64 ";\n", d, g->dim[d].runtime ? "<=" : "=", g->dim[d].size);
    for (int a = 0; a < g->naxis; a++) text_printf(to, "mesh %s = %" PRId64 ";\n", axis_name[a], g->ranks[a]);
    if (g->inner.n) text_printf(to, "record inner { %s }\n", text_str(&g->inner));
    text_join(&g->fields, "own: inner", &g->inner);
    if (g->fields.n) text_printf(to, "record weights { %s }\n", text_str(&g->fields));
    if (g->state_fields.n) text_printf(to, "record memory { %s }\n", text_str(&g->state_fields));
    text_join(&g->inputs, "w: weights", &g->fields);
    text_join(&g->inputs, "state s: memory", &g->state_fields);
    if (g->scalar) text_printf(&g->inputs, "%sa: f32", g->inputs.n ? ", " : "");
    if (g->integer) text_printf(&g->inputs, "%sb: i32", g->inputs.n ? ", " : "");
    text_printf(to, "%sprogram generated(%s) -> (%s) {\n%s}\n", text_str(&g->kernels), text_str(&g->inputs),
                text_str(&g->outputs), text_str(&g->body));
}

/* False where the decisions give no program. *varies: its results depend on the number of ranks. */
static bool program_generate(Arena *arena, Tape *tape, Text *to, bool *varies) {
    Src g = {.arena = arena, .tape = tape, .carried = -1};
    dims_choose(&g);
    g.library = RARELY(&g, 16);
    for (int n = 2 + DRAW(&g, 6); n > 0; n--) {
        if (RARELY(&g, 6))
            repeat_make(&g);
        else if (RARELY(&g, 8))
            branch_make(&g);
        else
            step_make(&g);
    }
    results_finish(&g);
    bool good = g.outputs.n && (g.inputs.n || g.inner.n || g.fields.n || g.state_fields.n);
    if (good) source_print(&g, to), sizes_declare(to);
    *varies = g.varies;
    Text *const own[] = {&g.kernels, &g.inputs, &g.outputs, &g.body, &g.inner, &g.fields, &g.state_fields};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) text_free(own[i]);
    return good;
}

#endif
