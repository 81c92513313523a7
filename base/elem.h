/* elem.h: element types, a row each in elem.def, and what is true of them.
   Shared by the language, the IR and arrays in files. */
#ifndef TILEC_BASE_ELEM_H
#define TILEC_BASE_ELEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
#define ELEM(name, text, bits, class, c) ELEM_##name,
#include "base/elem.def"
#undef ELEM
    ELEM_COUNT
} Elem;

const char *elem_text(Elem);
int elem_bits(Elem);
extern const char elem_class[ELEM_COUNT]; /* of elem.def: I, U, F, B */
static inline bool elem_is_float(Elem e) { return elem_class[e] == 'F'; }
bool elem_is_int(Elem); /* bool is not an integer */
int elem_value_bits(Elem); /* of a value outside of tensors: packed elements take a byte */
bool elem_is_packed(Elem); /* several elements a byte: the first in the lowest bits; rows follow without gaps */
const char *elem_c(Elem);
bool elem_parse(const char *text, Elem *);
Elem elem_arith(Elem); /* the type arithmetic happens in: f32 for floats of 16 bits and less, i32 for packed integers */
Elem elem_wider(Elem, Elem);      /* of one kind; of two different types of one width: f32 or i32 */
bool elem_holds(Elem, int64_t);   /* an integer type, without wrapping */
Elem elem_to_hold(Elem, int64_t); /* the integer type, or i32 or i64 where it does not hold the number */
Elem elem_accum(Elem); /* the type products are summed in: f32, f64 for f64; i32, i64 for i64 */

#endif
