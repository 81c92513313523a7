/* hip.h: kernels of a HIP file: which places of memory their workgroups touch, and where the file names blockIdx.
   frontend/clang fills this in with Clang's libraries; the rest of the compiler knows no C++. */
#ifndef TILEC_FRONTEND_HIP_HIP_H
#define TILEC_FRONTEND_HIP_HIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Integers of a kernel. .number: the value; the axis of a workgroup's or thread's number, 0 to 2; the loop's number,
   for how many iterations are over. Quotients round down. */
typedef enum {
    HIP_NUMBER,
    HIP_BLOCK,
    HIP_THREAD,
    HIP_LOOP,
    HIP_ADD,
    HIP_MUL,
    HIP_DIV,
    HIP_MOD,
    HIP_MIN,
    HIP_MAX
} HipExprKind;

typedef struct HipExpr {
    HipExprKind kind;
    int64_t number;
    const struct HipExpr *a, *b;
} HipExpr;

/* A place of the file, in bytes; .where: of another file, as text. */
typedef struct {
    uint32_t begin, end;
    const char *where;
} HipPlace;

typedef struct {
    const HipExpr *trips;
    int around; /* the loop that it stands in; -1: none */
} HipLoop;

typedef struct {
    int param;
    bool write;
    int bytes;
    const HipExpr *at; /* byte of the parameter's memory; NULL: not followed, and .why */
    const char *why;
    int loop; /* -1: none */
    HipPlace place;
} HipAccess;

typedef struct {
    const char *name, *type; /* as C++ has it */
    bool pointer;
    bool floats; /* what it points to */
    int bytes;   /* of what it points to, or of itself */
    bool known;  /* a number that is given */
    int64_t value;
} HipParam;

/* A function whose text names blockIdx: behind its opening brace. */
typedef struct {
    uint32_t body;
    const char *name;
    bool helper; /* not the kernel itself */
} HipUse;

typedef struct {
    const char *name;  /* with the arguments of its template */
    const char *plain; /* the identifier alone */
    HipPlace place;
    uint32_t before;           /* where declarations can stand that the kernel, and what it calls, can name */
    bool spaced;               /* it stands in a namespace of C++ or a list of declarations */
    int64_t grid[3], block[3]; /* 0: not known */
    bool unmade;               /* a template that no launch makes: what it calls is not known */
    const char *refused;       /* NULL, or why nothing is known of it, and where */
    HipPlace refused_at;
    HipParam *param;
    HipLoop *loop;
    HipAccess *access;
    HipUse *use;
    int nparam, nloop, naccess, nuse;
} HipKernel;

typedef struct {
    const char *name;
    int64_t value;
} HipDefine;

typedef struct {
    const char *path, *text, *arch;
    const char *const *flag; /* of the compiler */
    int nflag;
    const HipDefine *define;
    int ndefine;
    int64_t grid[3], block[3];          /* 0: not given */
    void *(*room)(void *arena, size_t); /* zeroed memory of the answer */
    void *arena;
} HipInput;

typedef struct {
    bool compiles; /* else Clang has said why */
    HipKernel *kernel;
    int nkernel;
    HipPlace *launch; /* kernel<<<..>>>(..) */
    int nlaunch;
} HipFile;

typedef HipFile HipRead(const HipInput *);
#define HIP_LIBRARY "libtilec_clang.so" /* has `hip_read`, a HipRead */

#ifdef __cplusplus
}
#endif

#endif
