/* parse_op.c: reads operations: one function per shape of the text, chosen by the class of the operation. */
#include "ir/text/parse.h"
#include "ir/text/print.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    Name name;
    bool numbered;
    Loc loc;
} ResultName;

/* Results as written before '=', and the literal of a constant, whose type follows it. */
typedef struct {
    VEC(ResultName) result;
    Token literal;
    bool negative;
} OpText;

static void parse_results(Parser *p, OpText *text) {
    if (!at_punct(p, '%')) return;
    do {
        ResultName r = {.loc = p->tok.loc};
        r.name = parse_value_name(p, &r.numbered);
        if (!p->failed) vec_push(p->scratch, &text->result, r);
    } while (take_punct(p, ','));
    need_punct(p, '=');
}

static void declare_result(Parser *p, Op *op, const ResultName *r, TileType t) {
    if (p->failed) return;
    Value *v = op_result(p->m, p->k, op, t.type);
    v->layout = t.layout;
    v->name = r->numbered ? NULL : r->name;
    parse_declare_value(p, v, r->name, r->loc);
}

static void parse_types(Parser *p, Op *op, const OpText *text) {
    for (int i = 0; i < text->result.n && !p->failed; i++) {
        TileType t;
        if (op->kind == OP_GET) {
            t = parse_slot_type(p, op, i);
        } else {
            need_punct(p, i ? ',' : ':');
            t = parse_tile_type(p);
        }
        declare_result(p, op, &text->result.p[i], t);
    }
}

static void parse_literal(Parser *p, OpText *text) {
    text->negative = take_punct(p, '-');
    text->literal = p->tok;
    if (!take_kind(p, TOK_INT) && !take_kind(p, TOK_FLOAT)) need_kind(p, TOK_WORD, "a constant");
}

static void set_float(Parser *p, Op *op, const OpText *text) {
    static const char *const word[] = {"inf", "nan"};
    const Token *t = &text->literal;
    double x = strtod(t->name, NULL);
    if (t->kind == TOK_WORD && t->name != name_of(p->m->names, word[0]) && t->name != name_of(p->m->names, word[1]))
        parse_fail(p, t->loc, "'%s' is not a number", t->name);
    if (t->kind != TOK_WORD && !isfinite(x)) parse_fail(p, t->loc, "the number is too large");
    op->fimm = text->negative ? -x : x;
}

static void set_int(Parser *p, Op *op, const OpText *text) {
    const Token *t = &text->literal;
    bool yes = t->kind == TOK_WORD && t->name == name_of(p->m->names, "true");
    bool no = t->kind == TOK_WORD && t->name == name_of(p->m->names, "false");
    if (yes || no)
        op->imm = yes;
    else if (t->kind != TOK_INT || !signed_value(t->number, text->negative, &op->imm))
        parse_fail(p, t->loc, "'%s' is not an integer of 64 bits", t->name);
}

static void set_literal(Parser *p, Op *op, const OpText *text) {
    if (p->failed) return;
    if (op->res.n == 0)
        parse_fail(p, op->loc, "a constant needs a result");
    else if (elem_is_float(op->res.p[0]->type.elem))
        set_float(p, op, text);
    else
        set_int(p, op, text);
}

static void parse_index(Parser *p, Op *op) {
    const int has = op_attributes(op->kind);
    if (has & HAS_AXIS)
        op->axis = (int16_t)need_known(p, &p->axes, "mesh axis");
    else if (has & HAS_SIZE)
        op->size = parse_size(p);
    else
        op->range = (int16_t)need_known(p, &p->ranges, "range");
}

static void parse_over(Parser *p, Op *op) {
    if (!take_word(p, "over")) return;
    do {
        if (op->nover == MAX_RANGES) parse_fail(p, p->tok.loc, "more than %d ranges", MAX_RANGES);
        if (p->failed) return;
        op->over[op->nover++] = (int16_t)need_known(p, &p->ranges, "range");
    } while (take_punct(p, ','));
    if (op->nover == 1) op->range = op->over[0];
}

static void parse_operands(Parser *p, Op *op) {
    if (!at_punct(p, '%')) return;
    do {
        Value *v = parse_value(p);
        if (!p->failed) vec_push(p->m->arena, &op->arg, v);
    } while (take_punct(p, ','));
    const int has = op_attributes(op->kind);
    if (has & HAS_OVER) parse_over(p, op);
    op->deferred = has & HAS_DEFERRED && take_word(p, "deferred");
    if (has & HAS_BY && take_word(p, "by")) op->by = need_name(p, "a matrix instruction");
}

/* access := param ['[' affine ((',' | ';') affine)* ']'] */
static void parse_access(Parser *p, Op *op) {
    need_punct(p, '%');
    op->param = (int16_t)need_known(p, &p->params, "parameter");
    if (p->failed || !take_punct(p, '[')) return;
    bool ranked = p->k->param.p[op->param].ranks >= 0;
    do {
        Affine a = parse_affine(p);
        if (op->sub.n > MAX_DIMS) parse_fail(p, p->tok.loc, "more than %d subscripts", MAX_DIMS);
        if (!p->failed) vec_push(p->m->arena, &op->sub, span_of(a));
    } while (take_punct(p, ranked && op->sub.n == 1 ? ';' : ','));
    need_punct(p, ']');
}

/* group := range ',' '%' param */
static void parse_search(Parser *p, Op *op) {
    op->range = (int16_t)need_known(p, &p->ranges, "range");
    need_punct(p, ',');
    need_punct(p, '%');
    op->param = (int16_t)need_known(p, &p->params, "parameter");
}

