/* npy.c: NumPy's .npy files (numpy/lib/format: magic, version, header length, a Python literal, the data).
   Takes bytes that nobody has checked. Gives an array, or a message that names the byte. */
#include "base/npy.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { HEADER_BYTES = 1 << 16 }; /* prefix and header of a file: NumPy writes a few hundred */

typedef struct {
    Arena *arena;
    const char *p;
    size_t n, at;
    const char *error; /* the first */
} Cursor;

typedef struct {
    char kind; /* 'f', 'i', 'u', 'b', 'V', or 'n' for a name of ml_dtypes */
    int bytes;
    bool big;
    Elem named;
    bool fortran, has_descr, has_order, has_shape;
    int ndim;
    int64_t dim[MAX_DIMS];
} Header;

__attribute__((format(printf, 2, 3))) static bool fail(Cursor *c, const char *format, ...) {
    if (c->error) return false;
    char text[200];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    c->error = arena_format(c->arena, "byte %zu: %s", c->at, text);
    return false;
}

/* ---- the header's literal ---- */

static void skip_space(Cursor *c) {
    while (c->at < c->n && strchr(" \t\r\n", c->p[c->at]) && c->p[c->at]) c->at++;
}

static bool peek(Cursor *c, char x) {
    skip_space(c);
    return c->at < c->n && c->p[c->at] == x;
}

static bool accept(Cursor *c, char x) {
    if (!peek(c, x)) return false;
    c->at++;
    return true;
}

static bool expect(Cursor *c, char x) { return accept(c, x) || fail(c, "expected '%c'", x); }

static bool accept_word(Cursor *c, const char *word) {
    skip_space(c);
    size_t n = strlen(word);
    if (c->n - c->at < n || memcmp(c->p + c->at, word, n) != 0) return false;
    c->at += n;
    return true;
}

static bool read_string(Cursor *c, char *out, size_t cap) {
    skip_space(c);
    char quote = c->at < c->n ? c->p[c->at] : 0;
    if (quote != '\'' && quote != '"') return fail(c, "expected a string");
    size_t n = 0;
    for (c->at++; c->at < c->n && c->p[c->at] != quote; c->at++) {
        if (n + 1 == cap) return fail(c, "string too long");
        out[n++] = c->p[c->at];
    }
    out[n] = 0;
    return c->at++ < c->n || (c->at = c->n, fail(c, "string without end"));
}

static bool read_extent(Cursor *c, int64_t *out) {
    skip_space(c);
    size_t begin = c->at;
    *out = 0;
    for (; c->at < c->n && c->p[c->at] >= '0' && c->p[c->at] <= '9'; c->at++)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, c->p[c->at] - '0', out))
            return fail(c, "number too large");
    return c->at > begin || fail(c, "expected a number");
}

/* shape: '(' [number {',' number} [',']] ')' */
static bool read_shape(Cursor *c, Header *h) {
    if (!expect(c, '(')) return false;
    while (!accept(c, ')')) {
        if (h->ndim == SOURCE_DIMS) return fail(c, "more than %d dimensions", SOURCE_DIMS);
        if (!read_extent(c, &h->dim[h->ndim++])) return false;
        if (!accept(c, ',') && !peek(c, ')')) return fail(c, "expected ',' or ')'");
    }
    return h->has_shape = true;
}

/* Types that NumPy does not have, by the names that ml_dtypes gives them. */
static const struct {
    const char *name;
    Elem elem;
} foreign[] = {{"bfloat16", ELEM_BF16},
               {"float8_e4m3fn", ELEM_F8E4M3},
               {"float8_e5m2", ELEM_F8E5M2},
               {"float8_e4m3fnuz", ELEM_F8E4M3FNUZ},
               {"int4", ELEM_I4}};
enum { FOREIGN = sizeof foreign / sizeof *foreign };

static bool name_to_elem(const char *s, Elem *out) {
    for (int i = 0; i < FOREIGN; i++) {
        if (strcmp(s, foreign[i].name) != 0) continue;
        *out = foreign[i].elem;
        return true;
    }
    return false;
}

