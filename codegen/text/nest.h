/* nest.h: loops around the statements of one step. */
#ifndef TILEC_CODEGEN_TEXT_NEST_H
#define TILEC_CODEGEN_TEXT_NEST_H

#include "codegen/text/fn.h"

/* The innermost loop in blocks, each made in a small array. */
typedef struct {
    const char *begin, *end; /* variables: positions of the block */
    const char *line, *to;   /* the array, and the element in memory where the block begins */
    Elem elem;
    int64_t count;
} Nontemporal;

typedef VEC(const char *) Lines;

/* A check of elements, and the variable that says that none of the loops' elements fails it. */
typedef struct {
    const char *check, *name;
} Whole;

struct Nest {
    Fn *f;
    int n, id;
    int16_t range[MAX_RANGES];  /* outermost first */
    Lines at[MAX_RANGES + 1];    /* inside the first n loops, before the next one */
    Lines after[MAX_RANGES + 1]; /* after the next loop */
    const char *pragma;         /* before the innermost loop, or NULL */
    const char *guard;          /* condition of all loops, or NULL */
    VEC(Whole) whole;
    int chosen;                 /* how many conditions choose the value whose text is made */
    Nontemporal *nontemporal;                 /* of a result that goes past the caches, or NULL */
    const Layout *layout;       /* on a GPU: one loop over a thread's registers, .loop its head; ranges are not loops */
    const char *loop;
};

Nest nest_new(Fn *, const int16_t *range, int n);
void nest_line(Nest *, int depth, const char *format, ...) __attribute__((format(printf, 3, 4)));
void nest_after(Nest *, int depth, const char *format, ...) __attribute__((format(printf, 3, 4)));
void nest_print(Nest *);
int nest_depth(const Nest *, const Type *);
const CExpr *nest_value(Nest *, const Value *);      /* of the element that the loops are at */
const CExpr *nest_definition(Nest *, const Value *); /* the same, computed now even where it is held in memory */
const CExpr *nest_tile(Nest *, const Tile *);        /* that element of a tile, by the loops' ranges */
const CExpr *nest_affine(Nest *, const Affine *);
int nest_affine_depth(const Nest *, const Affine *);
const CExpr *nest_convert(Nest *, Elem to, Elem from, const CExpr *);
/* C type of a tensor's memory. */
const char *memory_c(Elem);
const char *conjoin(Fn *, const char *a, const char *b);                /* of two conditions, NULL: always */
const CExpr *nest_number(Nest *, const Op *access);                     /* of the element in its tensor's memory */
const char *nest_inside(Nest *, const Op *access, int d);               /* a subscript is; NULL: certainly */
const CExpr *nest_element(Nest *, const Op *access);                    /* the lvalue, inside the tensor or not */
const CExpr *nest_place(Nest *, const Op *access, const char **inside); /* the lvalue; *inside: condition or NULL */
const CExpr *nest_row_place(Nest *, const Op *access,
                            const char **inside);                /* the same; the last subscript may be anywhere */
const CExpr *op_text(Fn *, const Op *, const CExpr *const *arg); /* expression of an elementwise operation */
const CExpr *literal_text(Fn *, Elem, const Op *);

#endif
