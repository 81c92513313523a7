/* comm.c: the pass that replaces every collective by kernels which read or write peers' memory.
   Takes: value form without flags. Gives: the same results, no collective left; symmetric tensors carry what crosses.
   Forms: pull, staged, push, packets, unfused (docs/passes/comm.md); chosen by the model or by --comm. */
#include "passes/comm/comm.h"
#include "ir/text/print.h"

#include <string.h>

double comm_bytes(const Comm *c, int tensor) {
    const Tensor *t = &c->p->tensor.p[tensor];
    double n = elem_bits(t->elem) / 8.0;
    for (int d = 0; d < t->ndim; d++) n *= (double)size_bound(c->m, t->dim[d]);
    return n;
}

/* By the command line, or by the IR. */
static CommForm form_asked(const Comm *c, const Node *node) {
    const PassOptions *o = c->pass->options;
    if (pass_is_off(o, &pass_comm)) return COMM_UNFUSED;
    return o->comm != COMM_AUTO ? o->comm : node->form;
}

static Choice *forced_choice(Comm *c, const Node *node, Choice *choice, int n) {
    CommForm form = form_asked(c, node);
    if (form == COMM_AUTO) return NULL;
    for (int i = 0; i < n; i++) {
        if (choice[i].form != form) continue;
        if (choice[i].legal) return &choice[i];
        diag_perf(c->m->diags, node->loc, "comm-form", "the form '%s' does not fit this %s: %s", text_form[form],
                  coll_info[node->coll].name, choice[i].why_not);
        return NULL;
    }
    diag_perf(c->m->diags, node->loc, "comm-form", "%s has no form '%s'", coll_info[node->coll].name, text_form[form]);
    return NULL;
}

static Choice *fastest(Choice *choice, int n) {
    Choice *best = NULL;
    for (int i = 0; i < n; i++)
        if (choice[i].legal && (!best || choice[i].seconds < best->seconds)) best = &choice[i];
    return best;
}

static void explain(Comm *c, const Node *node, const Choice *taken, bool forced, const Choice *choice, int n) {
    char text[512];
    int at = 0;
    for (int i = 0; i < n && at < (int)sizeof text; i++) {
        const Choice *o = &choice[i];
        if (o->legal) at += snprintf(text + at, sizeof text - (size_t)at, "; %s %.1f us", text_form[o->form], o->seconds * 1e6);
        else at += snprintf(text + at, sizeof text - (size_t)at, "; not %s: %s", text_form[o->form], o->why_not);
    }
    remark(c->pass, "comm", node->loc, "%s of '%s' along %s: %s, %s%s", coll_info[node->coll].name,
           c->p->tensor.p[node->src].name, c->m->axis.p[node->axis].name, text_form[taken->form],
           forced ? "asked for" : "predicted fastest", text);
}

CommForm comm_choose(Comm *c, const Node *node, Choice *choice, int n) {
    Choice *forced = forced_choice(c, node, choice, n);
    Choice *taken = forced ? forced : fastest(choice, n);
    explain(c, node, taken, forced != NULL, choice, n);
    return taken->form;
}

static void (*const lowering[COLL_COUNT])(Comm *, const Node *) = {
#define COLL(kind, name, function, ...) [COLL_##kind] = comm_##function,
#include "ir/coll.def"
#undef COLL
};

static void replace_collective(Comm *c, const Node *n) {
    c->when = n->when;
    if (c->m->axis.p[n->axis].ranks == 1) {
        comm_copy(c, n);
        return;
    }
    lowering[n->coll](c, n);
}

static void number_nodes(Comm *c) {
    c->p->node.n = 0;
    for (int i = 0; i < c->first.n; i++) program_node(c->m, c->p, c->first.p[i]);
    for (int i = 0; i < c->out.n; i++) program_node(c->m, c->p, c->out.p[i]);
}

static bool has_collective(const Program *p) {
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]->kind == NODE_COLLECTIVE) return true;
    return false;
}

static void comm_program(PassContext *pass, Program *p, const TargetFacts *facts) {
    if (!has_collective(p)) return;
    Comm c = {.pass = pass, .m = pass->m, .p = p, .facts = facts};
    for (c.at = 0; c.at < p->node.n; c.at++) {
        const Node *n = p->node.p[c.at];
        if (n->kind == NODE_COLLECTIVE) replace_collective(&c, n);
        else vec_push(c.m->arena, &c.out, *n);
    }
    number_nodes(&c);
}

static bool comm_module(PassContext *pass) {
    const TargetFacts *facts = target_facts(pass->options->target);
    for (int i = 0; i < pass->m->program.n; i++) comm_program(pass, pass->m->program.p[i], facts);
    module_prune(pass->m);
    return pass->m->diags->errors == 0;
}

const Pass pass_comm = {
    .name = "comm", .help = "make collectives loads and stores of peers",
    .needs = 0, .breaks = FORM_FLAGS, .run = comm_module,
};
