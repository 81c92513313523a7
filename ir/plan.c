/* plan.c: the parts of a plan as data, for those who print, read and check it. */
#include "ir/plan.h"

const char *const fill_text[FILL_COUNT] = {"box", "pixels", "rows", "bulk", "threads"};

/* At most: what `--split` takes; what a file of sizes takes; waves of 1,024 threads, doubled; slots of the smallest
   tile that workgroup memory holds. */
const PlanNumber plan_numbers[] = {
    {"parts", offsetof(Plan, parts), 1, INT32_MAX, false},
    {"columns", offsetof(Plan, columns), 1, 1024, false},
    {"clusters", offsetof(Plan, clusters), 1, 8, false},
    {"slices", offsetof(Plan, slices), 1, 8, false},
    {"resident", offsetof(Plan, resident), 1, 4, false},
    {"waves", offsetof(Plan, waves), 1, 64, false},
    {"workgroups", offsetof(Plan, workgroups), 1, 65536, false},
    {"stages", offsetof(Plan, stages), 1, 32, true},
    {"unaligned", offsetof(Plan, unaligned), 1, 1, true},
    {"cost", offsetof(Plan, cost), 1, INT32_MAX, true},
    {"apart", offsetof(Plan, apart), 1, INT32_MAX, true},
    {"outside", offsetof(Plan, outside), 1, INT32_MAX, true},
    {"again", offsetof(Plan, again), 1, INT32_MAX, true},
    {"few", offsetof(Plan, few), 1, INT32_MAX, true},
};
const int plan_number_count = sizeof plan_numbers / sizeof *plan_numbers;

int plan_number(const Plan *p, const PlanNumber *n) { return *(const int *)(const void *)((const char *)p + n->at); }

void plan_set_number(Plan *p, const PlanNumber *n, int to) { *(int *)(void *)((char *)p + n->at) = to; }

int plan_slices(const Plan *p) { return p->cluster && p->cluster_range < 0 ? p->cluster : 1; }

bool plan_asks_roles(const Plan *p) { return p->clusters || p->slices || p->resident; }

bool plan_is_whole(const Plan *p) { return p->lowering == LOWER_SCHEDULE || p->lowering == LOWER_ROLES; }

bool plan_has_roles(const Plan *p) {
    return p->regs.n || p->cluster || p->tasks != TASKS_STATIC || p->copy.n;
}

void plan_drop_roles(Plan *p) {
    p->regs.n = p->copy.n = p->cluster = p->cluster_range = 0;
    p->order = NULL;
    p->tasks = TASKS_STATIC;
}

void plan_drop_asked(Plan *p) {
    p->parts = p->columns = p->clusters = p->slices = p->resident = p->pipelined = 0;
    p->cut = p->sized = false;
    if (p->lowering == LOWER_PLAIN) p->lowering = LOWER_OPEN;
}
