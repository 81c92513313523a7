/* coll.c: the table of collectives.
   Takes: the rows of coll.def. Gives: their facts by kind. */
#include "ir/coll.h"

const CollInfo coll_info[COLL_COUNT] = {
#define COLL(kind, word, lowering, ...) [COLL_##kind] = {.name = word, __VA_ARGS__},
#include "ir/coll.def"
#undef COLL
};

const char *const coll_argument_text[] = {[ARG_NONE] = "", [ARG_SHIFT] = "shift", [ARG_ROOT] = "root"};
