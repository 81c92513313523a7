/* parse_roles.c: reads the rings and roles of a kernel. */
#include "ir/roles.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

/* ---- names ---- */

static int need_role(Parser *p, Name name, Loc loc) {
    for (int i = 0; i < p->k->roles->role.n && !p->failed; i++)
        if (p->k->roles->role.p[i].name == name) return i;
    parse_fail(p, loc, "role '%s' is not declared", name);
    return 0;
}

static void twice(Parser *p, bool there, const char *what, Name name, Loc loc) {
    if (there) parse_fail(p, loc, "%s '%s' is declared twice", what, name);
}

static int need_small(Parser *p, const char *what, int64_t least) {
    Loc loc = p->tok.loc;
    int64_t n = need_int(p, what);
    if (!p->failed && (n < least || n > INT16_MAX))
        parse_fail(p, loc, "%s: %lld to %d", what, (long long)least, INT16_MAX);
    return p->failed ? 0 : (int)n;
}

/* ---- rings ---- */

static Panel need_panel(Parser *p) {
    need_punct(p, '#');
    for (int i = 0; i < PANEL_COUNT; i++)
        if (take_word(p, panel_info[i].text)) return (Panel)i;
    parse_fail(p, p->tok.loc, "expected how the tile lies in its slot, as in #k128");
    return PANEL_ROWS;
}

/* tile := '%' name ':' type '#' panel fill ['%' parameter] ['early'] ['sum'] ['share' range] */
static void parse_slot_tile(Parser *p, int ring) {
    SlotTile t = {.param = -1, .share = -1, .loc = p->tok.loc};
    need_punct(p, '%');
    t.name = need_name(p, "a tile's name");
    const Ring *r = &p->k->roles->ring.p[ring];
    for (int i = 0; i < r->tile.n; i++) twice(p, r->tile.p[i].name == t.name, "tile", t.name, t.loc);
    need_punct(p, ':');
    t.type = parse_type(p);
    t.panel = need_panel(p);
    t.fill = (SlotFill)need_choice(p, fill_text, FILL_COUNT, "how the tile comes into its slot");
    if (take_punct(p, '%')) t.param = (int16_t)need_known(p, &p->params, "parameter");
    t.early = take_word(p, "early");
    t.sum = take_word(p, "sum");
    if (take_word(p, "share")) t.share = (int16_t)need_known(p, &p->ranges, "range");
    if (!p->failed) ring_tile(p->m, p->k, ring, t);
}

/* ring := 'ring' '$' name INT ['per' role] ['over' ring] '{' tile* '}'; the role comes later: its name and place are
 * kept */
typedef struct {
    int ring;
    Name role;
    Loc loc;
} Per;

typedef VEC(Per) Pers;

static void parse_ring(Parser *p, Pers *pers) {
    Loc loc = p->tok.loc;
    need_punct(p, '$');
    Name name = need_name(p, "a ring's name");
    for (int i = 0; i < p->k->roles->ring.n; i++) twice(p, p->k->roles->ring.p[i].name == name, "ring", name, loc);
    int slots = need_small(p, "slots", 1);
    if (p->failed) return;
    int ring = roles_ring(p->m, p->k, name, slots, loc);
    if (take_word(p, "per")) {
        Per per = {ring, p->tok.name, p->tok.loc};
        need_name(p, "a role");
        vec_push(p->scratch, pers, per);
    }
    if (take_word(p, "over")) p->k->roles->ring.p[ring].over = (int16_t)parse_ring_name(p);
    need_punct(p, '{');
    while (!p->failed && !take_punct(p, '}')) parse_slot_tile(p, ring);
}

static void pers_resolve(Parser *p, const Pers *pers) {
    for (int i = 0; i < pers->n && !p->failed; i++) {
        const Per *per = &pers->p[i];
        p->k->roles->ring.p[per->ring].per = (int16_t)need_role(p, per->role, per->loc);
    }
}

/* ---- roles ---- */

