/* isl_context.c: isl reports failed allocations as an error of its context; the library of integers below it would
 * abort. */
#include "ir/isl_context.h"

#include "base/arena.h"

#include <errno.h>
#include <gmp.h>
#include <isl/options.h>
#include <stdlib.h>

static void *integer_alloc(size_t n) { return mem_realloc(NULL, n); }

static void *integer_realloc(void *p, size_t held, size_t n) {
    (void)held;
    return mem_realloc(p, n);
}

static void integer_free(void *p, size_t held) {
    (void)held;
    free(p);
}

isl_ctx *isl_context_open(unsigned long operations) {
    mp_set_memory_functions(integer_alloc, integer_realloc, integer_free);
    isl_ctx *c = isl_ctx_alloc();
    if (!c) fatal_oom();
    errno = 0; /* isl's own record keeps only the last error */
    isl_options_set_on_error(c, ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(c, operations);
    return c;
}

void isl_context_check(isl_ctx *c) {
    if (isl_ctx_last_error(c) == isl_error_alloc || errno == ENOMEM) fatal_oom();
}

void isl_context_close(isl_ctx *c) {
    isl_context_check(c);
    isl_ctx_free(c);
}
