/* train_table.c: reads the table of tilec tune --train. */
#include "driver/train.h"

#include "base/text.h"
#include "ir/text/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_BYTES = 1 << 24, MOST_NAMES = 256 }; /* of a file; features and arms */

typedef struct {
    Arena *arena;
    const char *path;
    int line;
    const char *word[MOST_NAMES + 1];
    int words;
} Table;

static bool wrong(const Table *t, const char *what, const char *word) {
    fprintf(stderr, "tilec: error: %s: line %d: %s%s\n", t->path, t->line, what, word);
    return false;
}

static bool line_split(Table *t, char *line) {
    t->line++;
    for (t->words = 0; line; t->words++) {
        if (t->words > MOST_NAMES) return wrong(t, "too many words", "");
        t->word[t->words] = line;
        line = strchr(line, '\t');
        if (line) *line++ = 0;
    }
    return true;
}

static bool is_name(const char *s) { return text_is_word(s) && !strchr(s, '.'); }

static bool names_read(Table *t, Samples *s) {
    if (t->words < 3 || strcmp(t->word[0], "sample") != 0)
        return wrong(t, "expected 'sample', features and 'us:ARM' of arms", "");
    for (int i = 1; i < t->words; i++) {
        const bool arm = strncmp(t->word[i], "us:", 3) == 0;
        const char *name = t->word[i] + (arm ? 3 : 0);
        if (!is_name(name) || (!arm && s->arm.n))
            return wrong(t, "expected names of features, then of arms, not ", t->word[i]);
        for (int k = 1; k < i; k++)
            if (strcmp(t->word[k], t->word[i]) == 0) return wrong(t, "a name stands there twice: ", t->word[i]);
        if (arm)
            vec_push(t->arena, &s->arm, name);
        else
            vec_push(t->arena, &s->feature, name);
    }
    return s->arm.n > 0 || wrong(t, "no arms", "");
}

static bool number_read(const Table *t, const char *word, bool positive, double *x) {
    char *end;
    *x = strtod(word, &end);
    if (end == word || *end || !isfinite(*x)) return wrong(t, "expected a number, not ", word);
    return !positive || *x > 0 || wrong(t, "no time takes ", word);
}

static bool sample_read(Table *t, Samples *s) {
    const int n = s->feature.n + s->arm.n;
    if (t->words != n + 1) return wrong(t, "another number of words than in the first line", "");
    Sample x = {.name = t->word[0],
                .feature = ARENA_ARRAY(t->arena, double, s->feature.n + 1),
                .us = ARENA_ARRAY(t->arena, double, s->arm.n)};
    for (int i = 0; i < n; i++) {
        const bool arm = i >= s->feature.n;
        if (!number_read(t, t->word[i + 1], arm, arm ? &x.us[i - s->feature.n] : &x.feature[i])) return false;
    }
    vec_push(t->arena, &s->sample, x);
    return true;
}

bool samples_read(Arena *a, const char *path, Samples *s) {
    Text text = {0};
    Table t = {.arena = a, .path = path};
    const char *failed = text_read(&text, path, TABLE_BYTES);
    if (failed) fprintf(stderr, "tilec: error: %s: %s\n", path, failed);
    char *at = failed ? NULL : arena_copy(a, text_str(&text), text.n + 1);
    text_free(&text);
    bool good = !failed;
    while (good && *at) {
        char *end = strchr(at, '\n'), *next = end ? end + 1 : at + strlen(at);
        if (end) *end = 0;
        good = line_split(&t, at) && (t.line == 1 ? names_read(&t, s) : sample_read(&t, s));
        at = next;
    }
    if (good && !t.line) return fprintf(stderr, "tilec: error: %s: the table is empty; its first line names features, then arms\n", path), false;
    return good && (s->sample.n > 0 || wrong(&t, "no samples", ""));
}
