/* familiar.c: names of functions that users bring along.
   Takes an unknown name; gives a note. */
#include "frontend/sema/familiar.h"

#include "base/diag.h"
#include "base/elem.h"

#include <stddef.h>
#include <string.h>

typedef struct {
    const char *name, *note;
} Familiar;

static const char *note_of(const Familiar *f, const char *name) {
    while (f->name && strcmp(f->name, name) != 0) f++;
    return f->note;
}

const char *familiar_in_kernel(const char *name) {
    static const Familiar list[] = {
        {"maximum", "the larger of two is max(x, y), the largest along a range max(x, j)"},
        {"minimum", "the smaller of two is min(x, y), the smallest along a range min(x, j)"},
        {"clamp", "write min(max(x, lo), hi)"},
        {"clip", "write min(max(x, lo), hi)"},
        {"mean", "write sum(x, j) / f32(n), n the dimension that j is a range of"},
        {"dot", "x @ y contracts the ranges that both have"},
        {"matmul", "x @ y contracts the ranges that both have; kernels are called by programs"},
        {"power", "write pow(x, y)"},
        {"select", "write where(condition, x, y)"},
        {"arange", "the positions of a range i are pos(i)"},
        {"transpose", "ranges have no order: a[j, i] is the transposed tile of a[i, j]"},
        {"softmax", "write e = exp(x - max(x, j)), then e / sum(e, j), j: * of a dimension"},
        {NULL, NULL}};
    return note_of(list, name);
}

const char *familiar_in_program(const char *name) {
    static const Familiar list[] = {
        {"sum", "of tiles, in kernels; of matrices there are sum_rows and sum_columns"},
        {"any", "of tiles, in kernels"},
        {"all", "of tiles, in kernels"},
        {"mean", "of matrices there are mean_rows and mean_columns"},
        {"argmax", "of tiles, in kernels; of matrices there is argmax_rows"},
        {"argmin", "of tiles, in kernels; of matrices there is argmin_rows"},
        {"cumsum", "of tiles, in kernels; of matrices there is cumsum_rows"},
        {"maximum", "write max(x, y)"},
        {"minimum", "write min(x, y)"},
        {"dot", "write matmul(a, b)"},
        {"reshape", "write view(x, [n, m])"},
        {"concat", "of matrices there is join_columns"},
        {"layer_norm", "write layernorm(x, w, b)"},
        {"rms_norm", "write rmsnorm(x, w)"},
        {NULL, NULL}};
    return note_of(list, name);
}

const char *familiar_elem(const char *name) {
    static const Familiar list[] = {
        {"float", "f32"},    {"float32", "f32"},   {"double", "f64"}, {"float64", "f64"}, {"half", "f16"},
        {"float16", "f16"},  {"bfloat16", "bf16"}, {"int", "i32"},    {"int32", "i32"},   {"long", "i64"},
        {"int64", "i64"},    {"short", "i16"},     {"int16", "i16"},  {"char", "i8"},     {"int8", "i8"},
        {"uint8", "u8"},     {"byte", "u8"},       {"int4", "i4"},    {NULL, NULL}};
    const char *same = note_of(list, name), *all[ELEM_COUNT];
    for (int i = 0; i < ELEM_COUNT; i++) all[i] = elem_text((Elem)i);
    return same ? same : spelling_nearest(name, all, ELEM_COUNT);
}