const char *npy_made(Arena *arena, Elem e) {
    if (e == ELEM_I4 || e == ELEM_T2) return arena_format(arena, "NumPy has no %s: a file of int8 has it", elem_text(e));
    for (int i = 0; i < FOREIGN; i++)
        if (foreign[i].elem == e)
            return arena_format(arena, "NumPy has no %s: save x.astype(ml_dtypes.%s), or its bits as bits.view('V%zu')",
                                elem_text(e), foreign[i].name, elem_bytes(e));
    return NULL;
}

static bool read_descr(Cursor *c, Header *h) {
    if (peek(c, '[')) return fail(c, "structured types are not supported");
    char s[32];
    if (!read_string(c, s, sizeof s)) return false;
    h->has_descr = true;
    const char *code = strchr("<>|=", s[0]) && s[0] ? s + 1 : s;
    h->big = s[0] == '>';
    if (name_to_elem(code, &h->named)) return h->kind = 'n', true;
    if (!strchr("fiubV", code[0]) || !code[0] || code[1] < '1' || code[1] > '8' || code[2])
        return fail(c, "type '%s' is not supported", s);
    h->kind = code[0];
    h->bytes = code[1] - '0';
    return true;
}

static bool read_order(Cursor *c, Header *h) {
    h->has_order = true;
    if (accept_word(c, "True")) return h->fortran = true;
    return accept_word(c, "False") || fail(c, "expected True or False");
}

static bool read_entry(Cursor *c, Header *h) {
    char key[32];
    skip_space(c);
    size_t begin = c->at;
    if (!read_string(c, key, sizeof key) || !expect(c, ':')) return false;
    if (!strcmp(key, "descr") && !h->has_descr) return read_descr(c, h);
    if (!strcmp(key, "fortran_order") && !h->has_order) return read_order(c, h);
    if (!strcmp(key, "shape") && !h->has_shape) return read_shape(c, h);
    c->at = begin;
    return fail(c, "unexpected key");
}

static bool read_dictionary(Cursor *c, Header *h) {
    if (!expect(c, '{')) return false;
    while (!accept(c, '}')) {
        if (!read_entry(c, h)) return false;
        if (!accept(c, ',') && !peek(c, '}')) return fail(c, "expected ',' or '}'");
    }
    skip_space(c);
    if (c->at != c->n) return fail(c, "text after the header's dictionary");
    if (!h->has_descr || !h->has_order || !h->has_shape)
        return fail(c, "'descr', 'fortran_order' or 'shape' is missing");
    return true;
}

/* Leaves *at after the prefix and *end at the header's end. */
static bool read_prefix(Cursor *c, size_t *end) {
    static const char magic[] = "\x93NUMPY";
    for (; c->at < 6; c->at++)
        if (c->at >= c->n || c->p[c->at] != magic[c->at]) return fail(c, "not an .npy file");
    if (c->n < 8) return c->at = c->n, fail(c, "file ends in the version");
    int major = c->p[6], size = major == 1 ? 2 : 4;
    if (major < 1 || major > 3 || c->p[7] != 0) return fail(c, "unknown version of the format");
    c->at = 8;
    if (c->n - c->at < (size_t)size) return c->at = c->n, fail(c, "file ends in the header's length");
    size_t length = 0;
    for (int i = size - 1; i >= 0; i--) length = length << 8 | (unsigned char)c->p[8 + i];
    if (length > c->n - c->at - (size_t)size) return fail(c, "the header's length is past the end of the file");
    c->at += (size_t)size;
    *end = c->at + length;
    return true;
}

/* ---- the data ---- */

