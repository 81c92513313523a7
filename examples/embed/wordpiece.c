#include "wordpiece.h"

#include <stdlib.h>
#include <string.h>

typedef enum { LETTER, SPACE, DROPPED, PUNCTUATION, IDEOGRAPH } Kind;

#include "unicode.h"

enum { RUNS = sizeof runs / sizeof *runs, CHANGES = sizeof changes / sizeof *changes };
enum { LONGEST = 100, CHARACTER = 4 }; /* characters of a word; bytes of one */

/* The word that is being read, behind room for "##", and the pieces so far. */
typedef struct {
    const Vocabulary *v;
    int32_t *id;
    int n, most;
    int characters; /* of the word; more than LONGEST: not kept */
    int at[LONGEST + 1];
    char word[2 + LONGEST * CHARACTER + 1];
} Tokens;

/* ---- characters ---- */

/* The next character of UTF-8; 0xfffd, which is dropped, for bytes that are none. */
static uint32_t character_next(const unsigned char **s) {
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint32_t c = *(*s)++;
    int more = c < 0x80 ? 0 : c >= 0xc0 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xf0 && c < 0xf8 ? 3 : -1;
    if (more <= 0) return more ? 0xfffd : c;
    c &= 0x3fu >> more;
    for (int i = 0; i < more; i++) {
        if ((**s & 0xc0) != 0x80) return 0xfffd;
        c = c << 6 | (*(*s)++ & 0x3f);
    }
    return c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0xfffd : c;
}

