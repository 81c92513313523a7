#include "tokenizer.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static bool piece_parse(Piece *p, int token, int most, const char *bytes, size_t size, size_t *at, Reason *why) {
    int32_t length;
    if (size - *at < sizeof p->score + sizeof length)
        return reason_set(why, "byte %zu: the file ends before token %d", *at, token);
    memcpy(&p->score, bytes + *at, sizeof p->score);
    memcpy(&length, bytes + *at + sizeof p->score, sizeof length);
    if (!isfinite(p->score)) return reason_set(why, "byte %zu: the score of token %d is no number", *at, token);
    *at += sizeof p->score;
    if (length < 0 || length > most)
        return reason_set(why, "byte %zu: token %d has %d bytes, the longest has %d", *at, token, length, most);
    *at += sizeof length;
    if (size - *at < (size_t)length) return reason_set(why, "byte %zu: the file ends in token %d", *at, token);
    p->bytes = bytes + *at;
    p->length = length;
    *at += (size_t)length;
    return true;
}

static int bytes_compare(const char *a, int na, const char *b, int nb) {
    int order = memcmp(a, b, (size_t)(na < nb ? na : nb));
    return order ? order : na - nb;
}

/* Equal pieces in the order of their numbers: the first is the one that is found. */
static int token_compare(const void *a, const void *b, void *pieces) {
    const Piece *p = pieces, *x = &p[*(const int *)a], *y = &p[*(const int *)b];
    int order = bytes_compare(x->bytes, x->length, y->bytes, y->length);
    return order ? order : *(const int *)a - *(const int *)b;
}

static bool pieces_parse(Tokenizer *t, const char *bytes, size_t size, Reason *why) {
    int32_t most;
    size_t at = sizeof most;
    if (size < at) return reason_set(why, "byte %zu: the file ends in the header of %zu bytes", size, at);
    memcpy(&most, bytes, sizeof most);
    if (most < 1) return reason_set(why, "byte 0: the longest piece has %d bytes", most);
    for (int i = 0; i < t->n; i++)
        if (!piece_parse(&t->piece[i], i, most, bytes, size, &at, why)) return false;
    if (at < size)
        return reason_set(why, "byte %zu: %zu bytes are left behind the last of %d tokens", at, size - at, t->n);
    return true;
}

bool tokenizer_parse(Tokenizer *t, int n, const char *bytes, size_t size, Reason *why) {
    *t = (Tokenizer){n, calloc((size_t)n, sizeof *t->piece), calloc((size_t)n, sizeof *t->sorted)};
    bool good = t->piece && t->sorted ? pieces_parse(t, bytes, size, why) : reason_set(why, "out of memory");
    if (!good) return tokenizer_free(t), false;
    for (int i = 0; i < n; i++) t->sorted[i] = i;
    qsort_r(t->sorted, (size_t)n, sizeof *t->sorted, token_compare, t->piece);
    return true;
}

void tokenizer_free(Tokenizer *t) {
    free(t->piece);
    free(t->sorted);
    *t = (Tokenizer){0};
}

/* ---- text to tokens ---- */

/* The first token with these bytes, or -1. */
static int token_find(const Tokenizer *t, const char *bytes, int length) {
    int low = 0, high = t->n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const Piece *p = &t->piece[t->sorted[middle]];
        if (bytes_compare(p->bytes, p->length, bytes, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == t->n) return -1;
    const Piece *p = &t->piece[t->sorted[low]];
    return bytes_compare(p->bytes, p->length, bytes, length) == 0 ? t->sorted[low] : -1;
}

static int joined_find(const Tokenizer *t, int a, int b) {
    const Piece *x = &t->piece[a], *y = &t->piece[b];
    char bytes[512];
    if ((size_t)x->length + (size_t)y->length > sizeof bytes) return -1;
    memcpy(bytes, x->bytes, (size_t)x->length);
    memcpy(bytes + x->length, y->bytes, (size_t)y->length);
    return token_find(t, bytes, x->length + y->length);
}

/* A character is a token of its own, or else one token for each byte. */
static int character_encode(const Tokenizer *t, const char *text, int *tokens, int *n) {
    int length = 1;
    while ((text[length] & 0xc0) == 0x80 && length < 4) length++;
    int token = token_find(t, text, length);
    if (token >= 0) tokens[(*n)++] = token;
    for (int i = 0; i < length && token < 0; i++) {
        int byte = TOKEN_BYTE + (unsigned char)text[i];
        tokens[(*n)++] = byte < t->n ? byte : 0;
    }
    return length;
}

/* Joins the two neighbours whose union has the best score; false when no two can be joined. */
static bool tokens_join(const Tokenizer *t, int *tokens, int *n) {
    int best = -1, at = 0;
    for (int i = 1; i + 1 < *n; i++) {
        int joined = joined_find(t, tokens[i], tokens[i + 1]);
        if (joined < 0 || (best >= 0 && t->piece[joined].score <= t->piece[best].score)) continue;
        best = joined;
        at = i;
    }
    if (best < 0) return false;
    tokens[at] = best;
    memmove(&tokens[at + 1], &tokens[at + 2], sizeof *tokens * (size_t)(--*n - at - 1));
    return true;
}

/* As sentencepiece does it, the text begins with a blank. */
int tokenizer_encode(const Tokenizer *t, const char *text, int *tokens) {
    int n = 0;
    tokens[n++] = TOKEN_BEGIN;
    if (*text) character_encode(t, " ", tokens, &n);
    while (*text) text += character_encode(t, text, tokens, &n);
    while (tokens_join(t, tokens, &n)) continue;
    return n;
}

/* ---- tokens to text ---- */

/* Tokens for single bytes are called <0x0A>. */
static bool is_byte(const Tokenizer *t, int token) {
    char name[16];
    int byte = token - TOKEN_BYTE, length = snprintf(name, sizeof name, "<0x%02X>", (unsigned)byte & 0xff);
    const Piece *p = &t->piece[token];
    return byte >= 0 && byte < 256 && p->length == length && memcmp(p->bytes, name, (size_t)length) == 0;
}

void tokenizer_print(const Tokenizer *t, int before, int token, FILE *to) {
    const Piece *p = &t->piece[token];
    int skip = before == TOKEN_BEGIN && p->length > 0 && p->bytes[0] == ' ';
    if (is_byte(t, token))
        fputc(token - TOKEN_BYTE, to);
    else
        fwrite(p->bytes + skip, 1, (size_t)(p->length - skip), to);
}
