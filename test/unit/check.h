/* check.h: one macro for the unit tests: a failed check is printed with its place and counted. */
#ifndef TILEC_TEST_CHECK_H
#define TILEC_TEST_CHECK_H

#include <stdio.h>

#define CHECK(condition) ((condition) ? 0 : check_failed(&failures, __FILE__, __LINE__, #condition))

static inline int check_failed(int *failures, const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    return ++*failures;
}

#endif
