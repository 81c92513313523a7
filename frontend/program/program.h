/* program.h: shared by the files that lower programs (program*.c); nobody else includes it.
   statements -> expressions -> kernel calls and collectives -> nodes over tensors with placements. */
#ifndef TILEC_FRONTEND_PROGRAM_PROGRAM_H
#define TILEC_FRONTEND_PROGRAM_PROGRAM_H

#include "frontend/program/number.h"

/* Beside each tensor of the program. */
typedef struct {
    DimName dim[MAX_DIMS];
    Elem whole_elem; /* P: the type of the sum; .elem of the tensor is that of the shares */
    Loc cause;       /* P: the argument that made it partial, .. */
    const char *why; /* .. and a sentence about it; NULL: none */
} TensorInfo;

typedef struct Prog {
    Front *f;
    Module *m;
    Arena *arena;
    Diags *diags;
    Program *p;
    Scope *scope;
    PtrMap taken;  /* names of tensors */
    VEC(ProgValue) source;  /* scalars and elements of integer tensors that are places */
    VEC(ProgValue) updated; /* in place, in order; .loc: where */
    int when;               /* of the nodes that are made: as Node.when */
    VEC(TensorInfo) info;
} Prog;

/* program.c */
void assignment_lower(Prog *, const Stmt *);
bool shape_fits(Prog *, const ProgValue *, const Tensor *like, Loc declared);
int tensor_new(Prog *, Tensor, const TensorInfo *); /* private, one slot, a name that is free */
void node_new(Prog *, Node);
void value_consume(Prog *, const ProgValue *, Loc); /* what names the tensor, or some of it, now names an old version */
bool value_lives(Prog *, const ProgValue *); /* reports a value that was updated in place after it was named */
int decl_inouts(const Decl *flat); /* inout parameters: a call gives their next versions before its results */
const char *tensor_text(Prog *, const ProgValue *); /* the expression as written, for messages */

/* target.c: x[l] = .. */
bool part_target_check(Prog *, const Expr *);
bool part_target_expected(Prog *, const Expr *, ProgValue *to, Expected *);
void part_bind(Prog *, const Expr *, Variable *, ProgValue, const ProgValue *to,
               const Expected *); /* of what is no state */

/* if.c */
void branches_lower(Prog *, const Stmt *);

/* arms.c: what may be executed or not: nodes under a condition, and what names stand for behind it. */
typedef struct {
    int when;      /* of the arm's nodes: as Node.when */
    Variables var; /* as the arm leaves them */
    ProgValue *updated;
    int nupdated, before; /* so many it has; so many were there before it */
} Arm;

bool condition_of_expr(Prog *, const Expr *, ProgValue *);    /* a scalar of bool that all ranks have; reports errors */
int condition_new(Prog *, const ProgValue *test, bool holds); /* .when: the test holds, or not, where Prog.when does */

/* A kernel that gives one bool; it runs always. */
typedef struct {
    Prog *c;
    Node node;
    Builder b;
} CondKernel;

CondKernel cond_begin(Prog *, Loc);
Value *cond_load(CondKernel *, const ProgValue *); /* a scalar, or a tensor of one element */
int cond_end(CondKernel *, Value *);               /* Node.when */
Arm arm_begin(Prog *, int when);                   /* .var: as they are before */
void arm_end(Prog *, const Arm *before, Arm *arm); /* names are again as before; arm: as they were left */
void arm_happens(Prog *, const Arm *);             /* what it read and updated counts from here on */
/* Behind two arms: names that they left different are tensors that either may have stored. */
void arms_join(Prog *, const Arm *, const Arm *, int mark, Loc);

/* choose.c */
bool choose_values(Prog *, const Expr *, const Expected *, int n, ProgValue *out);

/* flow.c */
void flow_lower(Prog *, const Stmts *);
void statements_lower(Prog *, const Stmts *); /* of a whole body: names are checked at its end */

/* head.c */
void inputs_check(Prog *); /* of the whole program: an input that nothing reads is a warning */
void interface_lower(Prog *, const Decl *);
void param_lower(Prog *, const ParamDecl *, Role);
const Decl *record_of(Prog *, const TypeExpr *); /* or NULL */

/* record.c: records and weights in formats, as several tensors. */
bool head_is_sound(Prog *, const Decl *);           /* records end, results are in no format; reports */
const Decl *decl_flat(Prog *, const Decl *);        /* one parameter or result for each tensor; a program's state is inout */
void group_declare(Prog *, const ParamDecl *);      /* the names of records and formats in a body */
bool argument_flatten(Prog *, const Expr *, const ParamDecl *, ProgValues *out);
void targets_flatten(Prog *, Stmt *);               /* of a call that gives records */
bool record_assign(Prog *, const Stmt *);           /* a = w, field by field; false: no record */

