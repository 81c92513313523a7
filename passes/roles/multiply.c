/* multiply.c: the groups that multiply: the body, with tiles of rings as operands of products.
   Takes: streams with their rings. Gives: the role `multiply`: products are issued, and waited for where sums are used;
   a slot goes back when its products are done: where the loop waits for no sum, a turn later. */
#include "passes/roles/slice.h"

static void take_region(Cut *c, const Region *r);
static void take_op(Cut *c, const Op *op);

/* ---- operands ---- */

static void take_get(Cut *c, const Stream *t) {
    if (!wide_last(c, t)) return;
    Op *get = build_get(&c->b, t->ring);
    for (int i = 0; i < c->s->op.n; i++) {
        const Op *load = c->s->op.p[i];
        int id = load->res.n ? load->res.p[0]->id : 0;
        if (load->res.n && c->s->stream_of[id] && &c->s->stream.p[c->s->stream_of[id] - 1] == t)
            c->value[id] = get->res.p[c->s->slot_of[id]];
    }
}

/* Tiles that no step of the loop changes. */
static void take_before(Cut *c, const Op *loop) {
    for (int i = 0; i < c->s->stream.n; i++)
        if (c->s->stream.p[i].get == loop) take_get(c, &c->s->stream.p[i]);
}

static void take_operand(Cut *c, const Op *load) {
    const Stream *t = &c->s->stream.p[c->s->stream_of[load->res.p[0]->id] - 1];
    c->b.loc = load->loc;
    if (t->get == load) take_get(c, t);
    if (!slice_is_line(c->s, load)) return;
    Value *line = build_convert(&c->b, cut_value(c, load->res.p[0]));
    line->name = load->res.p[0]->name ? load->res.p[0]->name : c->s->k->param.p[load->param].name;
    cut_name(c, load->res.p[0], line);
}

/* Slots that the operation was the last one to read. */
static void take_frees(Cut *c, const Op *op) {
    for (int i = 0; i < c->s->stream.n; i++) {
        const Stream *t = &c->s->stream.p[i];
        if (wide_last(c, t) != op) continue;
        Op *release = build_free(&c->b, t->ring);
        release->piece = t->at->parent && t->at->parent->kind == OP_FOR && loop_defers(c->s, t->at->parent);
    }
}

/* What is made of slots is made of their values. */
static void take_values(Cut *c, const Op *op) {
    for (int i = 0; i < op->arg.n; i++) {
        const Value *v = op->arg.p[i];
        if (!c->s->makes || !c->s->stream_of[v->id] || cut_value(c, v)->def->kind != OP_GET) continue;
        c->value[v->id] = build_convert(&c->b, cut_value(c, v));
        c->value[v->id]->name = v->name;
    }
}

/* ---- sums ---- */

static void set_flying(Cut *c, const Value *v, bool flying) { c->flying[v->id] = flying; }

/* Those of the results that are looked at, together. */
static void take_ready(Cut *c, const Op *op) {
    VEC(const Value *) late = {0};
    VEC(Value *) copy = {0};
    for (int i = 0; i < op->res.n; i++) {
        const Value *v = op->res.p[i];
        if (!c->flying[v->id] || !c->s->waited[v->id]) continue;
        vec_push(c->s->scratch, &late, v);
        vec_push(c->s->scratch, &copy, cut_value(c, v));
    }
    if (!late.n) return;
    Op *ready = build_ready(&c->b, copy.p, copy.n);
    for (int i = 0; i < late.n; i++) {
        cut_name(c, late.p[i], ready->res.p[i]);
        set_flying(c, late.p[i], false);
    }
}

/* The instruction's first operand has the rows. */
static Value *product(Cut *c, const Op *dot, Value *acc) {
    bool swapped = !type_has(dot->arg.p[0]->type, c->s->row);
    const Value *rows = product_operand(dot, swapped);
    bool made = c->s->chained && c->half != HALF_WIDE && operand_is_made(dot, swapped);
    Value *x = made ? chain_operand(c, dot, rows) : cut_value(c, rows),
          *y = cut_value(c, product_operand(dot, !swapped));
    return build_mma(&c->b, x, y, acc, dot->over, dot->nover, slice_instruction(c->s, dot));
}

static bool is_zero(const Value *v) {
    while (v->def && v->def->kind == OP_BROADCAST) v = v->def->arg.p[0];
    return v->def && v->def->kind == OP_CONST && v->def->fimm == 0 && v->def->imm == 0;
}

static void take_product(Cut *c, const Op *dot) {
    Value *acc = dot->arg.n > 2 && !dot_promotes(dot) ? cut_value(c, dot->arg.p[2]) : NULL;
    if (c->counted && acc && is_zero(acc)) acc = NULL; /* of a step alone */
    cut_name(c, dot->res.p[0], product(c, dot, acc));
    set_flying(c, dot->res.p[0], true);
}

/* A step's sum, which is ready, is added to those before. */
static void take_promotion(Cut *c, const Op *dot) {
    cut_name(c, dot->res.p[0], build_binary(&c->b, OP_ADD, cut_value(c, dot->arg.p[2]), cut_value(c, dot->res.p[0])));
}

