/* vector.c: what a task has a number of for each column, as a bias or a scale: groups load them before they wait for the
   last products, not a panel at a time behind barriers.
   Takes: a kernel with its plan. Gives: these loads, as many as registers hold beside the sums. */
#include "passes/roles/slice.h"

enum {
    COLUMN_LANES = 4, /* lanes that share the columns of a row of sums (wgmma, PTX ISA) */
    OWN_WORDS = 40    /* of a thread: addresses, counters, what an element is made of */
};

/* Words of a thread. */
static int words_of(const Slice *s, Type t) {
    return (int)(s->k->range.p[s->column].size / COLUMN_LANES * elem_bits(t.elem) / 32);
}

static bool is_vector(const Slice *s, const Op *op) {
    if (op->kind != OP_LOAD || op->in != s->k->body || s->stream_of[op->res.p[0]->id]) return false;
    Type t = op->res.p[0]->type;
    const Param *p = &s->k->param.p[op->param];
    return t.nrange == 1 && t.range[0] == s->column && !p->out && !p->inout && load_is_placed(op);
}

void slice_vectors(Slice *s) {
    if (s->late || s->slices > 1) return; /* registers have the tile before; a workgroup has a share of the columns */
    int room = s->k->plan.regs.p[s->k->plan.regs.n - 1] - s->sum_words - OWN_WORDS;
    for (int i = 0; i < s->op.n; i++) {
        if (!is_vector(s, s->op.p[i]) || words_of(s, s->op.p[i]->res.p[0]->type) > room) continue;
        room -= words_of(s, s->op.p[i]->res.p[0]->type);
        vec_push(s->scratch, &s->vector, s->op.p[i]);
    }
}
