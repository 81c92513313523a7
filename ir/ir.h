/* ir.h: the one IR: modules, tensors, kernels, nodes, flags.
   Value form: bodies are SSA over tiles with named ranges; programs are nodes over tensors.
   Everything lives in the module's arena. DESIGN in docs/reference/ir.md; the text form is in print.c and parse.c. */
#ifndef TILEC_IR_IR_H
#define TILEC_IR_IR_H

#include "base/array.h"
#include "base/diag.h"
#include "base/names.h"
#include "base/vec.h"
#include "ir/coll.h"
#include "ir/layout/layout.h"
#include "ir/ops.h"
#include "ir/plan.h"

#include <stdbool.h>
#include <stdint.h>

enum { SOURCE_RANGES = 8 }; /* of the language: of a grid and of a tile */
/* What collectives make has one more, for ranks: a copy to or from each peer a range. */
enum { MAX_RANGES = SOURCE_RANGES + 1, MAX_AXES = 3, MAX_TERMS = 6, MAX_RANKS = 4096 };
enum { PRINT_PLACES = 8 }; /* of a record of `print`, as in runtime/device/tile_print.h */
#define MAX_EXTENT ((int64_t)1 << 40)      /* largest extent, offset and bound */
#define MAX_BYTES (((int64_t)1 << 51) - 1) /* of a tensor: those of all ranks are counted in 64 bits */

/* ---- extents ---- */

/* An extent in elements: n = c + (sym < 0 ? 0 : value of run-time dimension sym).
   axis < 0: n itself. axis >= 0: this rank's block of n split over that mesh axis: with p ranks,
   B = ceil(n / p), rank r owns [r B, min(n, (r + 1) B)): the last ranks are short or empty.
   axis may be a list of axes, major first (axes.c): each splits the block of those before it, B = ceil(B / p). */
typedef struct {
    int64_t c;
    int16_t sym, axis;
} Size;

/* axes.c: lists of different mesh axes; -1: the empty one. A list of one axis is its number. */
int axes_first(int axes);
int axes_rest(int axes); /* without the first */
int axes_last(int axes);
int axes_without_last(int axes);
int axes_join(int axes, int more);
bool axes_have(int axes, int axis);
bool axes_begin_with(int axes, int begin, int *rest); /* *rest: what follows */

typedef struct {
    Name name;
    int64_t bound; /* inclusive upper bound of a run-time dimension */
    Loc loc;
} Symbol;

typedef struct {
    Name name;
    int64_t ranks;
    Loc loc;
} Axis;

/* ---- types of values ---- */

/* A tile: element type and a set of ranges, kept in ascending order of range number. No range: a scalar. */
typedef struct {
    Elem elem;
    int8_t nrange;
    int16_t range[MAX_RANGES];
} Type;

/* ---- affine expressions ---- */

/* A sum of terms mul * floor(var / div), plus c. Used for subscripts, flag indices and ranks. */
typedef enum {
    TERM_POS,   /* id: range; its positions (a tile over that range; a scalar for a position range) */
    TERM_INDEX, /* id: range; the number of its current tile (scalar) */
    TERM_RANK,  /* id: mesh axis; this rank's coordinate */
    TERM_BLOCK, /* id: range (a position range over ranks); its value times the block B of .size */
    TERM_VALUE, /* value: an integer scalar or tile (a gather): opaque to analysis */
    TERM_SIZE,  /* size: its value on this rank */
} TermKind;

typedef struct Value Value;

typedef struct {
    TermKind kind;
    int16_t id;
    Value *value;
    Size size;
    int64_t mul, div; /* div >= 1 */
} Term;

typedef struct {
    int64_t c;
    int nterm;
    Term term[MAX_TERMS];
} Affine;

/* lo..hi inclusive; a subscript has lo = hi, and only .lo is used. */
typedef struct {
    Affine lo, hi;
} Span;

/* ---- kernels ---- */

typedef enum {
    RANGE_TILE,     /* i: 128 of m: .size positions a tile */
    RANGE_WHOLE,    /* c: * of d: one tile over everything */
    RANGE_POSITION, /* r of rows: one position at a time, a scalar */
} RangeKind;

