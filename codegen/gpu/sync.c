/* sync.c: waits and signals of GPU text: threads poll several words at once, one thread publishes; packets.
   The functions are those of device/tile_flags.h. */
#include "codegen/abi/abi.h"
#include "codegen/gpu/hip.h"
#include "codegen/text/share.h"

static const char *scope_text(SyncScope s) { return s == SCOPE_SYSTEM ? "TILE_SYSTEM" : "TILE_DEVICE"; }

/* ---- waits ---- */

/* Each thread polls its share of the words. */
static const char *each(Fn *f, const char *name, const CExpr *from, const CExpr *past) {
    const CExpr *first = cexpr_add(f, cexpr_bare(from), cexpr_name(f, "thread"));
    return fn_text(f, "for (int64_t %s = %s; %s < %s; %s += %d) {", name, first->text, name, past->text, name,
                   f->hip->threads);
}

static bool is_wait(const Op *op) { return op && op->kind == OP_WAIT; }

/* Waits that follow each other end together. */
static void begin(Fn *f, const Op *op) {
    if (is_wait(op) && is_wait(op->prev)) return;
    f->hip->timed_out = c_name(&f->names, "timed_out");
    fn_line(f, "bool %s = false;", f->hip->timed_out);
}

static void poll(Fn *f, const Poll *p) {
    const Flag *flag = &f->p->flag.p[p->op->flag];
    if (p->one) fn_line(f, "if (thread == 0)");
    fn_line(f, "%s%s |= tile_poll(t, &%s, %s, %s, %s, %s, group);", p->one ? "    " : "", f->hip->timed_out, p->word,
            p->want, scope_text(flag->scope), p->flag, p->from);
}

static void end(Fn *f, const Op *op) {
    lds_take(f, op->loc, SYNC_LDS);
    if (!is_wait(op) || !is_wait(op->next)) fn_line(f, "if (tile_any(lds, %s)) %s", f->hip->timed_out, f->back->leave);
}

/* ---- signals ---- */

static int publish_begin(Fn *f, SyncScope scope) {
    fn_line(f, "tile_release(%s);", scope_text(scope));
    fn_line(f, "if (thread == 0) {");
    f->indent++;
    return 1;
}

static const char *publish(Fn *f, const char *word, SyncScope scope) {
    return fn_text(f, "tile_publish(&%s, generation, %s);", word, scope_text(scope));
}

static const char *arrive(Fn *f, const char *count, const char *arrivals, SyncScope scope) {
    lds_take(f, f->k->loc, SYNC_LDS);
    return fn_text(f, "tile_arrive(lds, &%s, %s, %s)", count, arrivals, scope_text(scope));
}

/* ---- packets ---- */

static void packet_get(Nest *n, const Op *op, const char *when, const char *place, const char *bits) {
    int flag = packets_flag(n->f->p, n->f->node->arg.p[op->param].tensor);
    if (when) nest_line(n, n->n, "if (%s)", when);
    nest_line(n, n->n, "%s |= tile_packet_get(t, &%s, generation, &%s, %s, -1, group);", n->f->hip->timed_out, place,
              bits, field_number(n->f, "flag", flag)->text);
}

static const char *packet_put(Fn *f, const char *place, const char *bits) {
    return fn_text(f, "tile_packet_put(&%s, generation, %s);", place, bits);
}

void hip_packet_load(Fn *f, const Op *op) {
    const Tile *to = held_tile(f, op->res.p[0]);
    const char *bits = c_name(&f->names, "bits"), *inside;
    begin(f, op);
    Nest n = nest_over(f, to->layout, 0);
    const CExpr *place = nest_place(&n, op, &inside);
    const char *when = conjoin(f, mask_text(&n, op->res.p[0]->type), inside);
    nest_line(&n, n.n, "uint32_t %s = 0;", bits);
    packet_get(&n, op, when, place->text, bits);
    nest_line(&n, n.n, "%s = %s;", nest_tile(&n, to)->text, packet_value(f, to->elem, bits)->text);
    nest_print(&n);
    end(f, op);
}

const SyncBackend hip_sync = {
    .generation = "generation",
    .each = each,
    .begin = begin,
    .poll = poll,
    .end = end,
    .publish_begin = publish_begin,
    .publish = publish,
    .arrive = arrive,
    .packet_get = packet_get,
    .packet_put = packet_put,
};

/* ---- launches ---- */

bool takes_tickets(const Program *p, const Node *n) {
    for (int i = 0; i < p->flag.n; i++)
        if (p->flag.p[i].producer == n->id && p->flag.p[i].consumer == n->id) return true;
    return false;
}

/* ---- refusals ---- */

const char *hip_seen_by(const Module *m, const Tensor *input) {
    bool one = !input;
    for (int d = 0; input && d < input->ndim; d++) one |= input->dim[d].axis >= 0;
    return one && mesh_ranks(m) > 1 ? "TILE_ONE" : "TILE_ALL";
}
