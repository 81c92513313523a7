/* isl_context.c: contexts of isl that survive failed allocations. isl reports these as an error of its context, but
   in some places reads through NULL first. The library of integers below isl would abort. */
#include "ir/poly/isl_context.h"

#include "base/arena.h"

#include <errno.h>
#include <gmp.h>
#include <isl/options.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { NEAR_NULL = 4096 };

static void *integer_alloc(size_t n) { return mem_realloc(NULL, n); }

static void *integer_realloc(void *p, size_t held, size_t n) {
    (void)held;
    return mem_realloc(p, n);
}

static void integer_free(void *p, size_t held) {
    (void)held;
    free(p);
}

/* ---- reads through NULL after a failed allocation ---- */

/* Raised by isl's own access, not inside the C library: its functions may be called. Anything else crashes as ever. */
static void crash(int number, siginfo_t *at, void *unused) {
    (void)unused;
    if (errno == ENOMEM && (uintptr_t)at->si_addr < NEAR_NULL) fatal_oom();
    signal(number, SIG_DFL);
}

static bool is_handler(void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction now;
    if (sigaction(SIGSEGV, NULL, &now)) return false;
    return handler ? (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handler : now.sa_handler == SIG_DFL;
}

static void crashes_catch(void) {
    struct sigaction to = {.sa_sigaction = crash, .sa_flags = SA_SIGINFO};
    if (is_handler(NULL)) sigaction(SIGSEGV, &to, NULL);
}

static void crashes_release(void) {
    if (is_handler(crash)) signal(SIGSEGV, SIG_DFL);
}

/* ---- contexts ---- */

isl_ctx *isl_context_open(unsigned long operations) {
    mp_set_memory_functions(integer_alloc, integer_realloc, integer_free);
    crashes_catch();
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
    crashes_release();
}