/* A range of the grid runs over [0, of); a range of a `for` over its operands [lo, hi).
   .owner >= 0: a grid range inside the block of rank number POS(owner): positions are local to that block
   (0 .. its length), and .of is split over the mesh axis of that owner.
   .starts: a ragged range of the grid (size.h): group g has the positions [start[g], start[g + 1]) of [0, .of), and no
   tile has positions of two groups. Its tile, and its positions, are known behind its GROUP. */
typedef struct {
    Name name;
    RangeKind kind;
    int64_t size; /* positions a tile; 1 for POSITION; 0 for WHOLE */
    Size of;      /* grid ranges only */
    int16_t owner;
    int16_t part_of; /* 1 + the range of which its tiles are parts, in roles; 0: of none */
    int16_t starts;  /* 1 + the parameter that says where groups of its positions begin, of a ragged range; 0: it is none */
    bool grid, tunable; /* tunable: written `auto`, or a default that tuning may replace */
    int aligned;        /* in the form `layout`: places count from the row's first multiple of so many elements; 0: from its first */
    Loc loc;
} Range;

typedef struct {
    Name name;
    Elem elem;
    int ndim; /* 0: a scalar passed by value */
    Size dim[MAX_DIMS];
    bool out, inout;
    int16_t ranks; /* >= 0: symmetric: the first subscript of every access is a rank along this mesh axis, before .dim */
    bool packet;   /* of a packet tensor: a load waits for its elements */
    Loc loc;
} Param;

typedef enum { LEVEL_WAVE, LEVEL_GROUP, LEVEL_CHIPLET, LEVEL_DEVICE } Level;

typedef struct Op Op;
typedef struct Region Region;

bool op_is_elementwise(const Op *); /* an element is made of its operands' at the same place */
bool op_is_expression(const Op *);  /* likewise, or is a number, a position, a size */
bool op_is_of_tiles(const Op *);    /* its operands are the tiles that it computes with: elementwise, or sums, products, layouts */

struct Value {
    int id; /* unique in the kernel */
    Type type;
    Name name;   /* from the source, or NULL */
    Op *def;     /* NULL for a region's argument */
    Region *arg_of;
    int index;   /* which result, or which argument */
    int layout;  /* in the form `layout`, of a tile: 1 + its number in the kernel's list; else 0 */
};

struct Region {
    Op *first, *last;
    VEC(Value *) arg; /* body of a for: the carried values; merge: carried, then the other part's */
    Op *parent;       /* NULL for a kernel's body */
};

/* ADD: atomic sum, in any order; UNIQUE: scatter to declared-unique places; SUM: sum in the order of tasks */
typedef enum { STORE_SET, STORE_ADD, STORE_UNIQUE, STORE_SUM } StoreMode;
typedef enum { ORDER_RELAXED, ORDER_ACQ_REL } SyncOrder;       /* the compiler emits only ACQ_REL; tests weaken it */
typedef enum { SCOPE_DEVICE, SCOPE_SYSTEM } SyncScope;

/* A piece of a loop's body in a turn: the piece runs for the iteration `shift` turns back. alone: groups of the role run
   it one after the other. */
typedef struct {
    int8_t piece, shift;
    bool alone;
} Turn;