static bool header_elem(Cursor *c, const Header *h, Elem want, Elem *out) {
    static const struct {
        char kind;
        int bytes;
        Elem elem;
    } native[] = {{'f', 8, ELEM_F64}, {'f', 4, ELEM_F32}, {'f', 2, ELEM_F16}, {'i', 8, ELEM_I64},  {'i', 4, ELEM_I32},
                  {'i', 2, ELEM_I16}, {'i', 1, ELEM_I8},  {'u', 1, ELEM_U8},  {'b', 1, ELEM_BOOL}, {'V', 2, ELEM_BF16}};
    bool small_float = want == ELEM_F8E4M3 || want == ELEM_F8E5M2 || want == ELEM_F8E4M3FNUZ;
    bool packed = want == ELEM_I4 || want == ELEM_T2;
    *out = h->named;
    if (h->kind == 'n') return true;
    *out = want;
    if (h->bytes == 1 && ((h->kind == 'V' && small_float) || (h->kind == 'i' && packed))) return true;
    for (size_t i = 0; i < sizeof native / sizeof *native; i++) {
        *out = native[i].elem;
        if (h->kind == native[i].kind && h->bytes == native[i].bytes) return true;
    }
    const char *made = npy_made(c->arena, want);
    return fail(c, "no element type is '%c%d'%s%s", h->kind, h->bytes, made ? "; " : "", made ? made : "");
}

static void copy_element(char *to, const char *from, size_t bytes, bool swap) {
    for (size_t i = 0; i < bytes; i++) to[i] = from[swap ? bytes - 1 - i : i];
}

/* Row-major index -> the file's index, which for Fortran order has the first dimension fastest. */
static void copy_fortran(const Array *a, const char *from, size_t bytes, bool swap) {
    int64_t at[MAX_DIMS] = {0}, stride[MAX_DIMS], n = array_count(a), source = 0;
    for (int d = 0; d < a->ndim; d++) stride[d] = d ? stride[d - 1] * a->dim[d - 1] : 1;
    for (int64_t i = 0; i < n; i++) {
        copy_element((char *)a->data + (size_t)i * bytes, from + (size_t)source * bytes, bytes, swap);
        for (int d = a->ndim - 1; d >= 0; d--) {
            source += stride[d];
            if (++at[d] < a->dim[d]) break;
            source -= stride[d] * at[d];
            at[d] = 0;
        }
    }
}

static void copy_rows(const Array *a, const char *from, size_t bytes, bool swap) {
    int64_t n = array_count(a);
    if (!swap && n) memcpy(a->data, from, (size_t)n * bytes);
    for (int64_t i = 0; swap && i < n; i++)
        copy_element((char *)a->data + (size_t)i * bytes, from + (size_t)i * bytes, bytes, true);
}

static bool host_is_big(void) {
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 0;
}

/* Values that the element type does not have would be undefined later. */
static bool check_values(Cursor *c, const Array *a) {
    const int64_t wrong = array_wrong(a);
    if (wrong < 0) return true;
    c->at += (size_t)wrong;
    return fail(c, "%d is not a %s", ((const signed char *)a->data)[wrong], elem_text(a->elem));
}

static bool read_data(Cursor *c, const Header *h, Elem want, Array *out) {
    Elem elem;
    int64_t count;
    size_t bytes;
    if (!header_elem(c, h, want, &elem)) return false;
    if (!array_bytes(elem, h->ndim, h->dim, &count, &bytes)) return fail(c, "the array is too large");
    if (bytes != c->n - c->at)
        return fail(c, "the shape needs %zu bytes of data, the file has %zu", bytes, c->n - c->at);
    if (!array_new(c->arena, elem, h->ndim, h->dim, out)) return fail(c, "the array is too large");
    bool swap = h->big != host_is_big() && elem_bytes(elem) > 1;
    (h->fortran ? copy_fortran : copy_rows)(out, c->p + c->at, elem_bytes(elem), swap);
    return check_values(c, out);
}

/* Leaves *at before the data. */
static bool read_header(Cursor *c, Header *h) {
    size_t n = c->n, end = 0;
    *h = (Header){.named = ELEM_COUNT};
    if (!read_prefix(c, &end)) return false;
    c->n = end;
    bool good = read_dictionary(c, h);
    c->n = n;
    return good;
}

