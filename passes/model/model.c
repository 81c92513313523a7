/* model.c: predicted times from counts and facts. */
#include "passes/model/model.h"

double model_comm(const TargetFacts *f, const CommCost *c) {
    return c->copied / f->memory + c->moved / f->link + c->flags * f->flag + c->barriers * f->barrier +
           c->tasks * f->task;
}