struct Op {
    OpKind kind;
    Loc loc;
    VEC(Value *) arg;
    VEC(Value *) res;
    Region *region[2];
    Op *prev, *next;
    Region *in;
    /* attributes; which ones a kind has is said in ops.def (op_attributes) */
    double fimm;     /* CONST of a float type */
    int64_t imm;     /* CONST of an integer type or bool */
    int16_t range;   /* POS, BEGIN, END, FOR, ARGMAX, CUMSUM, .. */
    int8_t nover;    /* REDUCE, PREFIX, DOT: ranges that are contracted */
    int16_t over[MAX_RANGES];
    Size size;       /* SIZE, ORIGIN */
    int16_t axis;    /* RANK */
    int16_t param;   /* LOAD, STORE */
    StoreMode mode;  /* STORE */
    bool pipelined;  /* LOAD of a tile in a loop's body, in the form `layout`: fetched a step before it is read */
    bool deferred;   /* SUM in a loop's body, in the form `layout`: threads add their shares behind the loop */
    VEC(Span) sub;   /* LOAD, STORE: one a dimension (rank first on a symmetric parameter); WAIT, SIGNAL: one a flag dimension */
    int flag;        /* WAIT, SIGNAL */
    Span dest;       /* along the flag's axis. SIGNAL: ranks whose words are written; WAIT: source ranks waited for */
    SyncOrder order;
    SyncScope scope;
    int64_t lag;     /* WAIT: generations back: wants g - lag */
    bool equal;      /* WAIT: compares == instead of >= (packets; tests) */
    /* DOT, in the form `layout`, and MMA: the target's matrix instruction; NULL: sums of products. STORE in a role, of a
       slot's tile: `box`, `rows`, `pairs` */
    Name by;
    int16_t ring;    /* PUT, GET, FREE */
    int16_t slot;    /* COPY, WRITE: which tile of the slot */
    int8_t piece;    /* in the body of a loop with .turn: the piece that it belongs to */
    bool down;       /* FOR in a role: tiles from the last to the first */
    bool unrolled;   /* FOR in a role */
    VEC(Turn) turn;  /* FOR in a role: pieces of its body, in the order in which a turn runs them; none: one piece */
    int16_t ends;    /* FOR with .turn: a group begins its last so many iterations when the group before has begun all of
                        its own; a loop of fewer has no such order; 0: none has */
    int16_t runs;    /* FOR with .turn: so many iterations are written out, and turns overlap within them alone; what is
                        left over runs one by one; 0: all iterations are one run */
    int16_t late;    /* FOR over parts of a tile in a role of groups: each iteration runs in so many turns of the loop
                        with .turn of the next task; 0: at its own place */
};

typedef struct Roles Roles; /* ir/roles.h */

/* How a body says where its tiles are: values, or values that each lie in the registers of a workgroup's threads by a
   layout. With .roles, beside a body in value form, a workgroup computes it by roles. */
typedef enum { KERNEL_VALUE, KERNEL_LAYOUT } KernelForm;

typedef struct Kernel {
    int id;
    Name name;
    Loc loc;
    Level level;
    KernelForm form;
    VEC(Param) param;
    VEC(Range) range; /* the grid's first, in the order of `each` */
    int ngrid;
    Region *body;
    Plan plan;           /* how a workgroup computes it */
    Roles *roles;        /* how a workgroup computes the body; NULL: task by task, as the body says */
    int nvalue;
    int site;            /* 1 + its number among the instances of the source that could be tuned; 0: none; not in the text */
    VEC(Layout) layout;  /* where tiles lie: places reg, lane and wave; ranges by their names, which then differ */
} Kernel;

/* ---- programs ---- */

typedef enum { ROLE_INPUT, ROLE_STATE, ROLE_OUTPUT, ROLE_TEMP } TensorRole;
typedef enum { PART_SUM, PART_MAX } PartOp;

typedef struct {
    PlaceKind kind; /* S: the dimension is the one whose Size is split over this axis */
    PartOp op;      /* P */
} Place;

/* What each rank stores: .dim are local extents (Size.axis says which are split). */
typedef struct {
    int id;
    Name name;
    Elem elem;
    int ndim; /* 0: a scalar argument of the program, passed by value */
    Size dim[MAX_DIMS];
    Place place[MAX_AXES];
    TensorRole role;
    int16_t symmetric; /* mesh axis along which peers may address it (in peer-visible memory); -1: private */
    int slots;         /* copies in turn: slot = generation mod slots; 1 for most */
    bool checked;      /* an input of integers: a run with a value that is not in least .. past - 1 is an error */
    Size least, past;
    double above, below; /* an input or state of floats: values are drawn from between them; equal: none are declared; not in the text */
    bool packet;       /* symmetric, elements of at most 32 bits, each stored with its 32-bit generation in one word */
    Loc loc;
} Tensor;