/* inline.c: calls of programs. */
bool program_call(Prog *, const Expr *, const Decl *, const Expected *, int n, ProgValue *out);
/* The same where the arguments are there, one for each parameter. */
bool program_apply(Prog *, const Decl *, const ProgValue *arg, Loc, const Expected *, ProgValue *out);

/* format.c: weights that are stored in a format. */
void format_lower(Prog *, const ParamDecl *, Role);
void format_declare(Prog *, const ParamDecl *);
const Decl *format_named(Prog *, const TypeExpr *); /* NULL after a report; so is the next: false */
bool shapes_count(Prog *, const ParamDecl *, const Decl *format);
ParamDecl format_part(Prog *, const ParamDecl *, const Decl *format, int i);
const Variable *format_of_call(Prog *, const Expr *call); /* of W in linear(x, W), or NULL */
bool format_apply(Prog *, const Expr *call, const Variable *w, const Expected *, ProgValue *out);

/* fill.c: nodes that fill a tensor: what the next one adds to, and what a number is assigned to. */
void zero_add(Prog *, const ProgValue *, Loc);
ProgValue number_fill(Prog *, const ProgValue *number, const Expected *);

/* expr.c */
ProgValue prog_tensor(Prog *, int tensor, Loc);
ProgValue tensor_lower(Prog *, const Expr *, const Expected *); /* one tensor; ERROR after a report */
const Decl *callee_of(Prog *, const Expr *); /* the kernel or program of a call, or NULL */
bool values_lower(Prog *, const Expr *, const Expected *, int n, ProgValue *out);

/* call.c */
ProgValue argument_lower(Prog *, const Expr *, const ParamDecl *);
ActualArg actual_constant(const ProgValue *); /* of a NUMBER or SIZE */
bool arguments_count(Prog *, const Expr *, const Decl *, int n); /* as many as the head has, and n results */
bool call_values(Prog *, const Expr *, const Decl *, const Expected *, int n, ProgValue *out);
/* The same for a call whose tensor arguments are there already. */
bool call_apply(Prog *, const Decl *, ProgValue *arg, int narg, Loc, const Expected *, int n, ProgValue *out);

/* Calls a kernel that copies one tensor: this rank's part of it where `to` is split and the other is not. */
bool call_copy(Prog *, const Decl *, ProgValue *from, const ProgValue *to, Loc);

/* slice.c: which arguments are taken in part, so that their dimensions agree. false after errors. */
bool slices_find(Prog *, const Decl *, ProgValue *, int n, Arg *);

/* spot.c: places known at run time */
bool spot_lower(Prog *, const Expr *, Affine *);
/* A node's first n arguments are these values: the kernel of parts at such places is one of the whole tensors. */
bool node_widen(Prog *, Node *, const ProgValue *const *, int n);

/* part.c */
/* A scalar that is computed is a tensor of one element, taken at place 0. */
ProgValue scalar_new(Prog *, Tensor, const TensorInfo *, Loc);
ProgValue scalar_of(Prog *, ProgValue);
bool value_is_scalar(const Prog *, const ProgValue *); /* such a one, whole */
Tensor value_tensor(const Prog *, const ProgValue *); /* as its reader sees it: without the dimensions that are fixed */
ProgValue value_cast(Prog *, ProgValue, Elem);             /* a copy, as a tensor of its own */
ProgValue value_whole(Prog *, ProgValue part);
ProgValue view_lower(Prog *, const Expr *);                /* view(x, [..]) */
ProgValue part_lower(Prog *, const Expr *);                /* x[l] */

/* place.c */
/* *whole: an argument that has to be read at global places for the placements to fit, which is no error yet; or -1 */
bool places_find(Prog *, const Decl *, const Kernel *, const ProgValue *, int n, Place (*out)[MAX_AXES],
                 TensorInfo *cause, int *whole);
/* The dimension that is split over the axis; -1: none. */
int tensor_split(const Tensor *, int axis);
/* May a result like `t` be written to this output (-1: none) at once? */
bool output_takes(Prog *, const Tensor *, int output);
/* An inout parameter keeps the placement of its argument. */
bool inout_stays(Prog *, const Param *, const ProgValue *arg, const Arg *part, const Place *next);
/* Reports a value that is partial, or differs per rank, where a whole one is needed. */
bool value_is_whole(Prog *, const ProgValue *, const char *where);
/* Into a declared tensor: true when the placements agree, or a replicated value is taken in part. */
bool place_fits(Prog *, const ProgValue *, const ProgValue *target, Loc);

/* coll.c: collectives, and local */
bool collective_named(Name);
const char *collective_near(Name); /* the nearest to a misspelt one; NULL: none */
ProgValue collective_lower(Prog *, const Expr *, const Expected *);

/* map.c: whole-tensor expressions and copies, as kernels made on the spot. */
ProgValue map_lower(Prog *, const Expr *, const Expected *);
const Expr *branch_known(Prog *, const Expr *); /* of ?: with a condition known at compile time; NULL: neither */
bool map_copy(Prog *, ProgValue from, const ProgValue *to, Loc);

#endif
