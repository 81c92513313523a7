/* roles.h: the argument of the hand-written kernels of the form roles. */
#ifndef TEST_DEVICE_ROLES_H
#define TEST_DEVICE_ROLES_H

#include <stdint.h>

typedef struct {
    int64_t M, N, K, planes;
    void *c;          /* where no map describes it */
    uint64_t *ticket; /* 0 between launches */
    const void *a, *b;
} roles_call;

#endif
