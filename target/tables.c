/* tables.c: the targets' .def files as tables: matrix instructions, phases of LDS, schedules, rates. */
#include "target/matrix.h"
#include "target/rates.h"

#include <string.h>

#define TEXT(x) #x

enum {
#define SHAPE(name, m, n, k, blocks, a, b, d) SHAPE_##name,
#define PANEL(name, swizzle, width, layout)
#include "target/mfma.def"
#include "target/mma.def"
#undef SHAPE
#undef PANEL
};

static const MatrixShape shapes[] = {
#define SHAPE(name, m, n, k, blocks, a, b, d) {TEXT(name), m, n, k, blocks, a, b, d},
#define PANEL(name, swizzle, width, layout)
#include "target/mfma.def"
#include "target/mma.def"
#undef SHAPE
#undef PANEL
};

static const MatrixPanel panels[] = {
#define SHAPE(name, m, n, k, blocks, a, b, d)
#define PANEL(name, swizzle, width, layout) {#name, swizzle, width, layout},
#include "target/mma.def"
#undef SHAPE
#undef PANEL
};

#define COUNT(...) (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int))
#define LANES(...)                                                                                                     \
    COUNT(__VA_ARGS__), { __VA_ARGS__ }
#define RATES(...)
#define GPU_RATES(...)
#define MACHINE(...)
#define SCHEDULE(...)
#define MFMA(...)
#define MMA(...)
#define WGMMA(...)
#define LDS_READ(bytes, banks, ...) {false, bytes, banks, __VA_ARGS__},
#define LDS_WRITE(bytes, banks, ...) {true, bytes, banks, __VA_ARGS__},
static const LdsPhase gfx90a_phases[] = {
#include "target/gfx90a.def"
};
static const LdsPhase gfx942_phases[] = {
#include "target/gfx942.def"
};
static const LdsPhase gfx950_phases[] = {
#include "target/gfx950.def"
};
static const LdsPhase sm_90a_phases[] = {
#include "target/sm_90a.def"
};
#undef LDS_READ
#undef LDS_WRITE
#undef MFMA
#undef MMA
#undef WGMMA

#define LDS_READ(...)
#define LDS_WRITE(...)
#define MFMA(name, a, b, d, ad, bd, cycles)                                                                            \
    {MATRIX_MFMA, #name, "tile_mfma_" #name, #a, #b, #d, &shapes[SHAPE_##ad], &shapes[SHAPE_##bd], cycles, 0},
#define MMA(ptx, pd, pa, pb, a, b, d, shape, cycles)                                                                   \
    {MATRIX_MMA,                                                                                                       \
     "mma.sync.aligned." #ptx ".row.col." #pd "." #pa "." #pb "." #pd,                                                 \
     "tile_mma_" #ptx "_" #pd "_" #pa "_" #pb "_" #pd,                                                                 \
     #a,                                                                                                               \
     #b,                                                                                                               \
     #d,                                                                                                               \
     &shapes[SHAPE_##shape],                                                                                           \
     &shapes[SHAPE_##shape],                                                                                           \
     cycles,                                                                                                           \
     0},
#define WGMMA(name, a, b, d, shape, step)                                                                              \
    {                                                                                                                  \
        MATRIX_WGMMA,                                                                                                  \
        "wgmma.mma_async.sync.aligned." name,                                                                          \
        NULL,                                                                                                          \
        #a,                                                                                                            \
        #b,                                                                                                            \
        #d,                                                                                                            \
        &shapes[SHAPE_##shape],                                                                                        \
        &shapes[SHAPE_##shape],                                                                                        \
        4,                                                                                                             \
        step},
static const MatrixOp gfx90a_ops[] = {
#include "target/gfx90a.def"
};
static const MatrixOp gfx942_ops[] = {
#include "target/gfx942.def"
};
static const MatrixOp gfx950_ops[] = {
#include "target/gfx950.def"
};
static const MatrixOp sm_90a_ops[] = {
#include "target/sm_90a.def"
};
#undef MFMA
#undef MMA
#undef WGMMA
#undef SCHEDULE

#define MFMA(...)
#define MMA(...)
#define WGMMA(...)
#define SCHEDULE(name, ...) {#name, __VA_ARGS__},
static const MatrixSchedule gfx90a_schedules[] = {
#include "target/gfx90a.def"
    {0}};
static const MatrixSchedule gfx942_schedules[] = {
#include "target/gfx942.def"
    {0}};
static const MatrixSchedule gfx950_schedules[] = {
#include "target/gfx950.def"
    {0}};
static const MatrixSchedule sm_90a_schedules[] = {
#include "target/sm_90a.def"
    {0}};
#undef MFMA
#undef MMA
#undef WGMMA
#undef SCHEDULE
#undef MACHINE

#define LENGTH(array) (int)(sizeof(array) / sizeof *(array))
#define MFMA(...)
#define MMA(...)
#define WGMMA(...)
#define SCHEDULE(...)
#define WGMMA_PANELS .panel = panels, .npanels = LENGTH(panels)
#define MACHINE(machine, texts, ...)                                                                                   \
    {.name = #machine,                                                                                                 \
     .family = #texts,                                                                                                 \
     .lds = {machine##_phases, LENGTH(machine##_phases)},                                                              \
     .op = machine##_ops,                                                                                              \
     .nops = LENGTH(machine##_ops),                                                                                    \
     .schedule = machine##_schedules,                                                                                  \
     __VA_ARGS__},
const MatrixTarget matrix_targets[] = {
#include "target/gfx90a.def"
#include "target/gfx942.def"
#include "target/gfx950.def"
#include "target/sm_90a.def"
};
const int matrix_target_count = LENGTH(matrix_targets);

const MatrixTarget *matrix_target(const char *name) {
    for (int i = 0; i < matrix_target_count; i++)
        if (!strcmp(matrix_targets[i].name, name)) return &matrix_targets[i];
    return NULL;
}

/* ---- rates ---- */

#undef MACHINE
#undef RATES
#undef GPU_RATES
#undef LDS_READ
#undef LDS_WRITE
#undef MFMA
#undef MMA
#undef WGMMA
#undef SCHEDULE
#define MACHINE(...)
#define SCHEDULE(...)
#define LDS_READ(...)
#define LDS_WRITE(...)
#define MFMA(...)
#define MMA(...)
#define WGMMA(...)
#define GPU_RATES(...)

#define RATES(...) __VA_ARGS__
static const TargetFacts facts[] = {
    {.name = "host",
#include "target/host.def"
    },
    {.name = "gfx90a",
#include "target/gfx90a.def"
    },
    {.name = "gfx942",
#include "target/gfx942.def"
    },
    {.name = "gfx950",
#include "target/gfx950.def"
    },
    {.name = "sm_90a",
#include "target/sm_90a.def"
    },
};

#undef RATES
#undef GPU_RATES
#define RATES(...)
#define GPU_RATES(...) __VA_ARGS__
static const GpuFacts gpus[] = {
    {.name = "gfx90a",
#include "target/gfx90a.def"
    },
    {.name = "gfx942",
#include "target/gfx942.def"
    },
    {.name = "gfx950",
#include "target/gfx950.def"
    },
    {.name = "sm_90a",
#include "target/sm_90a.def"
    },
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
