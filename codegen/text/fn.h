/* fn.h: a function that is being written: where values are held, texts of its ranges, how targets differ. */
#ifndef TILEC_CODEGEN_TEXT_FN_H
#define TILEC_CODEGEN_TEXT_FN_H

#include "base/text.h"
#include "codegen/codegen.h"
#include "codegen/text/cexpr.h"
#include "codegen/text/name.h"
#include "ir/ir.h"

/* ---- values ---- */

/* A tile in scratch memory: element (e0, e1, ..) at sum of e * stride; the last range has stride 1.
   On a GPU: in the registers of a thread, where its layout says. */
typedef struct {
    const Layout *layout; /* NULL: in memory */
    Elem elem;
    int n;
    int16_t range[MAX_RANGES];
    int64_t stride[MAX_RANGES];
    int64_t count; /* elements, padding included; registers */
    bool halves;   /* on a GPU: of 16 bits, two in a register */
    const char *name;
} Tile;

typedef enum {
    HOLD_UNUSED, /* nobody reads it: not computed */
    HOLD_INLINE, /* an expression inside the loops of the step that reads it */
    HOLD_SCALAR, /* a variable */
    HOLD_TILE,   /* in scratch memory */
} Hold;

/* A step: an operation that makes loops of its own. An operand of a loop, a yield or a dot is a step of its own. */
typedef struct {
    const Op *op;
    int operand;
    int at; /* position in the body, in program order */
    int nrange;
} Step;

/* What is decided about a value. */
typedef struct {
    Hold hold;
    Step reader;     /* the only step that reads it; .op NULL: none */
    bool shared;     /* more than one step does */
    bool again;      /* that step reads it more than once */
    bool ahead;      /* its text stands in front of its region's */
    int at, last;    /* position of its operation; of the last step that reads it */
    int16_t fastest; /* range that should have stride 1: a dot asks for it; -1: any */
    const char *name;
    Tile tile;        /* HOLD_TILE, once made */
    const Tile *into; /* where it should be made, if its reader offered a place */
    int nest;         /* number of the nest in which .text stands for it */
    const CExpr *text;
} Held;

/* ---- functions ---- */

/* C texts for a range: `pos` counts inside the tile (of a position range: is the position). */
typedef struct {
    const CExpr *pos, *begin, *count, *index;
    const CExpr *first, *end; /* of a loop: where its first tile begins, and past the last position */
    int64_t most; /* positions of a tile, at most; -1: no bound is known */
    const CExpr
        *skew;    /* of an aligned range on a GPU: the elements of its row behind a multiple; NULL: not asked for yet */
    bool natural; /* positions are never negative */
    bool missing; /* a position of the grid that may lie beyond the end: a task that finds nothing */
} RangeText;

typedef struct {
    Size size;
    bool block;
    const CExpr *coord, *text;
} SizeText;

/* A constant at the head of a function, printed where it is used. */
typedef struct {
    const char *type, *name, *value;
} Constant;

typedef VEC(Constant) Constants;

/* Words and counters of a flag family on one rank. */
typedef struct {
    int64_t word, count; /* number of the first */
    int64_t words;       /* per source rank */
    int64_t extent[MAX_RANGES];
} FlagPlace;

/* Where a program's tensors and flags are. */
typedef struct Memory {
    int64_t *offset; /* of a temporary in its workspace */
    int64_t *bytes;  /* of one of its slots */
    int *arg;        /* position among the arguments; -1: a temporary */
    bool *nontemporal; /* stored past the caches */
    FlagPlace *flag;
    int64_t local, symmetric, words, counts, scratch;
} Memory;

typedef struct Nest Nest;
typedef struct Fields Fields; /* share.h */

/* A word that is waited for: texts of it, of the generation wanted, of its flag's number and of the rank that publishes
   it. */
typedef struct {
    const Op *op;
    const char *word, *want, *flag, *from;
    bool one; /* not in a loop over words */
} Poll;

/* Waits and signals, where they differ. */
typedef struct {
    const char *generation;
    const char *(*each)(Fn *, const char *name, const CExpr *from,
                        const CExpr *past); /* head of the outer loop over words */
    void (*begin)(Fn *, const Op *), (*end)(Fn *, const Op *);                       /* around what it polls */
    void (*poll)(Fn *, const Poll *);
    int (*publish_begin)(Fn *, SyncScope);                                           /* blocks that it opened */
    const char *(*publish)(Fn *, const char *word, SyncScope);                       /* a statement */
    const char *(*arrive)(Fn *, const char *count, const char *arrivals, SyncScope); /* a condition */
    /* Between begin and end, where the condition holds; NULL: always. */
    void (*packet_get)(Nest *, const Op *, const char *when, const char *place, const char *bits);
    const char *(*packet_put)(Fn *, const char *place, const char *bits);
} SyncBackend;

