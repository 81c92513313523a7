/* rates.h: the speeds of machines, in SI units, with which the cost model computes. The rows, RATES and GPU_RATES,
   are in target/NAME.def, with their sources. */
#ifndef TILEC_TARGET_RATES_H
#define TILEC_TARGET_RATES_H

/* Of a machine; a core of a GPU is a compute unit or multiprocessor. */
typedef struct {
    const char *name;
    double memory;  /* bytes/s of one rank's copy, read plus written */
    double link;    /* bytes/s from a peer's memory */
    double flag;    /* seconds from a signal on one rank to the end of the wait on another */
    double barrier; /* seconds of a barrier of all ranks */
    double task;    /* seconds of taking and starting a task */
    double start;   /* seconds from the start of a run to its first task, and from its last task to its end */
    double cache;   /* bytes that a kernel finds in the caches again */
    double cached;  /* bytes/s of one core from there */
    double staged;  /* bytes/s of one core to and from where products find their operands and keep their sums */
    double dot;     /* flop/s of one core in products of matrices */
    double row;     /* flop/s of one core in products with a single row */
    double ops;     /* elements/s of one core in additions and the like */
} TargetFacts;

enum { LINE = 128 /* bytes that a GPU's L2 gives together */ };

/* Of products of few rows by boxes, which wait for memory: passes/plan/tile_few.c. */
typedef struct {
    double memory, latency; /* bytes/s that boxes bring, each once; seconds from a copy's begin to its end under load */
    double alone;           /* bytes/s that come to one of few processors that copy */
    double copied;          /* bytes a clock to a processor */
    double step, panel;     /* clocks of a step, and more of them for each 128 bytes of a row */
    double prompt, late;    /* seconds between launches, where the next one's workgroups find room beside these; where some do not */
    double meeting, sent;   /* seconds until a cluster has met; bytes/s between two of its workgroups */
} FewRates;

/* Of a GPU, of one processor and clock where nothing else is said. */
typedef struct {
    const char *name;
    double clock;     /* 1/s, at work */
    double launch;    /* seconds from a kernel's end to its successor's first task */
    double fill;      /* seconds until the first and behind the last product of a schedule */
    double cached;    /* bytes/s of the whole machine from and to the L2, each element once */
    double l2;        /* bytes that a processor loads from the L2 or stores */
    double lds;       /* bytes to and from workgroups' memory */
    double boxes;     /* bytes that copies of boxes bring there, .. */
    double boxes_few; /* .. where most of them are of few rows, and two tiles at most have the others */
    double boxes_most; /* that they bring to one of few processors that copy */
    double products;  /* operations/s of products in tiles of roles; 0: as the rows of the schedule `product` say */
    double busy;      /* share of the peak rate that products of boxes reach, of many processors together */
    double apart;     /* times of what these copies take where rows of tensors are no multiples of 128 bytes */
    double outside;   /* bytes that boxes outside of their tensor fill with zeros */
    double cluster;   /* clocks that a launch of clusters takes longer */
    int at_once[9];   /* clusters of so many workgroups, a processor each, that run at once; 0: not measured */
    FewRates few;     /* zeros where no roles are */
    double sum;       /* clocks for which a group of each of the workgroups that share a tile meets before they add up .. */
    double summed;    /* .. so many bytes of sums */
    double lanes;     /* operations */
    double special;   /* those of the special function unit */
    double issue;     /* of a thread alone */
    double load;      /* clocks from a load to its value */
    double barrier;   /* clocks of a barrier, and of what is exchanged before and behind it */
    double threads;   /* that a processor holds */
    double registers; /* of a thread beside its tiles */
    /* Caches that chiplets do not share; .chiplets 0: the order of tasks is that of the kernel's own text */
    int chiplets;         /* workgroup g runs on chiplet g mod .chiplets */
    double chiplet_cache; /* bytes of a chiplet's L2 */
    double last_level;    /* bytes of the cache before memory; 0: there is none */
    double last_rate;     /* bytes/s of the whole machine from there */
} GpuFacts;

const TargetFacts *target_facts(const char *target); /* NULL: unknown */
const GpuFacts *gpu_facts(const char *target);       /* NULL: no GPU */

#endif
