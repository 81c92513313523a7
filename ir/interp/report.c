/* report.c: faults that a run found, a line for each. Takes the program that ran, for its names. */
#include "ir/interp/interp.h"

static void print_task(const Program *p, const InterpTask *t, FILE *f) {
    const char *name = "-";
    if (t->node >= 0 && t->node < p->node.n && p->node.p[t->node]->kernel) name = p->node.p[t->node]->kernel->name;
    fprintf(f, "rank %d generation %lld node %d (%s) task %lld", t->rank, (long long)t->generation, t->node, name,
            (long long)t->task);
    if (t->role) fprintf(f, " role %s", t->role);
    if (t->role && t->group >= 0) fprintf(f, " group %d", t->group);
    if (t->ring) fprintf(f, " ring %s", t->ring);
}

static void print_element(const Program *p, const InterpFault *x, FILE *f) {
    fprintf(f, "%s of rank %d, element %lld", p->tensor.p[x->tensor].name, x->home, (long long)x->element);
}

static void print_deadlock(const Program *p, const InterpFault *x, FILE *f) {
    fputs("deadlock: ", f);
    print_task(p, &x->at, f);
    fputs(" waits for ", f);
    if (x->text)
        fprintf(f, x->ring ? "%s of ring %s" : "%s", x->text, x->ring);
    else if (x->flag >= 0)
        fprintf(f, "flag %s word %lld of rank %d", p->flag.p[x->flag].name, (long long)x->word, x->from);
    else
        print_element(p, x, f);
    fprintf(f, ": wants %lld, sees %lld\n", (long long)x->want, (long long)x->seen);
}

static void print_access(const Program *p, const InterpFault *x, FILE *f) {
    fputs(x->kind == FAULT_RACE ? "race: " : "read of what was not written: ", f);
    print_element(p, x, f);
    fputs(": ", f);
    print_task(p, &x->at, f);
    if (x->other.rank >= 0) {
        fputs(x->kind == FAULT_RACE ? " and " : ", last written by ", f);
        print_task(p, &x->other, f);
    }
    fputc('\n', f);
}

static void print_unique(const Program *p, const InterpFault *x, FILE *f) {
    fprintf(f, "places that are not unique: elements %lld and %lld of '%s' are both %lld: ", (long long)x->want,
            (long long)x->element, p->tensor.p[x->tensor].name, (long long)x->seen);
    print_task(p, &x->other, f);
    fputs(" and ", f);
    print_task(p, &x->at, f);
    fputc('\n', f);
}

static void print_once(const Program *p, const InterpFault *x, FILE *f) {
    const InterpTask *t = &x->at;
    if (x->kind == FAULT_TWICE) {
        fprintf(f, "element of a result that is written twice: '%s'[%s], the second time by ", x->result, x->text);
        print_task(p, t, f);
    } else {
        fprintf(f, "element of a result that no task writes: '%s'[%s]: rank %d generation %lld node %d (%s)", x->result,
                x->text, t->rank, (long long)t->generation, t->node, p->node.p[t->node]->kernel->name);
    }
    fputc('\n', f);
}

static void print_fault(const Program *p, const InterpFault *x, FILE *f) {
    switch (x->kind) {
    case FAULT_DEADLOCK: print_deadlock(p, x, f); break;
    case FAULT_RACE:
    case FAULT_POISON: print_access(p, x, f); break;
    case FAULT_RANKS:
        fputs("ranks differ: ", f);
        print_element(p, x, f);
        fputc('\n', f);
        break;
    case FAULT_VALUE:
        fprintf(f, "element %lld of input '%s' is %lld, outside %lld .. %lld\n", (long long)x->element,
                p->tensor.p[x->tensor].name, (long long)x->seen, (long long)x->want, (long long)x->past);
        break;
    case FAULT_STARTS:
        fprintf(f, "starts that do not ascend: element %lld of '%s' is %lld, outside %lld .. %lld: ", (long long)x->element,
                p->tensor.p[x->tensor].name, (long long)x->seen, (long long)x->want, (long long)x->past);
        print_task(p, &x->at, f);
        fputc('\n', f);
        break;
    case FAULT_UNIQUE: print_unique(p, x, f); break;
    case FAULT_GAP:
    case FAULT_TWICE: print_once(p, x, f); break;
    case FAULT_FLAG:
    case FAULT_ROLE:
    case FAULT_INVALID:
        fprintf(f, "%s: ", x->text);
        print_task(p, &x->at, f);
        fputc('\n', f);
        break;
    }
}

void interp_report_print(const Program *p, const InterpReport *r, FILE *f) {
    for (int i = 0; i < r->fault.n; i++) print_fault(p, &r->fault.p[i], f);
    if (r->faults > r->fault.n) fprintf(f, "%lld faults in all\n", (long long)r->faults);
}