static int parse_groups(Parser *p, Name name, Loc loc) {
    int first = need_small(p, "a group", 0), split = -1;
    need_kind(p, TOK_DOTS, "'..'");
    int last = need_small(p, "a group", 0);
    if (take_word(p, "split")) split = need_known(p, &p->ranges, "range");
    return roles_groups(p->m, p->k, name, first, last, split, loc);
}

static int parse_lanes(Parser *p, Name name, Loc loc) {
    int warp = need_small(p, "a warp", 0);
    need_word(p, "lanes");
    return roles_warp(p->m, p->k, name, warp, need_small(p, "a number of lanes", 1), loc);
}

/* role := 'role' name ('in' role | 'warp' INT 'lanes' INT | 'groups' INT '..' INT ['split' range]) region */
static void parse_role(Parser *p) {
    Loc loc = p->tok.loc;
    Name name = need_name(p, "a role's name");
    for (int i = 0; i < p->k->roles->role.n; i++) twice(p, p->k->roles->role.p[i].name == name, "role", name, loc);
    int role = -1;
    if (take_word(p, "in")) {
        Loc at = p->tok.loc;
        int other = need_role(p, need_name(p, "a role"), at);
        if (!p->failed) role = roles_within(p->m, p->k, name, other, loc);
    } else if (take_word(p, "warp")) {
        role = parse_lanes(p, name, loc);
    } else {
        need_word(p, "groups");
        role = parse_groups(p, name, loc);
    }
    if (!p->failed) parse_region(p, p->k->roles->role.p[role].body);
}

/* tasks := 'tasks' order '{' op* role* '}'; a role sees the scalars, and no value of another role */
static void parse_tasks(Parser *p) {
    need_word(p, "tasks");
    p->k->roles->tasks = (TaskOrder)need_choice(p, text_tasks, TEXT_TASKS, "'static', 'ticket' or 'list'");
    need_punct(p, '{');
    bool roles = false;
    int scalars = 0;
    while (!p->failed && !take_punct(p, '}')) {
        roles = roles || take_word(p, "role");
        if (!roles) {
            parse_op(p, p->k->roles->scalars);
            scalars = p->value.n;
            continue;
        }
        p->hidden_from = scalars, p->hidden_to = p->value.n;
        parse_role(p);
        if (!at_punct(p, '}')) need_word(p, "role");
    }
    p->hidden_from = 0, p->hidden_to = p->value.n;
}

static void parse_regs(Parser *p) {
    need_word(p, "regs");
    while (!p->failed && p->tok.kind == TOK_INT) {
        int n = need_small(p, "registers of a thread", 0);
        vec_push(p->m->arena, &p->k->roles->regs, n);
    }
}

/* 'range' range ['each' 'of' INT]: of parts of which each workgroup of a cluster has one */
static void parse_role_range(Parser *p) {
    Roles *r = p->k->roles;
    const int range = parse_range(p);
    if (!take_word(p, "each")) return;
    need_word(p, "of");
    r->cluster_range = (int16_t)range;
    r->cluster = need_small(p, "a number of workgroups", 1);
}

/* roles := 'roles' ['cluster' range INT] ['order' order] ['resident' INT] 'regs' INT* '{' ('range' range ['each' 'of'
   INT])* ring* tasks '}' 'spec' */
void parse_roles(Parser *p) {
    Roles *r = roles_new(p->m, p->k);
    if (take_word(p, "cluster")) {
        r->cluster_range = (int16_t)need_known(p, &p->ranges, "range");
        r->cluster = need_small(p, "a number of workgroups", 1);
    }
    if (take_word(p, "order")) r->order = parse_order(p);
    if (take_word(p, "resident")) r->resident = need_small(p, "a number of workgroups", 1);
    parse_regs(p);
    need_punct(p, '{');
    while (take_word(p, "range")) parse_role_range(p);
    Pers pers = {0};
    while (take_word(p, "ring")) parse_ring(p, &pers);
    parse_tasks(p);
    pers_resolve(p, &pers);
    need_punct(p, '}');
    need_word(p, "spec");
}
