/* comm.c: the pass that replaces every collective by kernels which read or write peers' memory.
   Takes: value form without flags. Gives: the same results, no collective left; symmetric tensors carry what crosses.
   Forms: pull, staged, push, packets, unfused (docs/passes/comm.md); chosen by the model or by --comm. */
#include "passes/comm/comm.h"
#include "ir/text/print.h"
#include "passes/fuse/fuse.h"

#include <string.h>

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
    Comm c = {.pass = pass, .m = pass->m, .p = p, .facts = facts, .off = pass_is_off(pass->options, &pass_comm)};
    for (c.at = 0; c.at < p->node.n; c.at++) {
        const Node *n = p->node.p[c.at];
        if (n->kind == NODE_COLLECTIVE) replace_collective(&c, n);
        else vec_push(c.m->arena, &c.out, *n);
    }
    number_nodes(&c);
    if (!c.off && !pass_is_off(pass->options, &pass_fuse)) fuse_behind(pass, p, c.sum.p, c.sum.n);
}

static bool is_name_of_one(const Module *m, const char *name) {
    for (int i = 0; i < m->program.n; i++) {
        const Program *p = m->program.p[i];
        for (int k = 0; k < p->node.n; k++)
            if (p->node.p[k]->kind == NODE_COLLECTIVE && comm_is_named(p, p->node.p[k], name)) return true;
    }
    return false;
}

static void check_asked(const PassContext *pass) {
    for (int i = 0; i < pass->options->nasked; i++) {
        const CommAsked *a = &pass->options->asked[i];
        if (!is_name_of_one(pass->m, a->name))
            diag_warning(pass->m->diags, (Loc){0}, "comm-form", "--comm=%s=%s: no collective takes or gives '%s'", a->name,
                         text_form[a->form], a->name);
    }
}

static bool comm_module(PassContext *pass) {
    const TargetFacts *facts = target_facts(pass->options->target);
    check_asked(pass);
    for (int i = 0; i < pass->m->program.n; i++) comm_program(pass, pass->m->program.p[i], facts);
    module_prune(pass->m);
    return pass->m->diags->errors == 0;
}

const Pass pass_comm = {
    .name = "comm", .help = "make collectives loads and stores of peers",
    .needs = 0, .breaks = FORM_FLAGS, .run = comm_module,
};