/* ---- what is done while products run ---- */

static bool is_there(const Cut *c, const Value *v) { return c->value[v->id] && !c->flying[v->id]; }

static bool operands_are_there(const Cut *c, const Op *op) {
    for (int i = 0; i < op->arg.n; i++)
        if (!is_there(c, op->arg.p[i])) return false;
    for (int d = 0; d < op->sub.n; d++)
        for (int i = 0; i < op->sub.p[d].lo.nterm; i++)
            if (op->sub.p[d].lo.term[i].kind == TERM_VALUE && !is_there(c, op->sub.p[d].lo.term[i].value)) return false;
    return true;
}

/* It takes few registers, and is no operand of a product. */
static bool is_small(const Slice *s, const Op *op) {
    if (op->res.n != 1 || op->region[0] || op->kind == OP_DOT) return false;
    Type t = op->res.p[0]->type;
    return t.nrange == 0 || (t.nrange == 1 && (type_has(t, s->row) || type_has(t, s->column)));
}

static void take_plain(Cut *c, const Op *op) {
    c->b.loc = op->loc;
    take_values(c, op);
    if (op->kind == OP_LOAD)
        cut_name(c, op->res.p[0], cut_load(c, op));
    else
        cut_op(c, op);
}

/* Scales and the like, which the rest of the block needs: they are loaded before the sums are waited for. */
static void take_ahead(Cut *c, const Op *dot) {
    if (!c->s->waited[dot->res.p[0]->id]) return;
    for (const Op *op = dot->next; op && !op->region[0] && op_info[op->kind].class != CLASS_SYNC; op = op->next) {
        if (!is_small(c->s, op) || c->value[op->res.p[0]->id] || !operands_are_there(c, op)) continue;
        if (c->s->stream_of[op->res.p[0]->id]) continue; /* it comes by a ring */
        take_plain(c, op);
    }
}

/* ---- control ---- */

/* Behind it a task only stores. */
static bool is_last_loop(const Slice *s, const Op *loop) {
    for (const Op *op = loop->next; op; op = op->next)
        if (slice_copies(s, op)) return false;
    return !loop->in->parent;
}

/* The loop's steps, where they are known, are more than the stages. */
static bool fills_stages(const Slice *s, const Op *loop) {
    int64_t first, end;
    if (!value_const(loop->arg.p[0], &first) || !value_const(loop->arg.p[1], &end)) return true;
    return ceil_div(end - first, slice_depth(s)) > s->k->plan.stages;
}

/* One of two groups stores while the other multiplies: the second one's last steps, for which copies have come already,
   begin behind the first one's. Narrow tiles lose by it [measured on an H200: bench/gpu/log.md]. */
static int take_ends(const Slice *s, const Op *loop) {
    enum {
        GROUPS = 2 /* that multiply: code generation has a token for two */,
        NARROW = 128 /* columns of all sums */
    };
    bool wide = !s->late && s->slices <= 1 && s->k->plan.regs.n - 1 == GROUPS && 2 * s->sum_words > NARROW;
    return wide && is_last_loop(s, loop) && fills_stages(s, loop) ? s->k->plan.stages - 1 : 0;
}

static const Op *end_of(const Region *r) { return r && r->last && r->last->kind == OP_YIELD ? r->last : NULL; }

/* While the last products run. */
static void take_vectors(Cut *c, const Op *loop) {
    for (int i = 0; i < c->s->vector.n && is_last_loop(c->s, loop); i++) cut_op(c, c->s->vector.p[i]);
}

/* Of steps that are blocks: what the loop around it does with each, too. */
static void take_step(Cut *c, const Op *inner) {
    const Region *body = inner->region[0];
    for (int i = 0; i < inner->res.n; i++) c->value[body->arg.p[i]->id] = cut_value(c, inner->arg.p[2 + i]);
    for (const Op *op = body->first; op; op = op->next)
        if (op->kind != OP_YIELD) take_op(c, op);
    for (int i = 0; i < inner->res.n; i++) c->value[inner->res.p[i]->id] = cut_value(c, end_of(body)->arg.p[i]);
}

static void take_flat(Cut *c, const Op *op, const Op *inner, int64_t end) {
    Op *loop = flat_begin(c, op, inner, end, op->res.n);
    Region *at = c->b.at;
    c->b.at = loop->region[0];
    flat_count(c, op, inner);
    for (const Op *in = op->region[0]->first; in; in = in->next)
        if (in == inner)
            take_step(c, in);
        else if (in->kind == OP_POS && in->range == op->range)
            c->value[in->res.p[0]->id] = c->count;
        else
            take_op(c, in);
    c->counted = 0;
    c->b.at = at;
    make_ahead(c->s, loop);
}