static int character_put(char *to, uint32_t c) {
    if (c < 0x80) return *to = (char)c, 1;
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint32_t head[] = {0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(head[more] | c >> 6 * more);
    for (int i = 1; i <= more; i++) to[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
    return more + 1;
}

static Kind kind_of(uint32_t c) {
    int low = 0, high = RUNS;
    while (low < high) {
        int middle = (low + high) / 2;
        if (c < runs[middle].first)
            high = middle;
        else if (c > runs[middle].last)
            low = middle + 1;
        else
            return runs[middle].kind;
    }
    return LETTER;
}

/* Without accents, in lower case: up to three characters, ended by 0. Hangul syllables are their parts (Unicode, 3.12).
 */
static void character_change(uint32_t c, uint32_t to[4]) {
    const uint32_t syllable = c - 0xac00;
    int low = 0, high = CHANGES;
    memset(to, 0, 4 * sizeof *to);
    to[0] = c;
    if (syllable < 11172) {
        to[0] = 0x1100 + syllable / 588, to[1] = 0x1161 + syllable % 588 / 28;
        to[2] = syllable % 28 ? 0x11a7 + syllable % 28 : 0;
    }
    while (low < high) {
        int middle = (low + high) / 2;
        if (c == changes[middle].from) memcpy(to, changes[middle].to, 4 * sizeof *to);
        if (c <= changes[middle].from)
            high = middle;
        else
            low = middle + 1;
    }
}

/* ---- pieces ---- */

static int compare_pieces(const void *a, const void *b) {
    const Piece *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : x->id < y->id ? -1 : x->id > y->id;
}

/* The last of equal pieces; -1: none. */
static int32_t piece_find(const Vocabulary *v, const char *text) {
    int low = 0, high = v->count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (strcmp(v->sorted[middle].text, text) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low && !strcmp(v->sorted[low - 1].text, text) ? v->sorted[low - 1].id : -1;
}

static void piece_put(Tokens *t, int32_t id) {
    if (t->n < t->most) t->id[t->n++] = id;
}

/* The longest piece of characters begin .. *end; shortens *end. */
static int32_t piece_longest(Tokens *t, int begin, int *end) {
    char *from = t->word + t->at[begin] - (begin ? 2 : 0);
    const char saved[2] = {from[0], from[1]};
    int32_t id = -1;
    if (begin) memcpy(from, "##", 2);
    for (; *end > begin && id < 0; (*end)--) {
        char *stop = t->word + t->at[*end], cut = *stop;
        *stop = 0;
        id = piece_find(t->v, from);
        *stop = cut;
        if (id >= 0) break;
    }
    if (begin) memcpy(from, saved, 2);
    return id;
}

static void word_end(Tokens *t) {
    int begin = 0, first = t->n;
    while (t->characters <= LONGEST && begin < t->characters) {
        int end = t->characters;
        int32_t id = piece_longest(t, begin, &end);
        if (id < 0) break;
        piece_put(t, id);
        begin = end;
    }
    if (begin < t->characters) {
        t->n = first;
        piece_put(t, t->v->unknown);
    }
    t->characters = 0;
}

static void word_add(Tokens *t, uint32_t c) {
    if (t->characters == 0) t->at[0] = 2;
    if (t->characters < LONGEST) {
        t->at[t->characters + 1] = t->at[t->characters] + character_put(t->word + t->at[t->characters], c);
        t->word[t->at[t->characters + 1]] = 0;
    }
    t->characters++;
}

static void character_add(Tokens *t, uint32_t c) {
    Kind kind = kind_of(c);
    if (kind == DROPPED) return;
    if (kind == SPACE || kind == IDEOGRAPH) word_end(t);
    if (kind == SPACE) return;
    uint32_t to[4];
    character_change(c, to);
    for (int i = 0; i < 4 && to[i]; i++) {
        bool apart = kind_of(to[i]) == PUNCTUATION;
        if (apart) word_end(t);
        if (kind_of(to[i]) == SPACE)
            word_end(t);
        else
            word_add(t, to[i]);
        if (apart) word_end(t);
    }
    if (kind == IDEOGRAPH) word_end(t);
}

/* [SEP] and its like stand for themselves. */
static bool special_add(Tokens *t, const unsigned char **s) {
    static const char *const special[] = {"[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"};
    for (int i = 0; i < 5; i++) {
        size_t n = strlen(special[i]);
        if (strncmp((const char *)*s, special[i], n) != 0) continue;
        word_end(t);
        int32_t id = piece_find(t->v, special[i]);
        piece_put(t, id < 0 ? t->v->unknown : id);
        return *s += n, true;
    }
    return false;
}

int pieces_of(const Vocabulary *v, const char *text, int32_t *id, int most) {
    Tokens t = {.v = v, .id = id, .most = most - 1};
    const unsigned char *s = (const unsigned char *)text;
    piece_put(&t, v->begin);
    while (*s)
        if (!special_add(&t, &s)) character_add(&t, character_next(&s));
    word_end(&t);
    id[t.n++] = v->end;
    return t.n;
}

/* ---- the vocabulary ---- */

static int count_lines(const char *bytes, size_t n) {
    int lines = n && bytes[n - 1] != '\n';
    for (size_t i = 0; i < n; i++) lines += bytes[i] == '\n';
    return lines;
}

static bool special_find(const Vocabulary *v, const char *path, const char *name, int32_t *id, Reason *why) {
    *id = piece_find(v, name);
    return *id >= 0 || reason_set(why, "%s: %s is missing", path, name);
}

bool vocabulary_read(Vocabulary *v, const char *path, Reason *why) {
    size_t n;
    *v = (Vocabulary){0};
    if (!file_read(path, &v->bytes, &n, why)) return false;
    v->count = count_lines(v->bytes, n);
    v->sorted = malloc(((size_t)v->count + 1) * sizeof *v->sorted);
    if (!v->sorted) return reason_set(why, "%s: out of memory", path);
    char *line = v->bytes;
    for (int i = 0; i < v->count; i++) {
        v->sorted[i] = (Piece){line, i};
        line += strcspn(line, "\n");
        *line++ = 0;
    }
    qsort(v->sorted, (size_t)v->count, sizeof *v->sorted, compare_pieces);
    return special_find(v, path, "[UNK]", &v->unknown, why) && special_find(v, path, "[CLS]", &v->begin, why) &&
           special_find(v, path, "[SEP]", &v->end, why);
}

void vocabulary_free(Vocabulary *v) {
    free(v->bytes);
    free(v->sorted);
}
