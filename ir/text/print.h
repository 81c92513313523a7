/* print.h: what the parts of the printer share. The text form is described in docs/reference/ir.md. */
#ifndef TILEC_IR_TEXT_PRINT_H
#define TILEC_IR_TEXT_PRINT_H

#include "base/text.h"
#include "ir/ir.h"
#include "base/name_map.h"

typedef struct {
    Text out;
    const Module *m;
    Arena *scratch;
    const Kernel *k;  /* the kernel being printed */
    NameMap taken;    /* names of its parameters and values */
    NameMap ranges;   /* names of its ranges */
    Name *param, *value, *range;
    int *order;       /* of its ranges: position in the text */
    int nvalue, nrange, unnamed, depth;
    Name *kernel;     /* by Kernel.id */
} Printer;

bool text_is_word(const char *);
void print_name(Printer *, const char *);
void print_symbol(Printer *, int axis_or_symbol, bool axis);
void print_axes(Printer *, int axes);
void print_size(Printer *, Size);
void print_sizes(Printer *, const Size *, int n);
void print_type(Printer *, Type);
void print_range_name(Printer *, int range);
void print_range_form(Printer *, const Range *); /* behind its name */
void print_param_name(Printer *, int param);
void print_value(Printer *, const Value *);
void print_affine(Printer *, const Affine *);
void print_span(Printer *, const Span *);
void print_float(Printer *, double);
void print_line(Printer *); /* a new line, indented */

void print_kernel(Printer *, const Kernel *);
void print_plan(Printer *, const Plan *);
void print_order(Printer *, const Order *); /* behind `order` */

/* print_op.c */
void print_region(Printer *, const Region *); /* { .. } */
void print_ops(Printer *, const Region *);

/* print_roles.c */
void print_roles(Printer *, const Roles *); /* what stands in front of the body */

/* print_slot.c */
void print_ring_name(Printer *, int ring);
void print_slot(Printer *, const Op *);
void print_part(Printer *, const Op *);
void print_turns(Printer *, const Op *);
void print_label(Printer *, const Op *);

/* Words of the text form, by enumerator; the parser reads the same tables. */
extern const char *const text_level[], *const text_role[], *const text_coll[], *const text_form[], *const text_scope[],
    *const text_tasks[];
enum { TEXT_LEVELS = 4, TEXT_ROLES = 4, TEXT_FORMS = 6, TEXT_SCOPES = 2, TEXT_TASKS = 3 };

#endif