static void take_loop(Cut *c, const Op *op) {
    int64_t end;
    const Op *inner = loop_flat(c->s, op, &end);
    if (inner) {
        take_flat(c, op, inner, end);
        return;
    }
    Op *loop = cut_loop(c, op, op->res.n);
    if (loop_defers(c->s, op)) {
        vec_push(c->b.m->arena, &loop->turn, (Turn){.piece = 0});
        vec_push(c->b.m->arena, &loop->turn, ((Turn){.piece = 1, .shift = 1}));
        loop->ends = (int16_t)take_ends(c->s, op);
    }
    for (int i = 0; i < op->res.n; i++) set_flying(c, op->region[0]->arg.p[i], c->flying[op->arg.p[2 + i]->id]);
    cut_within(c, take_region, op->region[0], loop->region[0]);
    if (loop->turn.n)
        loop->region[0]->last->piece = 1; /* the yield: the text ends with the last piece */
    else
        (c->s->chained ? chain_turns : c->s->makes ? make_ahead : take_runs)(c->s, loop);
    if (c->s->chained) chain_early(c->s, loop), chain_defer(c->s, loop);
    for (int i = 0; i < op->res.n; i++)
        set_flying(c, op->res.p[i], c->flying[op->arg.p[2 + i]->id] || c->flying[end_of(op->region[0])->arg.p[i]->id]);
}

static void take_condition(Cut *c, const Op *op) {
    Op *fresh = cut_condition(c, op, op->res.n);
    for (int i = 0; i < 2; i++)
        if (op->region[i]) cut_within(c, take_region, op->region[i], fresh->region[i]);
}

/* A tile of whole numbers that 32 bits hold. */
static bool take_narrow(Cut *c, const Op *op) {
    Value *narrow = c->s->chained ? chain_narrow(c, op) : NULL;
    if (narrow) cut_name(c, op->res.p[0], narrow);
    return narrow != NULL;
}

static bool is_known(const Cut *c, const Op *op) { return op->res.n == 1 && c->value[op->res.p[0]->id]; }

static void take_op(Cut *c, const Op *op) {
    bool operand = op->kind == OP_LOAD && c->s->stream_of[op->res.p[0]->id];
    if (op->kind == OP_FOR && op->in == c->s->k->body) take_vectors(c, op);
    if (op->kind == OP_FOR) take_before(c, op);
    if (!wide_takes(c, op)) {
        if (c->half == HALF_WIDE) wide_exchange(c, op);
        return;
    }
    c->b.loc = op->loc;
    if (operand)
        take_operand(c, op);
    else if (op->kind == OP_DOT)
        take_product(c, op), take_ahead(c, op);
    else if (op->kind == OP_FOR)
        take_loop(c, op);
    else if (op_has_arms(c->s, op))
        ; /* slice_results */
    else if (op->kind == OP_IF)
        take_condition(c, op);
    else if (c->s->chained && op_info[op->kind].class == CLASS_REDUCE)
        chain_reduce(c, op);
    else if (c->s->chained && op->kind == OP_STORE && op->in != c->s->k->body)
        chain_store(c, op);
    else if ((c->s->chained && op->kind == OP_SELECT && chain_select(c, op)) || take_narrow(c, op))
        ; /* it is made */
    else if (op->kind != OP_STORE && op_info[op->kind].class != CLASS_SYNC && !is_known(c, op) && !is_widened(c->s, op))
        take_plain(c, op);
    c->b.loc = op->loc;
    take_ready(c, op);
    take_frees(c, op);
    wide_frees(c, op);
    wide_exchange(c, op);
    if (op->kind == OP_DOT && dot_promotes(op)) take_promotion(c, op);
}

static void take_region(Cut *c, const Region *r) {
    for (const Op *op = r->first; op; op = op->next) take_op(c, op);
}

static Cut groups_begin(Slice *s, int role, Half half) {
    Cut c = cut_begin(s, s->k->roles->role.p[role].body);
    c.flying = ARENA_ARRAY(s->scratch, bool, s->values + 1);
    c.zeroed = ARENA_ARRAY(s->scratch, bool, s->values + 1);
    c.least = ARENA_ARRAY(s->scratch, bool, s->values + 1);
    c.half = half;
    return c;
}

/* One role has rows and keys, the other shares the columns. */
static int multiply_wide(Slice *s) {
    static const Half halves[] = {HALF_ROWS, HALF_WIDE};
    int role = -1;
    for (int i = 0, first = 1; i < 2; i++) {
        const int groups = i ? WIDE_GROUPS : plan_row_groups(&s->k->plan);
        role = roles_groups(s->m, s->to, name_of(s->m->names, i ? "weigh" : "multiply"), first, first + groups - 1,
                            i ? s->wide : s->row, s->k->loc);
        Cut c = groups_begin(s, role, halves[i]);
        take_region(&c, s->k->body);
        wide_results(&c);
        first += groups;
    }
    return role - 1;
}

int slice_multiply(Slice *s) {
    if (s->wide >= 0) return multiply_wide(s);
    int role = roles_groups(s->m, s->to, name_of(s->m->names, "multiply"), 1, s->k->plan.regs.n - 1, s->row, s->k->loc);
    Cut c = groups_begin(s, role, HALF_ALL);
    slices_rings(s, role);
    take_region(&c, s->k->body);
    slices_sum(&c);
    (s->chained ? chain_results : slice_results)(&c, role);
    return role;
}
