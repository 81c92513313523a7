/* spell.c: the nearest known word to a misspelt one.
   Distance counts insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
#include "base/diag.h"

#include <string.h>

enum { WORD = 64 };

static int min2(int a, int b) { return a < b ? a : b; }

static int word_distance(const char *a, int na, const char *b, int nb) {
    int row[3][WORD + 1]; /* row[i % 3][j]: distance of a's first i letters to b's first j */
    for (int j = 0; j <= nb; j++) row[0][j] = j;
    for (int i = 1; i <= na; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *second = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= nb; j++) {
            now[j] = min2(before[j - 1] + (a[i - 1] != b[j - 1]), min2(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = min2(now[j], second[j - 2] + 1);
        }
    }
    return row[na % 3][nb];
}

const char *spelling_nearest(const char *word, const char *const *candidate, int n) {
    size_t len = strlen(word);
    const char *best = NULL;
    if (len > WORD) return NULL;
    int limit = len < 2 ? 0 : len < 5 ? 1 : (int)(len + 1) / 3;
    for (int i = 0; i < n; i++) {
        size_t other = strlen(candidate[i]);
        if (other > WORD || other > len + (size_t)limit || len > other + (size_t)limit) continue;
        int distance = word_distance(word, (int)len, candidate[i], (int)other);
        if (distance == 0 || distance > limit || (size_t)distance >= len) continue;
        best = candidate[i];
        limit = distance - 1;
    }
    return best;
}
