/* rates.c: the tables of rates, read from the targets' .def files. */
#include "target/rates.h"

#include <string.h>

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