typedef enum { NODE_CALL, NODE_COLLECTIVE } NodeKind;
typedef enum { COMM_AUTO, COMM_UNFUSED, COMM_PULL, COMM_STAGED, COMM_PUSH, COMM_PACKET } CommForm;

/* A tensor as an argument: all of it, this rank's block (replicated sliced to split), or a part. In a part the first
   .lead dimensions, which are whole numbers and not split, are fixed, and the parameter has the others. A view has
   other extents behind those that agree: as many elements in the same row-major order. */
typedef struct {
    int tensor;
    int lead;
    bool view;               /* then nothing is sliced */
    int64_t at[MAX_DIMS];    /* of each of the first .lead dimensions */
    int16_t slice[MAX_DIMS]; /* mesh axes: only this rank's block along that dimension; -1: all */
} Arg;

typedef struct {
    int id;
    NodeKind kind;
    Loc loc;
    Kernel *kernel; /* CALL: arguments in the order of kernel->param */
    /* CALL: of the same parameters and meaning, by other plans. Those with limits (plan.h) are looked at first, in their
       order, then `kernel`, then those without: the first one runs whose limit holds and whose boxes can be copied. */
    VEC(Kernel *) otherwise;
    VEC(Arg) arg;
    Coll coll;      /* COLLECTIVE: dst = coll(src) along mesh axis .axis */
    int axis, dim, dim2; /* dim: of the split (gathered, scattered, stacked at 0); dim2: of what gathers and splits: S(dim) -> S(dim2) */
    int64_t shift;  /* the number that the collective takes: coll.h */
    int src, dst;
    CommForm form;  /* chosen by comm */
    int when;       /* 1 + a tensor of one bool, the same on every rank: the node does nothing where it is false; 0: none */
} Node;

/* A family of flag words. Index space = the producer's grid, each dimension kept (group 1), divided (group G)
   or dropped (group 0); a DEST dimension says which rank the word lives on and is not part of the index.
   One word per index and, across ranks, per source rank. A word holds the generation g of its last completion:
   `arrivals` signals of generation g (their number is the product of the dropped and divided extents) complete it.
   .sub of WAIT and SIGNAL count in words (already divided by the group); entries of dropped and DEST dimensions are not
   looked at. A wait's spans are cut to the words that exist (flag_words) and to the ranks of the axis. Several DEST tasks of
   one word differ in .dest only, which names one rank.
   Protocol, memory model and proof: docs/design/synchronisation.md. */
enum { SPAN_END = 1 << 30 }; /* .hi of a span over everything there is */
enum { GROUP_DROP = 0, GROUP_DEST = -1 };

typedef struct {
    Size of;       /* the grid dimension runs over grid_tasks(of, size) tasks */
    int64_t size;
    int64_t group; /* 1 keep, G divide, GROUP_DROP, GROUP_DEST */
    bool ragged;   /* then it has one task more for each of .groups */
    Size groups;
} FlagDim;

typedef struct {
    int id;
    Name name;
    int producer, consumer; /* node ids */
    int16_t axis;           /* mesh axis it crosses; -1: inside one rank */
    SyncScope scope;
    VEC(FlagDim) dim;       /* one per dimension of the producer's grid */
    int64_t arrivals;       /* 0: exactly the group's tasks (always so from the compiler); else this number (tests) */
} Flag;

typedef struct {
    Name name;
    Loc loc;
    VEC(Tensor) tensor;
    VEC(int) io;    /* tensors of the interface: inputs, state and outputs, in declared order */
    VEC(Node *) node; /* in order: a node's tasks take tickets after those of the nodes before it */
    VEC(Flag) flag;
    VEC(int) dim; /* run-time dimensions that it takes, in declared order; not in the text */
    int workers; /* of a run on the host; 0: as the model says; not in the text */
} Program;

/* Bits of Module.form. LAUNCHES: a rank's tasks begin when all of the nodes before theirs have ended on that rank; without
   it tasks of several nodes run at once. */
enum { FORM_FLAGS = 1, FORM_LAUNCHES = 2 };

