/* c.h: what the parts of the C generator share: the function being written, where values are held, loop nests. */
#ifndef TILEC_CODEGEN_TEXT_C_H
#define TILEC_CODEGEN_TEXT_C_H

#include "base/text.h"
#include "codegen/codegen.h"
#include "ir/ir.h"
#include "base/name_map.h"

/* ---- names ---- */

/* Identifiers in use. next: of each the number that a second one like it tries first. */
typedef struct {
    Arena *arena;
    Names *text;
    NameMap next;
} CNames;

/* A C identifier that reads like `wanted`, is no keyword and is not in use yet. */
const char *c_name(CNames *, const char *wanted);
const char *c_function_name(CNames *, const char *wanted); /* at file scope, beside those of the C library */
/* Names of a module may be any text: as part of an identifier, and as what stands between the quotes of a C string. */
const char *c_identifier(Arena *, const char *name);
const char *c_string(Arena *, const char *name);
/* `wanted` itself, or with a trailing underscore where C has taken it: for names that the user must be able to guess.
 */
const char *c_public_name(Arena *, const char *wanted);
bool c_is_reserved(const char *name); /* everywhere */
bool c_is_global(const char *name);   /* at file scope */

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
    int at, last;    /* position of its operation; of the last step that reads it */
    int16_t fastest; /* range that should have stride 1: a dot asks for it; -1: any */
    const char *name;
    Tile tile;        /* HOLD_TILE, once made */
    const Tile *into; /* where it should be made, if its reader offered a place */
    int nest;         /* number of the nest in which .text stands for it */
    const char *text;
} Held;

/* ---- functions ---- */

/* C texts for a range: `pos` counts inside the tile (of a position range: is the position). */
typedef struct {
    const char *pos, *begin, *count, *index;
    const char *first, *end; /* of a loop: where its first tile begins, and past the last position */
    int64_t most; /* positions of a tile, at most; -1: no bound is known */
    const char *skew; /* of an aligned range on a GPU: the elements of its row behind a multiple; NULL: not asked for yet */
    bool natural; /* positions are never negative */
    bool missing; /* a position of the grid that may lie beyond the end: a task that finds nothing */
} RangeText;

typedef struct {
    Size size;
    bool block;
    const char *coord, *text;
} SizeText;

/* A constant at the head of a function, printed where it is used. */
typedef struct {
    const char *type, *name, *value;
} Constant;

/* Words and counters of a flag family on one rank. */
typedef struct {
    int64_t word, count; /* number of the first */
    int64_t words;       /* per source rank */
    int64_t extent[MAX_RANGES];
} FlagPlace;

/* Where a program's tensors and flags are. */
typedef struct {
    int64_t *offset; /* of a temporary in its workspace */
    int64_t *bytes;  /* of one of its slots */
    int *arg;        /* position among the arguments; -1: a temporary */
    bool *nontemporal; /* stored past the caches */
    FlagPlace *flag;
    int64_t local, symmetric, words, counts, scratch;
} Memory;

typedef struct Fn Fn;
typedef struct Nest Nest;

/* A word that is waited for: texts of it, of the generation wanted and of the rank that publishes it. */
typedef struct {
    const Op *op;
    const char *word, *want, *from;
    bool one; /* not in a loop over words */
} Poll;

