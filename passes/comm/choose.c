/* choose.c: the form that a collective takes: the one asked for, else the fastest by the model. */
#include "passes/comm/comm.h"
#include "ir/text/print.h"

#include <string.h>

double comm_bytes(const Comm *c, int tensor) {
    const Tensor *t = &c->p->tensor.p[tensor];
    double n = elem_bits(t->elem) / 8.0;
    for (int d = 0; d < t->ndim; d++) n *= (double)size_bound(c->m, t->dim[d]);
    return n;
}

enum { PACKET = 8 }; /* bytes of an element beside the number of its run */

double comm_packet_bytes(const Comm *c, int tensor) {
    return comm_bytes(c, tensor) * PACKET * 8 / elem_bits(c->p->tensor.p[tensor].elem);
}

/* Bytes of a rank's part: packets double what is moved, which pays for short ones (docs/passes/comm.md). */
enum { PACKET_BYTES = 256 * 1024 };

const char comm_not_packets[] = "packets carry up to 256 KB of elements of at most 32 bits, of sizes known at compile time, in every run";

bool comm_fits_packets(Comm *c, const Node *n, double bytes) {
    const Tensor *src = &c->p->tensor.p[n->src];
    const Node *producer = comm_only_producer(c, n->src);
    if (producer && kernel_is_ragged(producer->kernel)) return false;
    for (int d = 0; d < src->ndim; d++)
        if (src->dim[d].sym >= 0) return false;
    return !n->when && bytes <= PACKET_BYTES && elem_bits(src->elem) <= 32;
}

bool comm_is_named(const Program *p, const Node *node, const char *name) {
    return strcmp(p->tensor.p[node->src].name, name) == 0 || strcmp(p->tensor.p[node->dst].name, name) == 0;
}

/* By the command line, or by the IR. */
static CommForm form_asked(const Comm *c, const Node *node) {
    const PassOptions *o = c->pass->options;
    if (c->off) return COMM_UNFUSED;
    for (int i = o->nasked - 1; i >= 0; i--)
        if (comm_is_named(c->p, node, o->asked[i].name)) return o->asked[i].form;
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
