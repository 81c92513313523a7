/* json.c: JSON by RFC 8259. Takes bytes that nobody has checked. */
#include "json.h"

#include <string.h>

enum { DEEPEST = 64 }; /* lists and objects in each other, at most: headers have two */

bool json_fail(Json *j, const char *why) {
    if (!j->why) j->why = why;
    return false;
}

static void skip_space(Json *j) {
    while (j->at < j->n && j->text[j->at] && strchr(" \t\r\n", j->text[j->at])) j->at++;
}

static char peek(Json *j) {
    skip_space(j);
    return j->at < j->n ? j->text[j->at] : 0;
}

bool json_take(Json *j, char c) {
    if (j->why || peek(j) != c || j->at == j->n) return false;
    j->at++;
    return true;
}

bool json_expect(Json *j, char c) {
    static const char *const why[] = {"expected '{'", "expected ':'", "expected '\"'", "expected '['", "expected ']'"};
    const char *known = "{:\"[]";
    return json_take(j, c) || json_fail(j, why[strchr(known, c) - known]);
}

bool json_more(Json *j, char close, bool *first) {
    if (j->why || json_take(j, close)) return false;
    if (!*first && !json_take(j, ','))
        return json_fail(j, close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
    return *first = false, true;
}

/* ---- strings ---- */

static bool hex_four(Json *j, uint32_t *code) {
    *code = 0;
    for (int i = 0; i < 4; i++, j->at++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF", c = j->at < j->n ? j->text[j->at] : 0;
        const char *digit = c ? strchr(digits, c) : NULL;
        if (!digit) return json_fail(j, "expected four hexadecimal digits");
        *code = *code << 4 | ((uint32_t)(digit - digits) & 15);
    }
    return true;
}

static size_t put_utf8(char *to, uint32_t c) {
    if (c < 0x80) return to[0] = (char)c, 1;
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint32_t head[] = {0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(head[more] | c >> 6 * more);
    for (int i = 1; i <= more; i++) to[i] = (char)(0x80 | (c >> 6 * (more - i) & 63));
    return (size_t)more + 1;
}

/* \uXXXX, or two that are a surrogate pair. The text is longer than its UTF-8. */
static size_t unicode_escape(Json *j, char *to) {
    uint32_t code, low;
    if (!hex_four(j, &code)) return 0;
    if (code >= 0xd800 && code < 0xdc00) {
        if (j->n - j->at < 2 || memcmp(j->text + j->at, "\\u", 2) != 0) return json_fail(j, "half of a surrogate pair");
        j->at += 2;
        if (!hex_four(j, &low)) return 0;
        if (low < 0xdc00 || low > 0xdfff) return json_fail(j, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000)
        return json_fail(j, "half of a surrogate pair");
    if (!code) return json_fail(j, "a zero in a string");
    return put_utf8(to, code);
}

static size_t escape(Json *j, char *to) {
    static const char from[] = "\"\\/bfnrt", is[] = "\"\\/\b\f\n\r\t";
    const char c = j->at < j->n ? j->text[j->at] : 0, *known = c ? strchr(from, c) : NULL;
    if (c != 'u' && !known) return json_fail(j, "unknown escape");
    j->at++;
    if (c == 'u') return unicode_escape(j, to);
    *to = is[known - from];
    return 1;
}

/* Bytes of the character that begins here; 0: no UTF-8. */
static size_t utf8_length(const unsigned char *s, size_t n) {
    const unsigned char c = s[0];
    const size_t length = c < 0x80                ? 1
                          : c >= 0xc2 && c < 0xe0 ? 2
                          : c >= 0xe0 && c < 0xf0 ? 3
                          : c >= 0xf0 && c < 0xf5 ? 4
                                                  : 0;
    if (!length || length > n) return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    const bool longer = (c == 0xe0 && s[1] < 0xa0) || (c == 0xf0 && s[1] < 0x90);
    const bool outside = (c == 0xed && s[1] > 0x9f) || (c == 0xf4 && s[1] > 0x8f);
    return longer || outside ? 0 : length;
}

static size_t character(Json *j, char *to) {
    const unsigned char *s = (const unsigned char *)j->text + j->at;
    const size_t n = utf8_length(s, j->n - j->at);
    if (s[0] < 0x20) return json_fail(j, "a control character in a string");
    if (!n) return json_fail(j, "a string is no UTF-8");
    memcpy(to, s, n);
    j->at += n;
    return n;
}

bool json_text(Json *j, char *to) {
    if (!json_expect(j, '"')) return false;
    while (j->at < j->n && j->text[j->at] != '"') {
        const bool escaped = j->text[j->at] == '\\';
        if (escaped) j->at++;
        const size_t n = escaped ? escape(j, to) : character(j, to);
        if (!n) return false;
        to += n;
    }
    *to = 0;
    if (j->at == j->n) return json_fail(j, "a string without end");
    j->at++;
    return true;
}

/* ---- numbers, and what is skipped ---- */

static bool digits(Json *j) {
    const size_t begin = j->at;
    while (j->at < j->n && j->text[j->at] >= '0' && j->text[j->at] <= '9') j->at++;
    return j->at > begin || json_fail(j, "expected a digit");
}

bool json_natural(Json *j, int64_t *to) {
    peek(j);
    const size_t begin = j->at;
    if (j->why || !digits(j)) return false;
    *to = 0;
    for (size_t i = begin; i < j->at; i++)
        if (__builtin_mul_overflow(*to, 10, to) || __builtin_add_overflow(*to, j->text[i] - '0', to))
            return j->at = begin, json_fail(j, "a number too large");
    const bool more = j->at < j->n && j->text[j->at] && strchr(".eE", j->text[j->at]);
    return (!more && !(j->text[begin] == '0' && j->at - begin > 1)) || json_fail(j, "expected a whole number");
}

static bool skip_number(Json *j) {
    if (j->text[j->at] == '-') j->at++;
    if (!digits(j)) return false;
    if (j->at < j->n && j->text[j->at] == '.' && (j->at++, !digits(j))) return false;
    if (j->at == j->n || (j->text[j->at] | 32) != 'e') return true;
    j->at++;
    if (j->at < j->n && (j->text[j->at] == '+' || j->text[j->at] == '-')) j->at++;
    return digits(j);
}

static bool skip_string(Json *j) {
    char one[4];
    if (!json_expect(j, '"')) return false;
    while (j->at < j->n && j->text[j->at] != '"') {
        const bool escaped = j->text[j->at] == '\\';
        if (escaped) j->at++;
        if (!(escaped ? escape(j, one) : character(j, one))) return false;
    }
    if (j->at == j->n) return json_fail(j, "a string without end");
    return j->at++, true;
}

static bool skip_word(Json *j) {
    static const char *const word[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        const size_t n = strlen(word[i]);
        if (j->n - j->at >= n && !memcmp(j->text + j->at, word[i], n)) return j->at += n, true;
    }
    return json_fail(j, "expected a value");
}

static bool skip_value(Json *j, int depth) {
    const char c = peek(j);
    if (depth > DEEPEST) return json_fail(j, "more than 64 lists and objects in each other");
    if (c == '"') return skip_string(j);
    if (c == '-' || (c >= '0' && c <= '9')) return skip_number(j);
    if (c != '[' && c != '{') return skip_word(j);
    bool first = true;
    j->at++;
    while (json_more(j, c == '[' ? ']' : '}', &first))
        if ((c == '{' && (!skip_string(j) || !json_expect(j, ':'))) || !skip_value(j, depth + 1)) return false;
    return !j->why;
}

bool json_skip(Json *j) { return !j->why && skip_value(j, 0); }

bool json_end(Json *j) {
    peek(j);
    return !j->why && (j->at == j->n || json_fail(j, "text behind the value"));
}
