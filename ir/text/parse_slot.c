/* parse_slot.c: reads rings, slots and turns, as operations name them. */
#include "ir/roles.h"
#include "ir/text/parse.h"

#include <string.h>

enum { PIECES = 26 }; /* a letter each */

int parse_ring_name(Parser *p) {
    need_punct(p, '$');
    Loc loc = p->tok.loc;
    Name name = need_name(p, "a ring");
    const Roles *r = p->k->roles;
    for (int i = 0; i < r->ring.n && !p->failed; i++)
        if (r->ring.p[i].name == name) return i;
    parse_fail(p, loc, "ring '%s' is not declared", name);
    return 0;
}

/* -> '%' name, a tile of the slot that is being filled */
void parse_slot(Parser *p, Op *op) {
    need_kind(p, TOK_ARROW, "'->'");
    need_punct(p, '%');
    const Op *put = op->in->parent;
    Loc loc = p->tok.loc;
    Name name = need_name(p, "a tile of the slot");
    if (p->failed) return;
    const Ring *r = put && put->kind == OP_PUT ? &p->k->roles->ring.p[put->ring] : NULL;
    for (int i = 0; r && i < r->tile.n; i++)
        if (r->tile.p[i].name == name) {
            op->slot = (int16_t)i;
            return;
        }
    parse_fail(p, loc, r ? "the slot has no tile '%s'" : "'%s' is of no slot: no put is around", name);
}

void parse_part(Parser *p, Op *op) {
    need_punct(p, '[');
    op->range = (int16_t)need_known(p, &p->ranges, "range");
    need_punct(p, ']');
}

TileType parse_slot_type(Parser *p, const Op *get, int result) {
    const Ring *r = &p->k->roles->ring.p[get->ring];
    if (result >= r->tile.n) parse_fail(p, get->loc, "a slot of ring '%s' has %d tiles", r->name, r->tile.n);
    return p->failed ? (TileType){0} : (TileType){r->tile.p[result].type, 0};
}

/* ---- turns ---- */

static bool at_piece(const Parser *p) {
    const Token *t = &p->tok;
    return t->kind == TOK_WORD && !t->quoted && strlen(t->name) == 1 && t->name[0] >= 'A' && t->name[0] < 'A' + PIECES;
}

static int need_piece(Parser *p) {
    int piece = at_piece(p) ? p->tok.name[0] - 'A' : 0;
    if (!at_piece(p)) parse_fail(p, p->tok.loc, "expected a piece, A to Z");
    parse_next(p);
    return piece;
}

/* turn := piece ['@' INT] */
static void parse_turn(Parser *p, Op *op, bool alone) {
    Turn t = {.piece = (int8_t)need_piece(p), .alone = alone};
    if (take_punct(p, '@')) {
        Loc loc = p->tok.loc;
        int64_t shift = need_int(p, "a number of turns");
        if (shift < 1 || shift > INT8_MAX) parse_fail(p, loc, "a piece runs 1 to %d turns later", INT8_MAX);
        t.shift = (int8_t)shift;
    }
    if (!p->failed) vec_push(p->m->arena, &op->turn, t);
}

static void parse_ends(Parser *p, Op *op) {
    Loc loc = p->tok.loc;
    int64_t ends = need_int(p, "a number of iterations");
    if (ends < 1 || ends > INT16_MAX) parse_fail(p, loc, "groups end 1 to %d iterations in turn", INT16_MAX);
    op->ends = (int16_t)ends;
}

static void parse_runs(Parser *p, Op *op) {
    Loc loc = p->tok.loc;
    int64_t runs = need_int(p, "a number of iterations");
    if (runs < 2 || runs > INT16_MAX) parse_fail(p, loc, "a run has 2 to %d iterations", INT16_MAX);
    op->runs = (int16_t)runs;
}

/* turns := (turn | '[' turn* ']')* ['ends' INT | 'runs' INT] */
void parse_turns(Parser *p, Op *op) {
    while (!p->failed && !at_punct(p, '{')) {
        if (take_word(p, "ends")) {
            parse_ends(p, op);
            return;
        }
        if (take_word(p, "runs")) {
            parse_runs(p, op);
            return;
        }
        bool alone = take_punct(p, '[');
        do parse_turn(p, op, alone);
        while (alone && !p->failed && !take_punct(p, ']'));
    }
}

/* label := piece ':' */
void parse_label(Parser *p, const Region *r) {
    if (!r->parent || r->parent->turn.n == 0 || !at_piece(p)) return;
    p->piece = need_piece(p);
    need_punct(p, ':');
}
