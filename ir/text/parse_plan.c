/* parse_plan.c: reads the plan of a kernel. */
#include "ir/text/parse.h"
#include "ir/text/print.h"

static int parse_int(Parser *p, const char *what) {
    Loc loc = p->tok.loc;
    int64_t n = need_int(p, what);
    if (n < 1 || n > INT32_MAX) parse_fail(p, loc, "expected %s, from 1 to %d", what, INT32_MAX);
    return p->failed ? 0 : (int)n;
}

static bool parse_number_item(Parser *p, Plan *a) {
    for (int i = 0; i < plan_number_count; i++) {
        if (!take_word(p, plan_numbers[i].text)) continue;
        plan_set_number(a, &plan_numbers[i], parse_int(p, "a number"));
        return true;
    }
    return false;
}

static bool parse_copy(Parser *p, Plan *a) {
    for (int i = 0; i < FILL_COUNT; i++) {
        if (!take_word(p, fill_text[i])) continue;
        need_punct(p, '%');
        PlanCopy copy = {(int16_t)need_known(p, &p->params, "parameter"), (SlotFill)i};
        vec_push(p->m->arena, &a->copy, copy);
        return true;
    }
    return false;
}

static void parse_regs(Parser *p, Plan *a) {
    do vec_push(p->m->arena, &a->regs, parse_int(p, "a number of registers"));
    while (!p->failed && p->tok.kind == TOK_INT);
}

static bool parse_schedule_item(Parser *p, Plan *a) {
    if (take_word(p, "plain"))
        a->lowering = LOWER_PLAIN;
    else if (take_word(p, "roles"))
        a->lowering = LOWER_ROLES;
    else if (take_word(p, "schedule"))
        a->lowering = LOWER_SCHEDULE, a->schedule = need_name(p, "a schedule's name");
    else
        return false;
    return true;
}

static DigitWay parse_way(Parser *p) {
    for (int w = DIGIT_DOWN; w < DIGIT_WAYS; w++)
        if (take_word(p, digit_way_text[w])) return (DigitWay)w;
    return DIGIT_UP;
}

/* digits := '(' range ['/' INT] ['down' | 'turn' | 'pair'] (',' ..)* ')' */
static void parse_digits(Parser *p, Order *o) {
    need_punct(p, '(');
    do {
        if (o->n == MAX_DIGITS) parse_fail(p, p->tok.loc, "more than %d digits", MAX_DIGITS);
        if (p->failed) return;
        OrderDigit *d = &o->digit[o->n++];
        d->range = (int16_t)need_known(p, &p->ranges, "range");
        if (take_punct(p, '/')) d->band = parse_int(p, "tiles of a band");
        d->way = parse_way(p);
    } while (take_punct(p, ','));
    need_punct(p, ')');
}

/* order := ['own' ('first' | 'late' | 'behind' | 'rank')] ['edges'] [['chiplets' INT] ['block' INT] digits] */
const Order *parse_order(Parser *p) {
    Order *o = ARENA_ARRAY(p->m->arena, Order, 1);
    if (take_word(p, "own"))
        o->own = 1 + (OwnOrder)need_choice(p, own_order_text + 1, OWN_ORDERS - 1, "'first', 'late', 'behind' or 'rank'");
    o->edges = take_word(p, "edges");
    if ((o->own || o->edges) && !at_punct(p, '(')) return o;
    if (take_word(p, "chiplets")) o->chiplets = parse_int(p, "a number of chiplets");
    if (take_word(p, "block")) o->block = parse_int(p, "a number of tasks");
    parse_digits(p, o);
    return o;
}

/* item := 'plain' | 'roles' | 'schedule' NAME | number INT | 'cut' | 'sized' | 'pipelined' ('on' | 'off') | 'regs' INT+
   | 'cluster' [range] INT | 'order' order | 'tasks' word | fill '%' name */
static void parse_item(Parser *p, Plan *a) {
    static const char *const on_off[] = {"on", "off"};
    if (parse_schedule_item(p, a) || parse_number_item(p, a) || parse_copy(p, a)) return;
    if (take_word(p, "cut"))
        a->cut = true;
    else if (take_word(p, "sized"))
        a->sized = true;
    else if (take_word(p, "pipelined"))
        a->pipelined = need_choice(p, on_off, 2, "'on' or 'off'") ? -1 : 1;
    else if (take_word(p, "regs"))
        parse_regs(p, a);
    else if (take_word(p, "cluster"))
        a->cluster_range = (int16_t)(p->tok.kind == TOK_INT ? -1 : need_known(p, &p->ranges, "range")),
        a->cluster = parse_int(p, "a number of workgroups");
    else if (take_word(p, "order"))
        a->order = parse_order(p);
    else if (take_word(p, "tasks"))
        a->tasks = (TaskOrder)need_choice(p, text_tasks, TEXT_TASKS, "'static', 'ticket' or 'list'");
    else
        parse_fail(p, p->tok.loc, "expected a part of a plan");
}

/* plan := '(' item (',' item)* ')' */
void parse_plan(Parser *p, Plan *a) {
    need_punct(p, '(');
    do parse_item(p, a);
    while (!p->failed && take_punct(p, ','));
    need_punct(p, ')');
}
