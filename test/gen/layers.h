/* layers.h: repeats and branches: statements that run several times, or perhaps, with a value that they carry on,
   states, and parts of tensors. */
#ifndef TILEC_TEST_GEN_LAYERS_H
#define TILEC_TEST_GEN_LAYERS_H

#include "test/gen/call.h"
#include "test/gen/called.h"
#include "test/gen/library.h"
#include "test/gen/move.h"

static void expanded_call(Src *g) {
    switch (DRAW(g, 6)) {
    case 0:
    case 1: program_call(g); break;
    case 2:
    case 3: linear_call(g); break;
    case 4: state_call(g); break;
    default: total_call(g); break;
    }
}

/* A call, a collective, an expression or a view. */
static void step_make(Src *g) {
    int span = tape_open(g->tape), form = DRAW(g, 11);
    if (form < 4 || g->tensor.n == 0)
        call_make(g);
    else if (form < 6 && !RARELY(g, 6))
        move_some(g);
    else if (form < 6)
        nested_make(g);
    else if (form < 8)
        map_make(g);
    else if (form < 9)
        view_make(g);
    else if (form < 10)
        library_call(g);
    else
        expanded_call(g);
    tape_close(g->tape, span);
}

/* A value that every iteration updates: another name of a tensor, or one of its own. */
static int carried_make(Src *g) {
    int base = map_base(g);
    if (base < 0) return -1;
    SrcTensor t = g->tensor.p[base];
    bool copy = t.kind == KIND_STATE || DRAW(g, 2);
    const char *from = read_tensor(g, base);
    t.name = SAY(g, "t%d", g->nname++);
    t.kind = KIND_TEMPORARY;
    t.read = t.exact = t.part = t.distinct = false;
    if (copy) t.view = false;
    statement_print(g, t.name, copy ? SAY(g, "0.5 * %s", from) : from);
    return copy ? tensor_new(g, t) : tensor_add(g, t);
}

/* What an iteration leaves in a state the next one finds: nothing can rely on it; and it must be read before it is
 * changed. */
static void states_enter(Src *g) {
    for (int i = 0; i < g->tensor.n; i++) {
        SrcTensor *t = &g->tensor.p[i];
        if (t->kind != KIND_STATE) continue;
        t->exact = t->exact && !elem_is_float(t->elem);
        t->assigned = true, t->read = false;
    }
}

/* A part of a result for each iteration. */
static void value_part(Src *g, SrcTensor t, const char *from) {
    const char *name = SAY(g, "y%d", g->nname++);
    t.view = false;
    dim_prepend(g, &t, EXTENT_NUMBER + g->repeats);
    text_printf(&g->outputs, "%s%s: %s", g->outputs.n ? ", " : "", name, type_text(g, &t));
    statement_print(g, SAY(g, "%s[%s]", name, g->iteration), from);
}

/* A value that nothing reads goes into a state of its type, or a part of a result. */
static void value_sink(Src *g, int tensor) {
    SrcTensor t = g->tensor.p[tensor];
    if (!g->branches && g->repeats && t.ndim && t.ndim < SRC_RANK && RARELY(g, 3)) {
        value_part(g, t, read_tensor(g, tensor));
        return;
    }
    const char *from = read_tensor(g, tensor), *op = t.elem == ELEM_BOOL ? "^" : "+";
    t.view = t.distinct = false;
    int sink = given_add(g, t, KIND_STATE);
    SrcTensor *state = &g->tensor.p[sink];
    statement_print(g, state->name, SAY(g, "%s %s %s", state->name, op, from));
    state->exact = !elem_is_float(t.elem);
    state->assigned = true;
}

static void iteration_finish(Src *g) {
    for (int i = g->outside; i < g->tensor.n; i++) {
        if (g->tensor.p[i].read || g->tensor.p[i].kind != KIND_TEMPORARY) continue;
        if (is_whole_place(g, &g->tensor.p[i]))
            value_sink(g, i);
        else
            move_make(g, i, true);
    }
    SrcTensor r;
    if (g->carried < 0) return;
    statement_print(g, g->tensor.p[g->carried].name, map_text(g, g->carried, &r, true));
    g->tensor.p[g->carried].read = false;
}

/* What the body declared ends with it; what the program is given stays, but for parts that an iteration chose. */
static void tensors_leave(Src *g) {
    int n = g->outside;
    for (int i = g->outside; i < g->tensor.n; i++)
        if (g->tensor.p[i].kind != KIND_TEMPORARY && !g->tensor.p[i].part) g->tensor.p[n++] = g->tensor.p[i];
    g->tensor.n = n;
}

static void block_finish(Src *g) {
    iteration_finish(g);
    g->depth--;
    text_printf(&g->body, "%*s}\n", 2 + 2 * g->depth, "");
    tensors_leave(g);
}

/* What is decided at run time, with collectives and updates in place. */
static void branch_make(Src *g) {
    int span = tape_open(g->tape), outside = g->outside, carried = g->carried;
    g->carried = carried_make(g);
    states_enter(g);
    g->outside = g->tensor.n;
    text_printf(&g->body, "%*sif %s {\n", 2 + 2 * g->depth, "", program_condition(g));
    g->depth++, g->branches++;
    for (int n = 1 + DRAW(g, 2); n > 0; n--) step_make(g);
    block_finish(g);
    g->outside = outside, g->carried = carried, g->branches--;
    tape_close(g->tape, span);
}

static void repeat_make(Src *g) {
    int span = tape_open(g->tape), around = g->repeats, outside = g->outside, carried = g->carried;
    const char *iteration = g->iteration, *own = g->depth ? "j" : "l";
    g->carried = carried_make(g);
    states_enter(g);
    int times = 1 + DRAW(g, g->depth ? 2 : 3);
    g->repeats = (around ? around : 1) * times;
    g->iteration = around ? SAY(g, "(%s * %d + %s)", iteration, times, own) : own;
    g->outside = g->tensor.n;
    text_printf(&g->body, "%*srepeat %s of %d {\n", 2 + 2 * g->depth, "", own, times);
    g->depth++;
    for (int n = 1 + DRAW(g, 2); n > 0; n--) step_make(g);
    if (g->depth == 1 && RARELY(g, 4)) repeat_make(g);
    if (RARELY(g, 4)) branch_make(g);
    block_finish(g);
    g->repeats = around, g->outside = outside, g->iteration = iteration, g->carried = carried;
    tape_close(g->tape, span);
}

#endif
