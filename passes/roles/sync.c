/* sync.c: memory of peers, waits and signals: flags stand in the body before it is cut.
   Takes: a kernel in value form, with or without flags. Gives: which of its operations other ranks see, and the waits
   and signals of its roles; or why they cannot have them. */
#include "ir/size.h"
#include "passes/roles/slice.h"

/* ---- looking ---- */

/* Kernels that stand by for others have no flags of their own. */
static const char *why_size(const Slice *s) {
    for (int i = 0; i < s->k->param.n; i++)
        for (int d = 0; d < s->k->param.p[i].ndim; d++)
            if (!size_is_number(s->k->param.p[i].dim[d]))
                return slice_text(s, "it addresses memory of peers, and a size of '%s' is known at run time only",
                                  s->k->param.p[i].name);
    return NULL;
}

/* The role that copies waits; others see only what comes through rings. */
static const char *why_loads(const Slice *s) {
    for (int i = 0; i < s->op.n; i++) {
        const Op *op = s->op.p[i];
        if (op->kind != OP_LOAD || !slice_is_symmetric(s, op) || s->stream_of[op->res.p[0]->id]) continue;
        if (!(slice_takes_sent(s, op) && slice_is_near(s, op)))
            return slice_text(s, "'%s' is memory of peers, and no operand of a product", s->k->param.p[op->param].name);
    }
    return NULL;
}

/* One lane stores and signals: threads would have to meet. */
static const char *why_stores(Slice *s) {
    for (int i = 0; i < s->store.n; i++) {
        const char *why = store_why_no_box(s, s->store.p[i]);
        if (why) return slice_text(s, "it signals other ranks, and not all of its results go by boxes: %s", why);
    }
    return NULL;
}

bool slice_peers(Slice *s) {
    if (!slice_has_peers(s)) return true;
    const char *why =
        slice_has_fill(s, FILL_ROWS) ? "it addresses memory of peers, and threads copy rows" : why_size(s);
    if (kernel_is_ragged(s->k)) why = "it addresses memory of peers, and groups bound its rows";
    if (!why) why = why_loads(s);
    if (!why) why = why_stores(s);
    return !why || slice_refuse(s, NULL, NULL, "%s", why);
}

/* ---- which roles ---- */

bool slice_signals(const Slice *s) {
    for (int i = 0; i < s->op.n; i++)
        if (s->op.p[i]->kind == OP_SIGNAL) return true;
    return false;
}

/* Results follow the waits of an arm by what comes for them. */
static bool waits(const Slice *s) {
    for (int i = 0; i < s->op.n; i++)
        if (s->op.p[i]->kind == OP_WAIT && !op_arms(s, s->op.p[i])) return true;
    return false;
}

/* ---- building ---- */

/* The role that copies has waited, in tasks without a step, too. */
void slice_waited(Slice *s, Cut *c) {
    if (!slice_signals(s) || !waits(s)) return;
    s->token = roles_ring(s->m, s->to, name_of(s->m->names, "waited"), 1, s->k->loc);
    build_put(&c->b, s->token);
}

/* A store, too, follows what the body waits for before it. */
void slice_store_waits(const Slice *s, Cut *c) {
    for (const Op *op = s->k->body->first; op && slice_sends(s); op = op->next)
        if (op->kind == OP_WAIT) cut_op(c, op);
}

void slice_store_signals(const Slice *s, Cut *c) {
    if (s->token >= 0) {
        build_get(&c->b, s->token);
        build_free(&c->b, s->token);
    }
    for (const Op *op = s->k->body->first; op; op = op->next)
        if (op->kind == OP_SIGNAL) cut_op(c, op);
}