static void parse_load(Parser *p, Op *op) {
    parse_access(p, op);
    op->pipelined = take_word(p, "pipelined");
}

static void parse_store(Parser *p, Op *op) {
    Value *v = parse_value(p);
    need_punct(p, ',');
    if (!p->failed) vec_push(p->m->arena, &op->arg, v);
    parse_access(p, op);
    if (take_word(p, "add"))
        op->mode = STORE_ADD;
    else if (take_word(p, "unique"))
        op->mode = STORE_UNIQUE;
    else if (take_word(p, "sum"))
        op->mode = STORE_SUM;
    if (take_word(p, "by")) op->by = need_name(p, "how a tile is stored");
}

/* sync := '!' INT ['[' span (',' span)* ']'] [('from' | 'to') span] ['lag' INT] scope ['relaxed'] ['equal'] */
static void parse_sync(Parser *p, Op *op) {
    need_punct(p, '!');
    int64_t flag = need_int(p, "a flag's number");
    if (flag < 0 || flag > INT32_MAX) parse_fail(p, p->tok.loc, "flags are numbered from 0 to %d", INT32_MAX);
    op->flag = (int)flag;
    if (take_punct(p, '[')) {
        do {
            Span s = parse_span(p);
            if (!p->failed) vec_push(p->m->arena, &op->sub, s);
        } while (take_punct(p, ','));
        need_punct(p, ']');
    }
    if (take_word(p, op->kind == OP_WAIT ? "from" : "to")) op->dest = parse_span(p);
    if (take_word(p, "lag")) op->lag = need_int(p, "a number of generations");
    op->scope = (SyncScope)need_choice(p, text_scope, TEXT_SCOPES, "a scope");
    if (take_word(p, "relaxed")) op->order = ORDER_RELAXED;
    op->equal = take_word(p, "equal");
}

static void parse_if(Parser *p, Op *op, const OpText *text) {
    parse_operands(p, op);
    VEC(TileType) type = {0};
    for (int i = 0; i < text->result.n && !p->failed; i++) {
        need_punct(p, i ? ',' : ':');
        TileType t = parse_tile_type(p);
        vec_push(p->scratch, &type, t);
    }
    op->region[0] = region_new(p->m, op);
    parse_region(p, op->region[0]);
    if (take_word(p, "else")) {
        op->region[1] = region_new(p->m, op);
        parse_region(p, op->region[1]);
    }
    for (int i = 0; i < type.n && !p->failed; i++) declare_result(p, op, &text->result.p[i], type.p[i]);
}

static void for_results(Parser *p, Op *op, const OpText *text) {
    if (p->failed) return;
    if (op->region[0]->arg.n != text->result.n)
        parse_fail(p, op->loc, "the loop carries %d values and has %d results", op->region[0]->arg.n, text->result.n);
    for (int i = 0; i < text->result.n && !p->failed; i++)
        declare_result(p, op, &text->result.p[i],
                       (TileType){op->region[0]->arg.p[i]->type, op->region[0]->arg.p[i]->layout});
}

static void parse_control(Parser *p, Op *op, const OpText *text) {
    if (op->kind == OP_FOR) {
        parse_for(p, op);
        for_results(p, op, text);
    } else if (op->kind == OP_IF) {
        parse_if(p, op, text);
    } else {
        parse_operands(p, op);
        parse_types(p, op, text);
    }
}

static void parse_role_op(Parser *p, Op *op) {
    const int has = op_attributes(op->kind);
    if (!p->k->roles) parse_fail(p, op->loc, "%s outside of roles", op_info[op->kind].text);
    if (p->failed) return;
    if (op_info[op->kind].operands) parse_operands(p, op);
    if (op->kind == OP_PART) parse_part(p, op);
    if (has & HAS_PARAM) parse_access(p, op);
    if (has & HAS_SLOT) parse_slot(p, op);
    if (has & HAS_RING) op->ring = (int16_t)parse_ring_name(p);
    if (op->kind != OP_PUT || p->failed) return;
    op->region[0] = region_new(p->m, op);
    parse_region(p, op->region[0]);
}

static OpKind parse_kind(Parser *p) {
    Loc loc = p->tok.loc;
    bool quoted = p->tok.quoted;
    Name name = need_name(p, "an operation");
    for (int i = 0; i < OP_COUNT && !quoted; i++)
        if (name_of(p->m->names, op_info[i].text) == name) return (OpKind)i;
    parse_fail(p, loc, "'%s' is not an operation", name);
    return OP_CONST;
}

/* op := [results '='] word .. [':' types] */
void parse_op(Parser *p, Region *r) {
    OpText text = {0};
    parse_label(p, r);
    parse_results(p, &text);
    Loc loc = p->tok.loc;
    OpKind kind = parse_kind(p);
    if (p->failed) return;
    Op *op = op_new(p->m, kind, loc);
    op->piece = (int8_t)p->piece;
    op_append_to(r, op);
    switch (op_info[kind].class) {
    case CLASS_CONST: parse_literal(p, &text); break;
    case CLASS_INDEX: parse_index(p, op); break;
    case CLASS_MEMORY: (kind == OP_STORE ? parse_store : kind == OP_GROUP ? parse_search : parse_load)(p, op); break;
    case CLASS_SYNC: parse_sync(p, op); break;
    case CLASS_CONTROL: parse_control(p, op, &text); return;
    case CLASS_ROLE: parse_role_op(p, op); break;
    default: parse_operands(p, op);
    }
    parse_types(p, op, &text);
    if (kind == OP_CONST) set_literal(p, op, &text);
}
