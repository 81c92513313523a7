/* fail_alloc.c: preloaded into a command, fails the n-th allocation of the whole process, libraries included.
   FAIL_ALLOC=n says which (0: none); FAIL_ALLOC_COUNT=FILE gets the number of allocations at exit. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static long first_failing, allocations;
static int counting;

__attribute__((constructor)) static void begin(void) {
    const char *n = getenv("FAIL_ALLOC");
    first_failing = n ? strtol(n, NULL, 10) : 0;
    unsetenv("FAIL_ALLOC");
    counting = 1;
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("FAIL_ALLOC_COUNT");
    counting = 0;
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f) return;
    fprintf(f, "%ld\n", allocations);
    fclose(f);
}

static int must_fail(void) {
    if (!counting || __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED) != first_failing) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n) { return must_fail() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t each) { return must_fail() ? NULL : __libc_calloc(n, each); }
void *realloc(void *p, size_t n) { return must_fail() ? NULL : __libc_realloc(p, n); }