/* Waits and signals, where they differ. */
typedef struct {
    const char *generation;
    const char *(*each)(Fn *, const char *name, const char *from, const char *past); /* head of the outer loop over words */
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
    const char *anew;                        /* the function that hides where a pointer comes from; NULL: none is needed */
    bool loads_apart;                        /* loads of tiles are steps of their own */
    const char *(*symbol)(Fn *, int symbol); /* value of a run-time dimension */
    const char *(*coord)(Fn *, int axis);    /* this rank's coordinate */
    const char *(*read)(Fn *, Elem, const char *place);
    const char *(*packed)(Fn *, Elem, const char *base, const char *index); /* the place of a packed element */
    Nest (*nest)(Fn *, const Tile *);        /* loops over the tile's elements */
    const char *(*element)(Nest *, const Tile *);
    Tile (*tile)(Fn *, const Value *, Elem, int16_t fastest);
    void (*place)(Fn *, Tile *, const char *name);
    const SyncBackend *sync;
    void (*settle)(Fn *);                    /* before control flow parts or meets; NULL: nothing */
    void (*before_loop)(Fn *, const Op *);   /* NULL: nothing */
    void (*after_loop)(Fn *, const Op *);    /* likewise */
    void (*before)(Fn *, const Op *);        /* any operation, a step or not; NULL: nothing */
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
    CNames names;
    VEC(Constant) head; /* sizes, and where tiles begin */
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

const char *fn_text(Fn *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fn_line(Fn *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fn_unsupported(Fn *, Loc, const char *what);
void fn_source_line(Fn *, Loc); /* a comment, where the line is another than before */
Held *fn_held(Fn *, const Value *);
const char *fn_value_name(Fn *, const Value *); /* from the source, or from what computes it; not unique */

/* Sizes, size.c. coord: C text of the coordinate along the size's axis; NULL: this rank's. */
const char *size_text(Fn *, Size);
const char *size_text_at(Fn *, Size, const char *coord);
const char *tasks_text(Fn *, Size of, int64_t size); /* grid_tasks(of, size): never less than 1 */
const char *size_block_text(Fn *, Size);
const char *size_origin_text(Fn *, Size);
const char *size_origin_in_text(Fn *, Size, int axes); /* of the rank's block along more axes, in what it has */
bool text_is_number(const char *, int64_t *);
const char *text_add_terms(Fn *, const char *a, const char *b); /* "a + b", folded where both are numbers or one is 0 */
const char *text_mul(Fn *, const char *a, const char *b);
const char *text_min(Fn *, const char *a, const char *b);
const char *conjoin(Fn *, const char *a, const char *b); /* of two conditions, NULL: always */
const char *text_atom(Fn *, const char *); /* in parentheses where it is more than an operand */
const char *text_bare(Fn *, const char *); /* without its outer parentheses */
const char *text_ceil_div(Fn *, const char *, int64_t);
/* Extent of a dimension of the tensor behind a parameter, as it lies in memory. */
const char *tensor_extent(Fn *, const Tensor *, int dim); /* as it lies in memory */
const char *param_extent(Fn *, int param, int dim);

/* ---- nests: loops around the statements of one step ---- */

/* The innermost loop in blocks, each made in a small array. */
typedef struct {
    const char *begin, *end; /* variables: positions of the block */
    const char *line, *to;   /* the array, and the element in memory where the block begins */
    Elem elem;
    int64_t count;
} Nontemporal;

struct Nest {
    Fn *f;
    int n, id;
    int16_t range[MAX_RANGES];  /* outermost first */
    Text at[MAX_RANGES + 1];    /* lines inside the first n loops, before the next one */
    Text after[MAX_RANGES + 1]; /* lines after the next loop */
    const char *pragma;         /* before the innermost loop, or NULL */
    const char *guard;          /* condition of all loops, or NULL */
    int chosen;                 /* how many conditions choose the value whose text is made */
    Nontemporal *nontemporal;                 /* of a result that goes past the caches, or NULL */
    const Layout *layout;       /* on a GPU: one loop over a thread's registers, .loop its head; ranges are not loops */
    const char *loop;
};

Nest nest_new(Fn *, const int16_t *range, int n);
void nest_line(Nest *, int depth, const char *format, ...) __attribute__((format(printf, 3, 4)));
void nest_after(Nest *, int depth, const char *format, ...) __attribute__((format(printf, 3, 4)));
void nest_print(Nest *);
void nontemporal_open(Nest *, const RangeText *innermost);
void nontemporal_close(Nest *);
/* Where a store's loops put an element instead, when the result goes past the caches; else NULL. host/past.c */
const char *nontemporal_target(Nest *, const Op *store);
bool tensor_is_nontemporal(const Module *, const Program *, const Tensor *);
int nest_depth(const Nest *, const Type *);
const char *nest_value(Nest *, const Value *);      /* of the element that the loops are at */
const char *nest_definition(Nest *, const Value *); /* the same, computed now even where it is held in memory */
const char *nest_tile(Nest *, const Tile *);        /* that element of a tile, by the loops' ranges */
const char *nest_affine(Nest *, const Affine *);
int nest_affine_depth(const Nest *, const Affine *);
const char *nest_convert(Nest *, Elem to, Elem from, const char *text);
/* C type of a tensor's memory. */
const char *memory_c(Elem);
const char *nest_element(Nest *, const Op *access);                    /* the lvalue, inside the tensor or not */
const char *nest_place(Nest *, const Op *access, const char **inside); /* the lvalue; *inside: condition or NULL */
const char *nest_row_place(Nest *, const Op *access, const char **inside); /* the same; the last subscript may be anywhere */
const char *op_text(Fn *, const Op *, const char *const *arg);         /* expression of an elementwise operation */
const char *literal_text(Fn *, Elem, const Op *);

/* ---- planning, host/plan.c ---- */

void plan_kernel(Fn *);
int16_t value_fastest(Fn *, const Value *); /* range with stride 1 in most of what the expression reads; -1: none */
bool reads(Fn *, const Value *expression, const Value *leaf);
Tile tile_for(Fn *, Type, Elem, int16_t fastest);
Tile tile_of_value(Fn *, const Value *, Elem, int16_t fastest);
void tile_place(Fn *, Tile *, const char *name); /* declares it */

/* ---- steps ---- */

void emit_region(Fn *, const Region *);
bool is_step(Fn *, const Op *); /* inline and unused values have no step of their own; loops and conditions always have */
void emit_compute(Fn *, const Value *);            /* an expression, into its variable or tile */
void emit_copy(Fn *, const Tile *, const Value *); /* tile = value; nothing when it is that tile */
void emit_store(Fn *, const Op *);
void emit_reduce(Fn *, const Op *);
void emit_prefix(Fn *, const Op *);
void emit_dot(Fn *, const Op *);
void emit_wait(Fn *, const Op *);
void emit_signal(Fn *, const Op *);
const Tile *held_tile(Fn *, const Value *); /* the place of a value about to be made */

/* A dot as a product of matrices: the operand `left` is m x k, the other k x n; other ranges are loops around it. */
typedef struct {
    int left;
    int16_t m, n, k;
} DotRanges;
bool dot_ranges(Fn *, const Op *, DotRanges *); /* false: better done by loops over elements */
Tile dot_operand(Fn *, const Value *, Elem,
                 int16_t row);                    /* its tile whose rows run along `row`, made where there is none */
void dot_start(Fn *, const Op *, const Tile *to); /* to = what the products are added to */
/* One side has a single row; host/row.c. false: nothing was printed. */
bool emit_row_product(Fn *, const Op *, const DotRanges *);
/* Of reductions and prefixes: what nothing reduces to, and the statement by which `run` takes in x. */
const char *reduce_start(Fn *, OpKind, Elem);
const char *reduce_combine(Fn *, OpKind, Elem, const char *run, const char *x);
const char *reduce_pair(Fn *, OpKind, Elem, const char *a, const char *b); /* an expression */
/* result = initial value plus the products, by loops; host/reduce.c. */
void emit_contract(Fn *, const Op *);

/* ---- the host ---- */

extern const SyncBackend c_sync;
const char *loop_each(Fn *, const char *name, const char *from, const char *past);
const char *sum_value(Nest *, const Op *store, const char *old); /* of a sum in order */
const char *packet_bits(Fn *, Elem, const char *x);
const char *packet_value(Fn *, Elem, const char *bits);
const char *tensor_slot(Fn *, const Tensor *); /* byte of the workspace where this generation's copy begins */
const char *symmetric_text(Fn *, const Tensor *, const char *first); /* the same of a part, by its first element */

extern const Backend c_backend;
const char *c_element(Nest *, const Tile *);
Tile c_tile(Fn *, const Value *, Elem, int16_t fastest);
void c_place(Fn *, Tile *, const char *name);

/* ---- functions and files ---- */

void fn_constant(Fn *, const char *name, const char *value);
void fn_constant_of(Fn *, const char *type, const char *name, const char *value);
void fn_head_print(Fn *, Text *to); /* those that the body uses */
void range_text_grid(Fn *);
void skip_missing_tasks(Fn *); /* returns at once from tasks beyond the end, where they do nothing */
void range_text_for(Fn *, const Op *loop, const char *lo, const char *hi);
void range_text_tile(Fn *, int range, const char *begin); /* of the loop's tile that begins there */
bool text_has_word(const char *text, const char *word); /* outside of comments */
bool affine_within(Fn *, const Affine *, int64_t end);    /* certainly at least 0 and below end */
bool affine_is_natural(Fn *, const Affine *);             /* certainly at least 0 */
bool access_within(Fn *, const Op *access, int dim);       /* its subscript is certainly inside the tensor */
const char *peer_text(Fn *, int axis, const char *coord); /* number of the rank with that coordinate */

/* false after an error */
bool memory_make(Arena *, const Module *, const Program *, Memory *);
Fn fn_new(Arena *, const Module *, const Program *, const Memory *);
const char *range_tasks(Fn *, const Kernel *, int range); /* number of tasks along a range of the grid */
const char *grid_index(Fn *, const Kernel *, int range, const char *task); /* of a task's tile; the last range is the fastest */
const char *part_text(Fn *, const Tensor *, const Arg *); /* first element of a part, in elements of the whole */
/* host/packed.c: values that become i4 and t2, and which tasks may store them */
const char *packed_cast_text(Fn *, Elem to, Elem from, const char *);
void packed_store_check(Fn *, const Op *);
const char *packed_part_text(Fn *, const Node *, const Tensor *, const Arg *); /* its byte; refused within a byte */
void name_params(Fn *);
void source_comment(Fn *, Text *to);
/* Appends the function of a node's kernel; name: its own, unique in the file. */
bool kernel_emit(Text *to, Memory *, Arena *, const Module *, const Program *, const Node *, const char *name);
const char *node_tasks(Fn *, const Kernel *);
void fn_print(Fn *, Text *to, const char *head); /* the whole function; frees its body */
/* What the runtime and callers see: descriptions of arguments, public functions. The hash is of all text so far. */
uint64_t public_source(Text *to, Arena *, const Module *, const Program *, const Memory *, const Targets *);
void public_header(Text *to, Arena *, const Module *, const Program *);
const char **public_members(Arena *, const Module *, const Program *); /* of NAME_args: arguments, then sizes */
void manifest_write(Text *to, Arena *, const Module *, const Program *, const Memory *, const Targets *, uint64_t hash);
/* Names for fault records: of n flags, which are the program's, or these and the tensors of packets behind them. */
void flags_source(Text *to, Arena *, const Program *, const char *name, int n);
int packets_flag(const Program *, int tensor); /* of packets; of the number of tensors: how many names there are */
/* taken.c: a condition over dims and scalars without which no task of the kernel stores or signals; NULL: none is known.
   Adds lines that compute it. */
const char *taken_text(Fn *, const Kernel *);
/* launch.c: what launches the kernels of GPU texts; memory: of p. */
void launch_source(Text *to, Arena *, const Module *, const Program *, const Memory *, const Targets *);

#endif