/* How a kind of target differs where the generators are one. */
typedef struct {
    const char *who, *pragma;                /* in messages; before loops over elements */
    const char *leave;                       /* the statement that ends a task early */
    const char *fields;                      /* what stands before the name of a field: where fields are */
    const char *anew;                        /* the function that hides where a pointer comes from; NULL: none is needed */
    bool loads_apart;                        /* loads of tiles are steps of their own */
    const CExpr *(*symbol)(Fn *, int symbol); /* value of a run-time dimension */
    const CExpr *(*coord)(Fn *, int axis);    /* this rank's coordinate */
    const CExpr *(*read)(Fn *, Elem, const CExpr *place);
    const CExpr *(*packed)(Fn *, Elem, const char *base, const CExpr *index); /* the place of a packed element */
    Nest (*nest)(Fn *, const Tile *);        /* loops over the tile's elements */
    const CExpr *(*element)(Nest *, const Tile *);
    Tile (*tile)(Fn *, const Value *, Elem, int16_t fastest);
    void (*place)(Fn *, Tile *, const char *name);
    const SyncBackend *sync;
    /* Ends the task, with the run's error, where starts are wrong: the kernel's parameter, number of groups, positions, number
       of the task's tile. NULL: they are looked at before tasks begin. */
    void (*refuse_starts)(Fn *, const Op *group, const char *groups, const char *n, const char *number);
    bool (*is_near)(Fn *,
                    const Op *); /* what it takes has an error larger than the machine's own function; NULL: none */
    const CExpr *(*own)(Nest *, const Op *); /* an expression its own way; NULL as a result, or here: as others */
    bool (*make)(Fn *, const Op *);          /* writes an operation its own way; false, NULL: it does not */
    void (*settle)(Fn *);                    /* before control flow parts or meets; NULL: nothing */
    void (*before_loop)(Fn *, const Op *);   /* NULL: nothing */
    bool (*loop)(Fn *, const Op *);          /* writes a loop its own way; false, NULL: it does not */
    void (*after_loop)(Fn *, const Op *);    /* likewise */
    void (*before)(Fn *, const Op *);        /* any operation, a step or not; NULL: nothing */
    /* Around an innermost loop whose results go past the caches; NULL: none does. */
    void (*nontemporal_open)(Nest *, const RangeText *innermost), (*nontemporal_close)(Nest *);
    void (*step)(Fn *, const Op *);          /* all but elementwise operations and control; loads_apart: loads of tiles */
} Backend;

struct Fn {
    const Backend *back;
    struct Hip *hip; /* on a GPU */
    const Module *m;
    const Program *p;
    const Memory *memory;
    Arena *arena;
    const Kernel *k;  /* NULL in the functions of the program */
    const Node *node; /* a node that calls it: the layout of its arguments */
    Fields *fields;   /* what other nodes of the text have otherwise; NULL: the text is of this node */
    CNames names;
    Constants head; /* sizes, and where tiles begin */
    Constants local; /* of fn_local */
    Text body;
    int indent;
    RangeText *range;
    const char **param;
    Held *held; /* by value id */
    VEC(SizeText) size;
    int64_t scratch, scratch_most;
    int nests, line;
    bool failed;
};

const char *fn_vtext(Fn *, const char *format, va_list);
const char *fn_text(Fn *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fn_line(Fn *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fn_unsupported(Fn *, Loc, const char *what);
void fn_source_line(Fn *, Loc); /* a comment, where the line is another than before */
Held *fn_held(Fn *, const Value *);
const char *fn_value_name(Fn *, const Value *); /* from the source, or from what computes it; not unique */

void fn_constant(Fn *, const char *name, const char *value);
void fn_constant_of(Fn *, const char *type, const char *name, const char *value);
/* Here, in the body: left out by fn_head_print where the body does not use it. */
void fn_local(Fn *, const char *name, const char *value);
void fn_head_print(Fn *, Text *to); /* those that the body uses */
bool text_has_word(const char *text, const char *word); /* outside of comments */
Fn fn_new(const Backend *, Arena *, const Module *, const Program *, const Memory *);
void name_params(Fn *);
const char *param_name(Fn *, int param); /* wanted; nodes that share a text have others with other numbers in them */
/* more: behind the place */
void source_comment(Arena *, const Module *, const Kernel *, const char *name, const char *more, Text *to);
void fn_print(Fn *, Text *to, const char *head); /* the whole function; frees its body */

#endif
