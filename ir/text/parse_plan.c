/* parse_plan.c: reads the plan of a kernel. */
#include "ir/text/parse.h"
#include "ir/text/print.h"

static bool parse_number_item(Parser *p, Plan *a) {
    for (int i = 0; i < plan_number_count; i++) {
        if (!take_word(p, plan_numbers[i].text)) continue;
        plan_set_number(a, &plan_numbers[i], parse_count(p, "a number"));
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
    do vec_push(p->m->arena, &a->regs, parse_count(p, "a number of registers"));
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
        a->cluster = parse_count(p, "a number of workgroups");
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
