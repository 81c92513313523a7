/* interp.h: the interpreter, which is the meaning of the IR: any value-form module, before or after any pass.
   Takes global arrays, splits them over the ranks of the module's mesh, runs, and gives global arrays back. */
#ifndef TILEC_IR_INTERP_INTERP_H
#define TILEC_IR_INTERP_INTERP_H

#include "ir/ir.h"

/* Zeros with the global extents of a program's tensor; sym: values of the run-time dimensions. */
bool array_for_tensor(Arena *, const Module *, const Tensor *, const int64_t *sym, Array *out);

/* A call stores to places that it takes from this tensor and that are declared unique. */
bool tensor_has_unique_places(const Program *, int tensor);

/* ---- runs ---- */

/* A call's argument: the part of a tensor that the kernel sees, over the dimensions of the parameter. */
typedef struct {
    Array tensor; /* whole, of one rank */
    int64_t offset, dim[MAX_DIMS], stride[MAX_DIMS];
} InterpArg;

/* Who sees what rank 0 computes. Not concurrent, and not of teams. */
typedef struct {
    /* The tiles of one task when it ends: of each value with a name the last tile, in the order of the body, and what is
       stored by the name of the result. The run then stops. */
    Name kernel; /* the first call of this kernel that runs and has the task; NULL: nobody sees tiles */
    int64_t task;
    void (*value)(void *context, const Kernel *, Name, const Value *, const Array *);
    /* The arguments of each call when it ends; false: the run stops. NULL: nobody sees them. */
    bool (*ended)(void *context, const Node *, const InterpArg *);
    void *context;
} InterpWatch;

/* An element of which `print` or a failed assertion tells. */
typedef struct {
    const Op *op;
    int rank, node;
    int64_t place[PRINT_PLACES];
    uint64_t value; /* bits of the f32 or f64, or an integer sign-extended */
} InterpPrint;

/* Takes them as they come; NULL: nobody. */
typedef struct {
    void (*take)(void *context, const InterpPrint *);
    void *context;
} InterpPrints;

typedef struct {
    const InterpWatch *watch; /* NULL: nobody */
    const InterpPrints *prints; /* likewise: then prints and assertions of values do nothing */
    const int64_t *sym; /* a value for each of the module's run-time dimensions; NULL: their bounds */
    int generations;    /* executions one after the other on the same inputs; 0: one */
    bool bounds;        /* fill .bound of the results, from .bound of the inputs where given */
    bool expected;      /* then not the worst case: what roundings that are independent exceed with probability 1e-7 */
    bool concurrent;    /* a module with FORM_FLAGS, or of one rank with calls alone, each of them a launch: agents under a
                           schedule drawn from the seed. Without it: program order, node by node, every rank completing a
                           node before the next; waits and signals are then passed over */
    bool once;          /* not concurrent: an element of a node's result that is not written exactly once is a fault */
    bool roles;         /* kernels that have roles are run by teams of agents, a schedule drawn from the seed, not by the body */
    uint64_t seed;
    int workers; /* of each rank, concurrent; 0: two */
} InterpOptions;

typedef enum {
    FAULT_RACE,     /* two accesses of one element, one of them a write, in no order */
    FAULT_POISON,   /* a read of a temporary that nothing wrote, or not in this generation */
    FAULT_DEADLOCK, /* a wait that no schedule step can satisfy any more */
    FAULT_FLAG,     /* a wait or signal outside the words of its flag */
    FAULT_RANKS,    /* a replicated result differs between ranks */
    FAULT_VALUE,    /* an input with a value (.seen) outside its declared range; nothing ran */
    FAULT_UNIQUE,   /* elements .want and .element of a tensor of unique places are both .seen, and were both stored to */
    FAULT_STARTS,   /* element .element of a tensor of starts is .seen, below .want or not below .past */
    FAULT_GAP,      /* no task of the node writes element [.text] of its .result; at.task is -1 */
    FAULT_TWICE,    /* this task writes element [.text] of the node's .result, which was written before */
    FAULT_ROLE,     /* a role reads, frees or fills what is not there; .text says what. The run stops */
    FAULT_INVALID,  /* a module that the interpreter cannot run; .text says why */
} FaultKind;

/* One execution of one task. rank < 0: none. */
typedef struct {
    int rank;
    int64_t generation;
    int node;
    int64_t task;    /* row-major in the node's grid; -1: beyond it */
    Name role, ring; /* in a team: of a member; of a ring whose copies they are; else NULL */
    int group;       /* of the role's; -1: the role is not split */
} InterpTask;

typedef struct {
    FaultKind kind;
    InterpTask at, other; /* other: of a race, the access that came first */
    int tensor, home;     /* the element: tensor of the program, the rank whose part it is, .. */
    int64_t element;      /* .. row-major in that part; -1: none */
    int flag;             /* of a deadlock; -1: none */
    int from;             /* source rank of the missing word */
    int64_t word;         /* its index in the flag's index space */
    int64_t want, seen;
    int64_t past; /* of a value: the end of its range, which begins at .want */
    const char *text; /* of a deadlock: what else is waited for, of its .ring; NULL: nothing else */
    Name ring;
    Name result; /* the kernel's name of it */
} InterpFault;

typedef struct {
    VEC(InterpFault) fault;        /* the first few, at most one for each pair of nodes and tensor */
    int64_t faults;                /* all of them */
    int64_t tasks, waits, signals; /* executed */
} InterpReport;

/* io: one array for each tensor of program->io, in order; inputs and state are read, state and outputs written (their
   data is made in the arena when NULL). True when there was no fault. The report's vectors live in the arena. */
bool interp_run(Arena *, const Module *, const Program *, const InterpOptions *, Array *io, InterpReport *);

void interp_report_print(const Program *, const InterpReport *, FILE *);

#endif
