/* codegen.h: C text from the IR. One .c, one .h and one .json a program, and one .hip a GPU that it is for.
   Takes: a module in value form, before or after flags, for the host; after layout for a GPU. Gives: text, the same for
   the same module. */
#ifndef TILEC_CODEGEN_CODEGEN_H
#define TILEC_CODEGEN_CODEGEN_H

#include "base/text.h"
#include "ir/ir.h"

/* What the names of a program's files and functions begin with: its own name, unless that is reserved in C. */
const char *c_program_name(Arena *, const Program *);

/* ---- GPUs ---- */

enum { GPU_MAPS = 24, MAP_DIMS = 5, MAP_OWN = -1 };

/* A tensor that a kernel copies by boxes: tile_map of runtime/include/tile_program.h. */
typedef struct {
    int arg, symmetric; /* MAP_OWN, 1 + rank: in the workspace that all ranks address; 0: it is not */
    int64_t first, before;
    Elem elem;
    int ndim;
    Size dim[MAP_DIMS];
    int box[MAP_DIMS], swizzle;
    int few; /* a tensor of at most so many positions of the dimension before the last has boxes of as many; 1: those of
                a box */
    int pixels, begin[MAP_DIMS], step[MAP_DIMS], count[MAP_DIMS]; /* 0: it is none of pixels */
    bool stores;
} GpuMap;

/* A node's launch; or what begins or ends a run, in one workgroup. */
typedef struct {
    const Kernel *kernel; /* NULL: of a run */
    const char *function; /* its name in the text */
    int threads;
    int64_t lds;
    int cluster, parts, nmap; /* 0, but of a schedule's, and of roles */
    int64_t groups;           /* 0: one a task, or as many as `packed` says */
    int packed;               /* tasks of a workgroup; 0: one */
    bool dependent;           /* it waits for the launch before it by itself, .. */
    bool follows;             /* .. which is one of the same run, .. */
    bool early;               /* .. and its text reads constant tensors before it waits */
    bool beside;              /* it runs beside the launch before it, whose end it waits for at its own; .. */
    bool lets_go;             /* .. as the next one does */
    bool otherwise;           /* the next launch takes its place where it cannot copy by boxes, or has no workgroups */
    int ticket;               /* number of the counter that its tasks take; -1: none */
    int finish; /* that of the workgroups that are done, of which the last one ends the run; -1: none does */
    bool idle;  /* what ends a run: only after a launch that failed */
    const char *call;         /* type of the kernel's argument */
    const Node *node;
    struct Fields *fields; /* what the node gives a text that it shares (codegen/text/share.h); NULL: nothing */
    GpuMap map[GPU_MAPS];
} GpuLaunch;

/* A program for one GPU. */
typedef struct {
    const char *target; /* "gfx942" */
    bool emulated;
    const Module *m;
    const Program *p;
    Text text;             /* the .hip file */
    VEC(GpuLaunch) launch; /* in order */
    int64_t local, symmetric; /* bytes of workspace */
    int64_t words, counts;
    int tickets;
    const struct Memory *memory; /* where its tensors and flags are */
} GpuText;

/* The texts of schedules, built in (cmake/std.cmake). */
typedef struct {
    const char *path; /* "schedules/product_sm_90a.hip" */
    const char *text;
    size_t len;
} ScheduleFile;

extern const ScheduleFile schedule_files[];
extern const int schedule_count;

/* Fills text, launch and local of a GpuText whose other members are set; false after errors, which are in its m->diags.
 */
bool gpu_emit(Arena *, GpuText *);
/* Adds the type of the kernels' one argument: NAME_call, as NAME.c and the .hip files know it. */
void gpu_call_type(Text *, const Module *, const Program *);
/* Its kernels are told of ranks, flags and tickets. */
bool gpu_has_task(const Module *, const Program *);
bool gpu_has_ends(const Module *, const Program *); /* its first launch begins a run, its last one ends it */
/* Its kernels wait by themselves for what ran before them on the stream: where the machine lets them begin earlier, and nothing
   but the order of launches stands between them. */
bool gpu_is_dependent(const GpuText *);
/* The launch may read the argument before it waits: no launch of the run writes it, the one before has waited, and the
   run will not be refused. */
bool gpu_reads_early(const GpuLaunch *, const Program *, int param);
bool gpu_looks_at_values(const Program *); /* some input has a declared range */

/* ---- programs ---- */

/* What the C of a program is for. */
typedef struct {
    bool host;
    bool alone; /* the host's C without the runtime: one thread, in memory that the caller gives */
    int workers; /* that a run on the host should use; 0: all */
    const GpuText *gpu; /* in the order in which the runtime tries them */
    int ngpu;
} Targets;

/* m, p: of the host, else of the first GPU. false after errors, which are in m->diags. The texts are the caller's to
   free. */
bool c_emit(const Module *m, const Program *p, const Targets *, Text *source, Text *header, Text *manifest);

#endif