typedef struct Module {
    Arena *arena;
    Names *names;
    Diags *diags;
    int form;
    VEC(Symbol) symbol;
    VEC(Axis) axis;
    VEC(Kernel *) kernel;
    VEC(Program *) program;
} Module;

/* ---- building ---- */

Module *module_new(Arena *, Names *, Diags *);
Kernel *kernel_new(Module *, Name, Loc);   /* appended to the module */
Kernel *kernel_alone(Module *, Name, Loc); /* until it is added */
void kernel_add(Module *, Kernel *);
Kernel *kernel_clone(Module *, const Kernel *); /* a deep copy, appended to the module (clone.c) */
int kernel_param(Module *, Kernel *, Param);
int kernel_range(Module *, Kernel *, Range);
Program *program_new(Module *, Name, Loc);
void program_dims(const Module *, Program *);  /* finds .dim of a complete program (dims.c) */
int program_dim_of(const Program *, int sym); /* its place in .dim; -1: not used */
int program_tensor(Module *, Program *, Tensor);
/* A temporary of which each rank has its own, with the parameter's extents; for comm and split (build.c). */
Tensor tensor_temp(const Module *, const Param *like);
bool places_have_partial(const Module *, const Place *); /* of each axis */
Arg arg_whole(int tensor);
Node *program_node(Module *, Program *, Node); /* appended; its id is its index */

/* written.c */
bool *program_written(const Program *, Arena *);      /* per tensor: by some node */
bool tensor_is_constant(const Program *, int tensor); /* an input, such as weights, that no node of a run writes */

/* Removes what no store needs, and in roles no ring; the body is without waits and signals (dead.c). */
void kernel_remove_dead(Kernel *);
int kernel_regions(const Kernel *); /* the body, then what roles compute of scalars, then the roles */
Region *kernel_region(const Kernel *, int);
bool kernel_prints(const Kernel *); /* it leaves records of elements */
Region *region_new(Module *, Op *parent);
Value *region_arg(Module *, Kernel *, Region *, Type, Name);

bool value_const(const Value *, int64_t *); /* a CONST of an integer type or bool */
bool value_is(const Value *, int64_t);      /* that CONST */

Op *op_new(Module *, OpKind, Loc);                              /* unattached */
Op *op_like(Module *, const Op *);                              /* unattached, of its kind and attributes, without operands and results */
bool op_same_attributes(const Op *, const Op *);                /* of one kind, with equal attributes (attribute.c) */
const char *op_stray_attribute(const Op *);                     /* one that is set and that its kind does not have; NULL: none is */
Value *op_result(Module *, Kernel *, Op *, Type);               /* adds a result */
void op_append_to(Region *, Op *fresh);
void op_insert_before(Op *at, Op *fresh);
void op_remove(Op *);
void region_take(Region *to, Region *from); /* all operations, to the end */

/* The operations of a region and of those within, in the order of the text: for (op = walk(r); op; op = walk_next(op, r)).
   A region that is NULL has none (walk.c). */
Op *walk(const Region *);
Op *walk_next(const Op *, const Region *root);

/* ---- the form `layout` ---- */

const Layout *value_layout(const Kernel *, const Value *); /* NULL: none */
bool load_can_be_pipelined(const Kernel *, const Op *load); /* of the tiles of the loop around it, before its body begins */

/* ---- whole-module services ---- */

struct Text;
void module_print(const Module *, FILE *);
void kernel_print(const Module *, const Kernel *, FILE *);
char *module_text(const Module *, Arena *); /* the same as text */
/* Parses what module_print printed; NULL after errors (reported to diags). */
Module *module_parse(Arena *, Names *, Diags *, int file);
/* The same of text whose module may be invalid: what the verifier refuses is not looked for. */
Module *module_read(Arena *, Names *, Diags *, int file);
/* Reports every violation as an internal error with id "invalid-ir"; true when there is none. */
bool module_verify(const Module *);
/* The same of one kernel, in a pass. */
bool kernel_is_valid(const Module *, const Kernel *);
Module *module_clone(const Module *, Arena *); /* a deep copy, for tests, the mutator and comparing passes */

#include "ir/build.h"
#include "ir/size.h"

#endif
