/* model.c: predicted times from counts and facts. */
#include "passes/model/model.h"

#include <string.h>

static const TargetFacts facts[] = {
#define TARGET(...) {__VA_ARGS__},
#define GPU(...)
#include "passes/model/model.def"
#undef TARGET
#undef GPU
};

static const GpuFacts gpus[] = {
#define TARGET(...)
#define GPU(...) {__VA_ARGS__},
#include "passes/model/model.def"
#undef TARGET
#undef GPU
};

const TargetFacts *target_facts(const char *target) {
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strcmp(facts[i].name, target) == 0) return &facts[i];
    return NULL;
}

const GpuFacts *gpu_facts(const char *target) {
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++)
        if (strcmp(gpus[i].name, target) == 0) return &gpus[i];
    return NULL;
}

double model_comm(const TargetFacts *f, const CommCost *c) {
    return c->copied / f->memory + c->moved / f->link + c->flags * f->flag + c->barriers * f->barrier +
           c->tasks * f->task;
}
