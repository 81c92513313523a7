/* compress_form.c: the formats that tilec compress knows, and their text: lowrank([512, 32], [32, 256]).
   Takes what a program writes behind `as`, with numbers. Gives the format's tensors, all zero. */
#include "driver/compress.h"

#include "base/diag.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OWN ELEM_COUNT /* the matrix' own type */

static const FormKind forms[] = {
    {"lowrank", {{"U", OWN, 2}, {"V", OWN, 2}}, lowrank_shape, lowrank_fill, lowrank_expand},
    {"hmd", {{"A", OWN, 2}, {"C", OWN, 2}, {"D", OWN, 2}}, hybrid_shape, hybrid_fill, hybrid_expand},
    {"hmf", {{"A", OWN, 2}, {"c", OWN, 1}, {"d", OWN, 1}}, hybrid_shape, hybrid_fill, hybrid_expand},
    {"kron", {{"A", OWN, 2}, {"B", OWN, 2}}, kron_shape, kron_fill, kron_expand},
    {"hkron", {{"A", OWN, 2}, {"B", OWN, 2}, {"C", OWN, 2}}, kron_shape, kron_fill, kron_expand},
    {"int8", {{"q", ELEM_I8, 2}, {"scale", ELEM_F32, 1}}, codes_shape, codes_fill, codes_expand},
    {"int8_groups", {{"q", ELEM_I8, 2}, {"scale", ELEM_F32, 2}}, codes_shape, codes_fill, codes_expand},
    {"int4_groups", {{"q", ELEM_I4, 2}, {"scale", ELEM_F32, 2}}, codes_shape, codes_fill, codes_expand},
    {"ternary", {{"q", ELEM_T2, 2}, {"scale", ELEM_F32, 1}}, codes_shape, codes_fill, codes_expand},
};
static const int nform = (int)(sizeof forms / sizeof *forms);

int form_parts(const FormKind *k) {
    int n = 0;
    while (n < FORM_PARTS && k->part[n].name) n++;
    return n;
}

/* ---- text ---- */

typedef struct {
    Arena *arena;
    const char *at;
} Scan;

static bool scan(Scan *s, char c) {
    while (isspace((unsigned char)*s->at)) s->at++;
    if (*s->at != c) return false;
    s->at++;
    return true;
}

static bool scan_number(Scan *s, int64_t *n) {
    enum { MOST = 1 << 30 /* of an extent */ };
    char *end;
    while (isspace((unsigned char)*s->at)) s->at++;
    if (!isdigit((unsigned char)*s->at)) return false;
    *n = strtoll(s->at, &end, 10);
    s->at = end;
    return *n <= MOST;
}

/* [a], or [a, b] */
static bool scan_shape(Scan *s, int ndim, int64_t dim[2]) {
    bool good = scan(s, '[');
    for (int d = 0; d < ndim && good; d++) good = (!d || scan(s, ',')) && scan_number(s, &dim[d]);
    return good && scan(s, ']');
}

static const char *known_forms(Arena *arena) {
    const char *all = forms[0].name;
    for (int i = 1; i < nform; i++) all = arena_format(arena, "%s, %s", all, forms[i].name);
    return all;
}

static const char *find_form(Scan *s, Form *out) {
    const char *names[sizeof forms / sizeof *forms];
    while (isspace((unsigned char)*s->at)) s->at++;
    const size_t n = strspn(s->at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    const char *name = arena_text(s->arena, s->at, n);
    s->at += n;
    for (int i = 0; i < nform; i++)
        if (strcmp(names[i] = forms[i].name, name) == 0) out->kind = &forms[i];
    if (out->kind) return NULL;
    if (strcmp(name, "strassen") == 0) return "weights of the format 'strassen' come from training alone";
    const char *near = spelling_nearest(name, names, nform);
    return near ? arena_format(s->arena, "there is no format '%s'; did you mean '%s'?", name, near)
                : arena_format(s->arena, "there is no format '%s'; they are %s", name, known_forms(s->arena));
}

/* lowrank([m, n], [m, n]) */
static const char *form_usage(Arena *arena, const FormKind *k) {
    const char *text = k->name;
    for (int i = 0; i < form_parts(k); i++)
        text = arena_format(arena, "%s%s[%s]", text, i ? ", " : "(", k->part[i].ndim == 1 ? "k" : "m, n");
    return arena_format(arena, "write it with numbers: %s)", text);
}

static const char *scan_parts(Scan *s, Elem own, Form *out) {
    bool good = scan(s, '(');
    for (int i = 0; i < form_parts(out->kind) && good; i++) {
        int64_t dim[2] = {0};
        const int ndim = out->kind->part[i].ndim;
        const Elem elem = out->kind->part[i].elem == OWN ? own : out->kind->part[i].elem;
        good = (!i || scan(s, ',')) && scan_shape(s, ndim, dim) && array_new(s->arena, elem, ndim, dim, &out->part[i]);
    }
    good = good && scan(s, ')');
    while (isspace((unsigned char)*s->at)) s->at++;
    return good && !*s->at ? NULL : form_usage(s->arena, out->kind);
}

const char *form_parse(Arena *arena, const char *text, Elem elem, const int64_t dim[2], Form *out) {
    Scan s = {arena, text};
    *out = (Form){.arena = arena};
    const char *failed = find_form(&s, out);
    if (!failed) failed = scan_parts(&s, elem, out);
    int64_t rows, columns;
    if (failed) return failed;
    if (!out->kind->shape(out, &rows, &columns))
        return arena_format(arena, "the tensors of %s do not fit each other: see the format's head in std/formats.tile",
                            text);
    if (rows == dim[0] && columns == dim[1]) return NULL;
    return arena_format(arena,
                        "%s stands for [%" PRId64 ", %" PRId64 "], and the weights are [%" PRId64 ", %" PRId64 "]",
                        text, rows, columns, dim[0], dim[1]);
}
