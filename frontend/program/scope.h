/* scope.h: what names stand for: variables, dims and element types of a called program's head, dims of the file.
   Names of a block (a branch, an iteration) end with it. The body of a called program sees its own names alone. */
#ifndef TILEC_FRONTEND_PROGRAM_SCOPE_H
#define TILEC_FRONTEND_PROGRAM_SCOPE_H

#include "frontend/program/value.h"
#include "frontend/sema/const.h"

typedef struct {
    Name name;
    Loc loc;
    ProgValue value;
    bool read, made; /* made: a value, which has to be read; not a field of a record's other name */
    bool output;     /* .value.tensor is an output, defined once .made */
    bool state, fixed;
    const Decl *record;     /* or NULL: its fields are variables of their own, named w.field */
    const Decl *format;     /* or NULL: so are the format's parameters */
    const Tensor *stands;   /* .format: what it stands for */
    const Expected *result; /* of a called program's result: what it must be */
    VEC(ProgValue) part;    /* of an output: what is assigned so far, part by part */
    ProgValue gone;         /* a TENSOR: what a call at .loc took as inout; there is a next version */
} Variable;

typedef VEC(Variable) Variables;

typedef struct Scope Scope;

Scope *scope_new(Front *, const Decl *program);
Front *scope_front(const Scope *);

/* ---- blocks: a mark is the number of variables at their begin ---- */

int block_begin(const Scope *);
void block_end(Scope *, int mark); /* reports values that nothing read */

/* ---- bodies ---- */

void body_begin(Scope *, const Decl *, const Binding *); /* binding: of the head to the call; it stays the caller's */
void body_end(Scope *);
int bodies_begun(const Scope *);                /* so far */
bool body_is_called(const Scope *);             /* the innermost is not that of the program itself */
bool body_is_open(const Scope *, const Decl *); /* one of those around is the declaration's */
const Decl *body_decl(const Scope *);
Loc body_call(const Scope *, Loc otherwise); /* where it is called; otherwise: that of the program itself */
void body_check(const Scope *); /* at its end: reports outputs without a value and values that nothing read */

/* ---- variables ---- */

const Variable *variable_find(const Scope *, Name); /* NULL: no variable */
Variable *variable_change(Scope *, Name);           /* the same, to assign to */
Variable *variable_new(Scope *, Variable);
void variable_unread(const Scope *, const Variable *); /* reports a value that nothing read */
bool value_is_fixed(const Scope *, const ProgValue *); /* overlaps a parameter that a called program may not update,
                                                          whatever the caller passed for it */
/* All variables, those of calling bodies too. */
int variable_count(const Scope *);
int variable_base(const Scope *); /* the first of the body */
Variable *variable_at(const Scope *, int);
Variables variables_copy(const Scope *, int mark);  /* from the mark on */
void variables_restore(Scope *, const Variables *); /* the first ones are again as they were copied */

/* ---- dims and element types ---- */

bool dim_of_head(const Scope *, Name, Size *); /* of a called program */
Found dim_find(const Scope *, Name, Loc, Size *);
bool elem_find(const Scope *, Name, Elem *);

/* ---- names as they are used: name.c ---- */

bool name_taken(const Scope *, Name, Loc);       /* reports it */
bool head_name_taken(const Scope *, Name, Loc);  /* reports it; a dim that no type of the head names is hidden */
void name_unknown(const Scope *, const Expr *);  /* reports the name, suggests another */
const Variable *name_use(Scope *, const Expr *); /* a variable whose value an expression reads; NULL after a report */
void names_touch(Scope *, const Expr *);         /* names that an expression reads count as read */
void names_touch_all(Scope *, const Stmts *);
Expr *field_named(const Scope *, const Expr *);       /* w.x as the variable of that name; NULL after a report */

#endif
