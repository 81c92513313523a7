/* require.c: the report of a broken contract. */
#include "base/require.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void require_failed(const char *file, int line, const char *condition) {
    fprintf(stderr, "tilec: internal error: %s:%d: %s\n", file, line, condition);
    abort();
}
