/* program.h: statements and expressions, which need each other, names (scope.h) and nodes (graph.h).
   statements -> expressions -> kernel calls and collectives -> nodes over tensors with placements. */
#ifndef TILEC_FRONTEND_PROGRAM_PROGRAM_H
#define TILEC_FRONTEND_PROGRAM_PROGRAM_H

#include "frontend/program/flat.h"
#include "frontend/program/graph.h"

/* What lowering goes with: the files, what names stand for, what is made of them. None of it changes but inside. */
typedef struct Prog {
    Front *f;
    Module *m;
    Arena *arena;
    Diags *diags;
    Scope *scope;
    Graph *graph;
} Prog;

/* program.c: the program itself, and assignments */
void assignment_lower(Prog *, const Stmt *);

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
    ProgValues updated;
    int before; /* so many of .updated were there before it */
} Arm;

/* Node.when: the test holds, or not, where the graph's condition does. */
int condition_new(Prog *, const ProgValue *test, bool holds);

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
void group_declare(Prog *, const ParamDecl *); /* the names of records and formats in a body */

/* record.c: arguments and targets that are records or weights in formats, as several tensors. */
bool argument_flatten(Prog *, const Expr *, const ParamDecl *, ProgValues *out);
void targets_flatten(Prog *, Stmt *);     /* of a call that gives records */
bool record_assign(Prog *, const Stmt *); /* a = w, field by field; false: no record */

/* inline.c: calls of programs. */
bool program_call(Prog *, const Expr *, const Decl *, const Expected *, int n, ProgValue *out);

/* The same for linear(x, W). */
bool format_apply(Prog *, const Expr *call, const Variable *w, const Expected *, ProgValue *out);

/* format.c: weights that are stored in a format. */
bool format_whole(Prog *, const ParamDecl *, Tensor *); /* the type without `as`: extents of dims, whole */
ActualArg format_actual(Prog *, Name part, Loc);
bool format_fits(Prog *, const ParamDecl *, const Decl *format, const ActualArg *part, const Tensor *whole);
void format_name(Prog *, const ParamDecl *, const Decl *format, const Tensor *whole);
void format_declare(Prog *, const ParamDecl *); /* in a called program's body, where its tensors have names already */

/* expr.c */
ProgValue tensor_lower(Prog *, const Expr *, const Expected *); /* one tensor; ERROR after a report */
bool values_lower(Prog *, const Expr *, const Expected *, int n, ProgValue *out);

/* argument.c */
ProgValue argument_lower(Prog *, const Expr *, const ParamDecl *);
bool arguments_count(Prog *, const Expr *, const Decl *, int n); /* as many as the head has, and n results */
bool call_values(Prog *, const Expr *, const Decl *, const Expected *, int n, ProgValue *out);

/* call.c: the arguments are there already, one for each parameter of the flat head. */
ActualArg actual_constant(const ProgValue *); /* of a NUMBER or SIZE */
bool call_apply(Prog *, const Decl *, ProgValue *arg, int narg, Loc, const Expected *, int n, ProgValue *out);

/* spot.c: places known at run time */
bool spot_lower(Prog *, const Expr *, Affine *);

/* part.c */
ProgValue view_lower(Prog *, const Expr *); /* view(x, [..]) */
ProgValue part_lower(Prog *, const Expr *); /* x[l] */

/* coll.c: collectives, and local */
ProgValue collective_lower(Prog *, const Expr *, const CollInfo *, const Expected *);

/* map.c: whole-tensor expressions, as kernels made on the spot. */
ProgValue map_lower(Prog *, const Expr *, const Expected *);
const Expr *branch_known(Prog *, const Expr *); /* of ?: with a condition known at compile time; NULL: neither */

#endif
