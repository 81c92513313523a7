/* print_plan.c: the plan of a kernel as text. */
#include "ir/text/print.h"

/* A comma in front of all items but the first. */
static void item(Printer *p, bool *first) {
    text_add(&p->out, *first ? " plan (" : ", ");
    *first = false;
}

static void word(Printer *p, bool *first, const char *text) {
    item(p, first);
    text_add(&p->out, text);
}

static void print_lowering(Printer *p, const Plan *a, bool *first) {
    if (a->lowering == LOWER_PLAIN) word(p, first, "plain");
    if (a->lowering == LOWER_ROLES) word(p, first, "roles");
    if (a->lowering != LOWER_SCHEDULE) return;
    word(p, first, "schedule ");
    print_name(p, a->schedule);
}

static void print_numbers(Printer *p, const Plan *a, bool *first) {
    for (int i = 0; i < plan_number_count; i++) {
        int n = plan_number(a, &plan_numbers[i]);
        if (!n) continue;
        word(p, first, plan_numbers[i].text);
        text_printf(&p->out, " %d", n);
    }
}

static void print_cluster(Printer *p, const Plan *a, bool *first) {
    if (!a->cluster) return;
    word(p, first, "cluster ");
    if (a->cluster_range >= 0) {
        print_range_name(p, a->cluster_range);
        text_add(&p->out, " ");
    }
    text_printf(&p->out, "%d", a->cluster);
}

static void print_task_order(Printer *p, const Plan *a, bool *first) {
    if (a->tasks != TASKS_STATIC) {
        word(p, first, "tasks ");
        text_add(&p->out, text_tasks[a->tasks]);
    }
}

static void print_copies(Printer *p, const Plan *a, bool *first) {
    for (int i = 0; i < a->copy.n; i++) {
        word(p, first, fill_text[a->copy.p[i].fill]);
        text_add(&p->out, " ");
        print_param_name(p, a->copy.p[i].param);
    }
}

void print_plan(Printer *p, const Plan *a) {
    bool first = true;
    print_lowering(p, a, &first);
    print_numbers(p, a, &first);
    if (a->cut) word(p, &first, "cut");
    if (a->sized) word(p, &first, "sized");
    if (a->pipelined) word(p, &first, a->pipelined > 0 ? "pipelined on" : "pipelined off");
    if (a->regs.n) word(p, &first, "regs");
    for (int i = 0; i < a->regs.n; i++) text_printf(&p->out, " %d", a->regs.p[i]);
    print_cluster(p, a, &first);
    if (a->order) word(p, &first, "order "), print_order(p, a->order);
    print_task_order(p, a, &first);
    print_copies(p, a, &first);
    if (!first) text_add(&p->out, ")");
}
