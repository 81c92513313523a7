#include "sliced.h"

#include <stdlib.h>

enum { WINDOW = 32 * SLICE }; /* rows that are sorted together: their results stay near each other */

static int row_length(const Matrix *m, int i) { return m->ptr[i + 1] - m->ptr[i]; }

int sliced_longest(const Matrix *m) {
    const int mean = m->rows ? m->entries / m->rows : 0;
    return 4 * mean + 16;
}

typedef struct {
    int length, row;
} Placed;

/* Longer rows first; rows of one length in their order. */
static int compare(const void *a, const void *b) {
    const Placed *x = a, *y = b;
    return x->length != y->length ? y->length - x->length : x->row - y->row;
}

static void count(Sliced *s, const Matrix *m, int longest) {
    for (int i = 0; i < m->rows; i++) {
        const bool is_long = row_length(m, i) > longest;
        s->long_rows += is_long;
        s->long_entries += is_long ? row_length(m, i) : 0;
        s->pieces += is_long ? (row_length(m, i) + PIECE - 1) / PIECE : 0;
    }
    s->rows = m->rows - s->long_rows;
    s->slices = (s->rows + SLICE - 1) / SLICE;
}

static void rows_part(Sliced *s, const Matrix *m, int longest, Placed *placed) {
    int n = 0, many = 0;
    for (int i = 0; i < m->rows; i++)
        if (row_length(m, i) > longest)
            s->long_row[many++] = i;
        else
            placed[n++] = (Placed){row_length(m, i), i};
    for (int i = 0; i < n; i += WINDOW)
        qsort(placed + i, (size_t)(n - i < WINDOW ? n - i : WINDOW), sizeof *placed, compare);
    for (int i = 0; i < n; i++) s->row[i] = placed[i].row;
    s->start[0] = 0;
    for (int b = 0; b < s->slices; b++) {
        int most = 0;
        for (int i = b * SLICE; i < n && i < (b + 1) * SLICE; i++)
            most = placed[i].length > most ? placed[i].length : most;
        s->start[b + 1] = s->start[b] + most * SLICE;
    }
    s->entries = s->start[s->slices];
}

static void fill(Sliced *s, const Matrix *m) {
    for (int e = 0; e < s->entries; e++) s->col[e] = -1, s->val[e] = 0;
    for (int i = 0; i < s->rows; i++)
        for (int k = 0, from = m->ptr[s->row[i]]; k < row_length(m, s->row[i]); k++) {
            const int to = s->start[i / SLICE] + k * SLICE + i % SLICE;
            s->col[to] = m->col[from + k], s->val[to] = (float)m->val[from + k];
        }
}

static void pieces_fill(Sliced *s, const Matrix *m) {
    int piece = 0, to = 0;
    s->piece[0] = 0;
    for (int i = 0; i < s->long_rows; i++) {
        const int begin = m->ptr[s->long_row[i]], end = m->ptr[s->long_row[i] + 1];
        s->first[i] = piece;
        for (int from = begin; from < end; from++) {
            s->long_col[to] = m->col[from], s->long_val[to++] = (float)m->val[from];
            if (from + 1 == end || (from + 1 - begin) % PIECE == 0) s->piece[++piece] = to;
        }
    }
    s->first[s->long_rows] = piece;
}

static void *numbers(int n) { return malloc(4 * ((size_t)n + 1)); }

bool sliced_make(Sliced *s, const Matrix *m, int longest) {
    *s = (Sliced){0};
    count(s, m, longest);
    s->start = numbers(s->slices), s->row = numbers(s->rows), s->first = numbers(s->long_rows),
    s->long_row = numbers(s->long_rows);
    s->piece = numbers(s->pieces), s->long_col = numbers(s->long_entries), s->long_val = numbers(s->long_entries);
    Placed *placed = malloc(((size_t)s->rows + 1) * sizeof *placed);
    bool good = s->start && s->row && s->first && s->long_row && s->piece && s->long_col && s->long_val && placed;
    if (good) rows_part(s, m, longest, placed);
    free(placed);
    if (good) s->col = numbers(s->entries), s->val = numbers(s->entries);
    good = good && s->col && s->val;
    if (good)
        fill(s, m), pieces_fill(s, m);
    else
        sliced_free(s);
    return good;
}

void sliced_free(Sliced *s) {
    free(s->start), free(s->row), free(s->col), free(s->val);
    free(s->first), free(s->long_row), free(s->piece), free(s->long_col), free(s->long_val);
    *s = (Sliced){0};
}
