/* require.h: contracts of the IR's builders.
   A broken one is an error of the compiler, not of its input: it is reported and the process ends. */
#ifndef TILEC_BASE_REQUIRE_H
#define TILEC_BASE_REQUIRE_H

#define REQUIRE(condition) ((condition) ? (void)0 : require_failed(__FILE__, __LINE__, #condition))

_Noreturn void require_failed(const char *file, int line, const char *condition);

#endif