const char *npy_read(Arena *arena, const char *bytes, size_t n, Elem want, Array *out) {
    Cursor c = {.arena = arena, .p = bytes, .n = n};
    Header h;
    *out = (Array){0};
    if (read_header(&c, &h)) read_data(&c, &h, want, out);
    return c.error;
}

/* Reads the shape alone: the file announces more data than is wanted. */
static void shape_alone(Arena *arena, const Text *t, Elem want, size_t most, Array *out) {
    Cursor c = {.arena = arena, .p = t->p, .n = t->n};
    Header h;
    Elem elem;
    int64_t count;
    size_t bytes;
    if (!read_header(&c, &h) || !header_elem(&c, &h, want, &elem)) return;
    if (array_bytes(elem, h.ndim, h.dim, &count, &bytes) && bytes <= most) return;
    *out = (Array){.elem = elem, .ndim = h.ndim};
    memcpy(out->dim, h.dim, sizeof h.dim);
}

static const char *descr_of(Elem e) {
    switch (e) {
    case ELEM_F64: return "<f8";
    case ELEM_F32: return "<f4";
    case ELEM_F16: return "<f2";
    case ELEM_BF16: return "<V2";
    case ELEM_I64: return "<i8";
    case ELEM_I32: return "<i4";
    case ELEM_I16: return "<i2";
    case ELEM_U8: return "|u1";
    case ELEM_BOOL: return "|b1";
    case ELEM_I8:
    case ELEM_I4:
    case ELEM_T2: return "|i1";
    default: return "|V1";
    }
}

void npy_write(Text *t, const Array *a) {
    Text head = {0};
    text_printf(&head, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr_of(a->elem));
    for (int d = 0; d < a->ndim; d++) text_printf(&head, "%s%lld", d ? ", " : "", (long long)a->dim[d]);
    text_add(&head, a->ndim == 1 ? ",), }" : "), }");
    while ((10 + head.n + 1) % 64) text_add(&head, " ");
    text_add(&head, "\n");
    text_add_n(t, "\x93NUMPY\1\0", 8);
    text_add_n(t, (char[]){(char)(head.n & 255), (char)(head.n >> 8)}, 2);
    text_add_n(t, head.p, head.n);
    text_free(&head);
    size_t each = elem_bytes(a->elem), n = (size_t)array_count(a);
    if (!host_is_big() || each == 1) text_add_n(t, a->data, n * each);
    for (size_t i = 0; host_is_big() && each > 1 && i < n; i++) {
        char element[8];
        copy_element(element, (const char *)a->data + i * each, each, true);
        text_add_n(t, element, each);
    }
}

/* Devices need not end. */
static const char *kind_refused(const struct stat *s) {
    if (S_ISDIR(s->st_mode)) return strerror(EISDIR);
    return S_ISREG(s->st_mode) || S_ISFIFO(s->st_mode) ? NULL : "neither a file nor a pipe";
}

const char *npy_load(Arena *arena, const char *path, Elem want, size_t most, Array *out) {
    Text t = {0};
    struct stat s;
    *out = (Array){0};
    if (stat(path, &s)) return strerror(errno);
    const char *error = kind_refused(&s);
    if (error) return error;
    size_t limit = most < SIZE_MAX - HEADER_BYTES ? most + HEADER_BYTES : SIZE_MAX;
    bool longer = S_ISREG(s.st_mode) && (uint64_t)s.st_size > limit;
    error = text_read(&t, path, longer ? HEADER_BYTES : limit);
    if (error && t.n > (longer ? HEADER_BYTES : limit)) shape_alone(arena, &t, want, most, out);
    if (!error) error = npy_read(arena, text_str(&t), t.n, want, out);
    text_free(&t);
    return error;
}

const char *npy_save(const char *path, const Array *a) {
    Text t = {0};
    npy_write(&t, a);
    const char *error = text_write(&t, path);
    text_free(&t);
    return error;
}
