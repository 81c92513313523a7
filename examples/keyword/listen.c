/* listen.c: keyword_q15 or keyword_q7 on a machine without an operating system: no allocation, no floats. Prints the scores
   and the class of each sound that export.py put into its header. cc -DQ7 for q7. The machine's file gives `put`. */
#ifdef Q7
#include "keyword_q7.h"
#include "q7.h"
#define RUN(name) keyword_q7_##name
#define SIZE keyword_q7_ARENA_BYTES
#else
#include "keyword_q15.h"
#include "q15.h"
#define RUN(name) keyword_q15_##name
#define SIZE keyword_q15_ARENA_BYTES
#endif

enum { CLASSES = 12, SOUND = 49 * 10, SOUNDS = sizeof words };

void put(const char *text); /* writes a line's part */

static _Alignas(64) unsigned char arena[SIZE];

static void put_number(int32_t n) {
    char text[12], *at = text + sizeof text - 1;
    uint32_t left = n < 0 ? 0u - (uint32_t)n : (uint32_t)n;
    *at = 0;
    do *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (n < 0) *--at = '-';
    put(at);
}

static int best(const int32_t *score) {
    int at = 0;
    for (int i = 1; i < CLASSES; i++)
        if (score[i] > score[at]) at = i;
    return at;
}

int listen(void) {
    int right = 0;
    for (int i = 0; i < SOUNDS; i++) {
        int32_t score[CLASSES];
        const RUN(args) args = {.x = sounds + SOUND * i, .score = score, WEIGHTS};
        if (RUN(run)(&args, arena)) return 1;
        for (int c = 0; c < CLASSES; c++) put_number(score[c]), put(" ");
        put("class "), put_number(best(score)), put("\n");
        right += best(score) == words[i];
    }
    put_number(right), put(" of "), put_number(SOUNDS), put(" right\n");
    return 0;
}
