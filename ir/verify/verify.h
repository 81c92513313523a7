/* verify.h: what the parts of the verifier share. */
#ifndef TILEC_IR_VERIFY_VERIFY_H
#define TILEC_IR_VERIFY_VERIFY_H

#include "ir/uses.h"

typedef struct {
    const Module *m;
    Arena *scratch;
    int violations;
    const char *what; /* "kernel" or "program", and its name: each message begins with them */
    Name name;
    const Kernel *k;
    bool *range_open;         /* ranges in scope here */
    bool *range_looped;       /* ranges that have their loop */
    const Value **value;      /* by id: where defined so far */
    bool *visible;            /* by id: defined here or in an enclosing region */
    VEC(const Value *) scope; /* the visible ones, innermost last */
    const struct Role *role;  /* whose body this is; NULL: the kernel's, or its roles' scalars */
    int depth;
    Uses uses;                /* of .k, where its layouts are looked at */
    int *writer;              /* by tensor of the program: 1 + the argument of this call that writes it; 0 between calls */
} Verifier;

enum { VERIFY_NESTING = 256 };
#define VERIFY_FACTOR ((int64_t)1 << 31) /* largest factor and divisor of a term, and tile size */

void violation(Verifier *, Loc, const char *format, ...) __attribute__((format(printf, 3, 4)));

bool size_verify(Verifier *, Loc, Size);    /* the symbol and the axis exist */
bool extent_verify(Verifier *, Loc, Size);  /* also not negative */
bool axis_verify(Verifier *, Loc, int axis);
bool axis_list_verify(Verifier *, Loc, int axes);                    /* each once */
void shape_verify(Verifier *, Loc, const Size *dim, int ndim, Elem); /* extents and their product in bytes */
bool range_verify(Verifier *, Loc, int range); /* in scope */
bool affine_verify(Verifier *, Loc, const Affine *);
bool type_verify(Verifier *, Loc, Type);    /* ranges in order and in scope */
bool type_unite(Verifier *, Loc, Type *, Type other); /* as type_union, within MAX_RANGES */
const char *type_text(Verifier *, Type);    /* for messages */

void kernel_verify(Verifier *, const Kernel *);
void region_verify(Verifier *, const Region *, const Op *parent);
void op_verify(Verifier *, const Op *);       /* all but those with regions; operands are visible */
void access_verify(Verifier *, const Op *);
void group_verify(Verifier *, const Op *);
bool access_type(Verifier *, const Op *, Type *); /* of what the subscripts name; false: they are not those of the parameter */
void roles_verify(Verifier *, const Kernel *);        /* after kernel_verify found nothing */
void role_op_verify(Verifier *, const Op *);
void role_attributes_verify(Verifier *, const Op *);  /* what only roles have, of operations that others have too */
void role_loop_verify(Verifier *, const Op *);
void sync_verify(Verifier *, const Op *);
void result_expect(Verifier *, const Op *, Type); /* one result of this type */
void plan_verify(Verifier *, const Kernel *);
void kernel_layout_verify(Verifier *, const Kernel *); /* after kernel_verify found nothing */
void program_verify(Verifier *, const Program *);
void flags_verify(Verifier *, const Program *);

#endif
