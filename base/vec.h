/* vec.h: growing arrays in an arena. VEC(T) has .p, .n and .cap. */
#ifndef TILEC_BASE_VEC_H
#define TILEC_BASE_VEC_H

#include "base/arena.h"

#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *p;                                                                                      \
        int n, cap;                                                                                \
    }

void vec_grow(Arena *, void *p, int n, int *cap, size_t each); /* p: address of the array pointer */

/* Appends x; the old array stays in the arena, so pointers into a vector do not survive a push. */
#define vec_push(arena, v, x)                                                                      \
    ((v)->n == (v)->cap ? vec_grow((arena), &(v)->p, (v)->n, &(v)->cap, sizeof *(v)->p) : (void)0, \
     (void)((v)->p[(v)->n++] = (x)))

/* Gives v, a copy of another one, an array of its own. */
#define vec_copy(arena, v)                                                                         \
    ((v)->p = (v)->n ? arena_copy((arena), (v)->p, sizeof *(v)->p * (size_t)(v)->n) : NULL,        \
     (void)((v)->cap = (v)->n))

#define vec_last(v) ((v)->p[(v)->n - 1])

#endif
