/* kernel.h: shared by the files that lower kernels (kernel*.c); nobody else includes it.
   bind -> scope -> statements -> expressions; one Kern per instance, its errors go to the module's diagnostics. */
#ifndef TILEC_FRONTEND_KERNEL_KERNEL_H
#define TILEC_FRONTEND_KERNEL_KERNEL_H

#include "frontend/kernel/scope.h"

enum { TILE_LIMIT = 1 << 24 }; /* positions a tile along a range */

typedef struct Kern {
    Lower *lw;
    Module *m;
    Arena *arena;
    Diags *diags;
    const Binding *bound;
    Builder b;
    KernScope *scope;
    VEC(Size) range_of; /* of each Range of the kernel: the dimension it runs over, 0 where unknown */
    VEC(const RangeDecl *) range_decl; /* and as it was written */
    VEC(int) inside;    /* of each Range: the range whose positions it goes through in order; -1 */
    Op *head;           /* the last load of a scalar argument at the kernel's head */
    VEC(int) loop;      /* ranges of the loops around */
    VEC(Op *) store;
    bool *stored; /* per Param: on every path so far */
    int stamp;    /* of the last set of entries collected */
    bool in_merge;
    bool in_task;    /* inside `each` */
    bool in_index;   /* inside a subscript: ranges stand for their positions */
    bool local_dims; /* inside a bound: names of dimensions are local extents */
    Size bound_dim;  /* the split dimension named in a bound */
    const TunedEntry *tuned; /* sizes for this instance; NULL: as written */
    bool checking;   /* sizes are guesses: no judgement that depends on them */
} Kern;

/* kernel.c: lowers a kernel whose binding is known; NULL after errors. */
Kernel *kernel_lower(Lower *, const Binding *, Name name, bool checking);

/* tuned.c: measured sizes in the place of written ones */
const TunedEntry *tuned_entry(const Kern *);    /* the last that fits the instance, or NULL */
bool tuned_size(Kern *, const RangeDecl *, Range *); /* its size of a range, if any; false after an error */
void tuned_check(Kern *);                       /* after the body: names that mean nothing */
void tuned_site(Kern *);                        /* records the instance for LowerOptions.sites */

/* size.c */
void sizes_check(Kern *); /* of tiles that the meaning depends on: declared as meant, or reported */

/* limit.c */
void tiles_check(Kern *);

/* inout.c: parameters that are updated in place */
void inouts_check(Kern *);
bool store_is_unique(const Kern *, const Span *, int n); /* goes to places of a `unique` parameter */

/* sum.c: += to places that tasks share */
bool store_is_sum(const Kern *, const Stmt *, const Entry *target, const Span *, int n);
StoreMode sum_mode(Kern *, int param); /* and what is summed into has a value before */
bool param_is_summed(Kern *, int param);
int shifted_range(const Affine *); /* of a subscript `range + c`; -1: it is another */
void covers_check(Kern *);         /* cover.c */
void sums_check(Kern *);

/* self.c: results that the kernel reads */
void self_check(Kern *);
void kernel_warn(Kern *); /* warn.c: of a lowered body without dead code */

/* field.c */
const Expr *field_name(Kern *, const Expr *); /* w.x as the name of a parameter; else the expression itself */

/* flow.c, assign.c, store.c */
void stmt_lower(Kern *, const Stmt *);
void stmts_lower(Kern *, const Stmts *);
void assign_lower(Kern *, const Stmt *);
void let_lower(Kern *, const Stmt *);
void store_lower(Kern *, const Stmt *, const Expr *target);
Type variable_type(Kern *, Entry *);    /* fixes it */
Value *variable_value(Kern *, Entry *); /* as a tile of exactly that type */
void variable_update(Kern *, Entry *, Val, Loc);

/* print.c */
void print_lower(Kern *, const Stmt *);
void assert_lower(Kern *, const Stmt *); /* of dimensions and constants; in a task, of values */

/* view.c: let X = view(x, [..]); a tensor of other extents */
bool is_view(const Expr *);
void view_declare(Kern *, const Stmt *let);
/* The places in the tensor of an element of its view; *exists: where there is one, NULL: everywhere. */
bool view_subscripts(Kern *, const Expr *, const Entry *view, Span *sub, Value **exists);

/* range.c */
bool extent_lower(Kern *, const Expr *, Size *);
int range_declare(Kern *, const RangeDecl *, bool grid, bool last, int starts); /* starts: as Range.starts; -1 after errors */
Entry *range_named(Kern *, const Expr *); /* the range an expression names, or NULL without a report */
int range_stands_for(const Kern *, int range); /* that whose positions it goes through, else itself */
Val range_function(Kern *, const Expr *call);

/* ragged.c: groups of positions, which an ascending parameter bounds */
typedef struct {
    const RangeDecl *group, *rows; /* e of n; i: 128 of m in start[e] .. start[e + 1] */
    int param;                     /* start */
} Ragged;
bool ragged_has_group(const Stmt *each, int range); /* a later range has its bounds by this one, which is no range then */
bool ragged_find(Kern *, const Stmt *each, int range, Ragged *); /* reports; the range has bounds */
void ragged_open(Kern *, const Ragged *, int range);             /* the group's name is in scope from here on */

/* value.c */
Val val_tile(Value *);
Val val_index(Kern *, Affine);
Val val_int(int64_t);
Val val_float(double);
Val val_bool(bool);
extern const Val val_error;
bool val_is_const(Val);
Type val_type(const Kern *, Val);
Value *val_value(Kern *, Val);      /* makes the operations */
Value *val_as(Kern *, Val, Elem);   /* the same converted; constants are made in that type */
Val val_convert(Kern *, Val, Elem); /* f32(x) and the like */
/* What a variable or result of element type e takes: reports a change of class or a loss; NULL after errors. */
Value *val_assign(Kern *, Val, Elem, Loc, const char *what);
bool vals_unify(Kern *, const Val *, int n, Elem *, Loc); /* the type that arithmetic on these happens in */
bool types_fit(Kern *, Type, Type, Loc);                  /* their union has at most SOURCE_RANGES ranges, else reports */
const char *tile_text(Kern *, Type);

/* expr.c, arith.c, fold.c, affine.c, index.c, call.c, reduce.c */
Val expr_lower(Kern *, const Expr *);
Val condition_lower(Kern *, const Expr *);           /* a scalar bool */
bool const_of_expr(Kern *, const Expr *, int64_t *); /* must be known at compile time, else reports */
Val arith_binary(Kern *, AstOp, Val, Val, Loc);
Val arith_assign(Kern *, AssignOp, Val held, Val, Loc); /* x += y and the like */
bool arith_sums(Kern *, AssignOp, Elem, Loc); /* places that tasks share take += or -= of that type; reports if not */
Val arith_unary(Kern *, OpKind, Val, Loc);
Val arith_matmul(Kern *, Val, Val, Loc);
Val arith_op(Kern *, OpKind, Val, Val, Loc);
Val arith_select(Kern *, Val cond, Val, Val, Loc);
Val arith_contract(Kern *, Val, Val, const int16_t *over, int nover, Loc);
bool fold_binary(Kern *, AstOp, Val, Val, Loc, Val *);
bool fold_unary(OpKind, Val, Val *);
Affine affine_of(const Val *);
bool is_affine(Val);
Val subscript_value(Kern *, const Expr *);
Value *index_value(Kern *, const Affine *);
bool subscripts_lower(Kern *, const Expr *, const Entry *, Span *);
Val load_lower(Kern *, const Expr *);
Val call_lower(Kern *, const Expr *);
Val reduce_lower(Kern *, const Expr *, OpKind);

#endif
