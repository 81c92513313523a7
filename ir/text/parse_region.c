/* parse_region.c: reads regions, and loops with their ranges. */
#include "ir/text/parse.h"
#include "ir/text/print.h"

/* form := [':' ['auto'] ('*' | INT)] */
void parse_range_form(Parser *p, Range *r) {
    r->kind = RANGE_POSITION;
    r->size = 1;
    if (!take_punct(p, ':')) return;
    r->tunable = take_word(p, "auto");
    r->kind = take_punct(p, '*') ? RANGE_WHOLE : RANGE_TILE;
    r->size = r->kind == RANGE_TILE ? need_int(p, "a tile size") : 0;
}

int parse_range_declare(Parser *p, Range r) {
    if (p->k->range.n == INT16_MAX - 1) parse_fail(p, r.loc, "more than %d ranges", INT16_MAX - 1);
    if (!declare(p, &p->ranges, r.name, r.loc, p->k->range.n, "range")) return 0;
    return kernel_range(p->m, p->k, r);
}

bool parse_declare_value(Parser *p, Value *v, Name name, Loc loc) {
    bool numbered = name[0] >= '0' && name[0] <= '9' && !v->name;
    NameMap *map = numbered ? &p->numbered : &p->values;
    int *held = name_map_at(map, name);
    if (*held >= p->hidden_from && *held < p->hidden_to) *held = -1;
    if (!declare(p, map, name, loc, p->value.n, "value")) return false;
    vec_push(p->scratch, &p->value, v);
    return true;
}

void parse_region(Parser *p, Region *r) {
    if (p->depth == PARSE_NESTING) parse_fail(p, p->tok.loc, "nested more than %d deep", PARSE_NESTING);
    need_punct(p, '{');
    p->depth++;
    int piece = p->piece;
    p->piece = 0;
    while (!p->failed && !take_punct(p, '}')) parse_op(p, r);
    p->piece = piece;
    p->depth--;
}

static void parse_arg(Parser *p, Region *r, const Value *like) {
    Loc loc = p->tok.loc;
    bool numbered;
    Name name = parse_value_name(p, &numbered);
    if (p->failed) return;
    Value *v = region_arg(p->m, p->k, r, like->type, numbered ? NULL : name);
    v->layout = like->layout;
    parse_declare_value(p, v, name, loc);
}

/* carried := '%' name '=' value ':' type; the name is an argument of the body */
static void parse_carried(Parser *p, Op *op) {
    Loc loc = p->tok.loc;
    bool numbered;
    Name name = parse_value_name(p, &numbered);
    need_punct(p, '=');
    Value *init = parse_value(p);
    need_punct(p, ':');
    TileType t = parse_tile_type(p);
    if (p->failed) return;
    vec_push(p->m->arena, &op->arg, init);
    Value *v = region_arg(p->m, p->k, op->region[0], t.type, numbered ? NULL : name);
    v->layout = t.layout;
    parse_declare_value(p, v, name, loc);
}

/* merge := 'merge' '(' names ';' names ')' region: the carried values, then those of the other part */
static void parse_merge(Parser *p, Op *op) {
    const Region *body = op->region[0];
    Region *merge = op->region[1] = region_new(p->m, op);
    int n = body->arg.n;
    need_punct(p, '(');
    for (int i = 0; i < 2 * n && !p->failed; i++) {
        if (i) need_punct(p, i == n ? ';' : ',');
        parse_arg(p, merge, body->arg.p[i % n]);
    }
    need_punct(p, ')');
    parse_region(p, merge);
}

/* A range that roles have may have further loops, in them and in the body. */
static int range_again(Parser *p, const Range *r) {
    int at = p->failed || !p->k->roles ? -1 : *name_map_at(&p->ranges, r->name);
    if (at < p->k->ngrid) return parse_range_declare(p, *r);
    const Range *other = &p->k->range.p[at];
    if (other->kind != r->kind || other->size != r->size || other->part_of != r->part_of || other->tunable != r->tunable)
        parse_fail(p, r->loc, "range '%s' has other tiles in another place", r->name);
    return at;
}

/* range := name form ['of' range] */
int parse_range(Parser *p) {
    Range r = {.owner = -1, .of = size_number(0), .loc = p->tok.loc};
    r.name = need_name(p, "a range");
    parse_range_form(p, &r);
    if (p->k->roles && take_word(p, "of")) r.part_of = (int16_t)(1 + need_known(p, &p->ranges, "range"));
    return range_again(p, &r);
}

static void parse_late(Parser *p, Op *op) {
    Loc loc = p->tok.loc;
    int64_t late = need_int(p, "a number of turns");
    if (late < 1 || late > INT16_MAX) parse_fail(p, loc, "an iteration runs in 1 to %d turns", INT16_MAX);
    op->late = (int16_t)late;
}

/* for := range form 'in' value '..' value ['down'] ['unrolled'] ['late' INT] ['with' '(' carried (',' carried)* ')']
          ['turns' turns] region [merge] */
void parse_for(Parser *p, Op *op) {
    op->range = (int16_t)parse_range(p);
    need_word(p, "in");
    Value *lo = parse_value(p);
    need_kind(p, TOK_DOTS, "'..'");
    Value *hi = parse_value(p);
    op->region[0] = region_new(p->m, op);
    vec_push(p->m->arena, &op->arg, lo);
    vec_push(p->m->arena, &op->arg, hi);
    op->down = take_word(p, "down");
    op->unrolled = take_word(p, "unrolled");
    if (take_word(p, "late")) parse_late(p, op);
    if (take_word(p, "with")) {
        need_punct(p, '(');
        do parse_carried(p, op);
        while (take_punct(p, ','));
        need_punct(p, ')');
    }
    if (take_word(p, "turns")) parse_turns(p, op);
    parse_region(p, op->region[0]);
    if (take_word(p, "merge")) parse_merge(p, op);
}
