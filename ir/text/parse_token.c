/* parse_token.c: tokens of the text form, and what the parser asks of them. */
#include "ir/text/parse.h"
#include "ir/text/print.h"

#include <ctype.h>
#include <string.h>

static Loc loc_at(const Parser *p, const char *begin, const char *end) {
    return (Loc){p->file, (uint32_t)(begin - p->text), (uint32_t)(end - p->text)};
}

void parse_fail(Parser *p, Loc loc, const char *format, ...) {
    if (p->failed) return;
    va_list args;
    va_start(args, format);
    Text message = {0};
    text_vprintf(&message, format, args);
    va_end(args);
    diag_error(p->m->diags, loc, "ir-syntax", "%s", text_str(&message));
    text_free(&message);
    p->failed = true;
    p->at = p->text + p->tok.loc.begin;
    p->tok = (Token){.kind = TOK_END, .loc = loc};
}

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

static void skip_space(Parser *p) {
    while (p->at < p->end) {
        if (isspace((unsigned char)*p->at)) {
            p->at++;
        } else if (*p->at == '/' && p->at + 1 < p->end && p->at[1] == '/') {
            while (p->at < p->end && *p->at != '\n') p->at++;
        } else {
            return;
        }
    }
}

static bool two_chars(const Parser *p, const char *pair) {
    return p->end - p->at >= 2 && p->at[0] == pair[0] && p->at[1] == pair[1];
}

static void lex_word(Parser *p) {
    const char *s = p->at;
    while (p->at < p->end &&
           (is_word_char(*p->at) || (*p->at == '.' && p->at + 1 < p->end && isalnum((unsigned char)p->at[1]))))
        p->at++;
    p->tok.kind = TOK_WORD;
    p->tok.name = name_of_n(p->m->names, s, (size_t)(p->at - s));
}

static int hex_digit(char c) { return isdigit((unsigned char)c) ? c - '0' : 10 + tolower((unsigned char)c) - 'a'; }

/* One character of a quoted name, or -1. */
static int quoted_char(Parser *p) {
    char c = *p->at++;
    if (c == '\n' || c == 0) return -1;
    if (c != '\\') return (unsigned char)c;
    if (p->at == p->end) return -1;
    c = *p->at++;
    if (c == '"' || c == '\\') return c;
    if (c != 'x' || p->end - p->at < 2 || !isxdigit((unsigned char)p->at[0]) || !isxdigit((unsigned char)p->at[1]))
        return -1;
    p->at += 2;
    int code = 16 * hex_digit(p->at[-2]) + hex_digit(p->at[-1]);
    return code ? code : -1;
}

static void lex_quoted(Parser *p) {
    const char *begin = p->at++;
    Text name = {0};
    while (p->at < p->end && *p->at != '"') {
        int c = quoted_char(p);
        if (c < 0) break;
        text_add_n(&name, (char[]){(char)c}, 1);
    }
    if (p->at < p->end && *p->at == '"') {
        p->at++;
        p->tok.kind = TOK_WORD;
        p->tok.quoted = true;
        p->tok.name = name_of_n(p->m->names, text_str(&name), name.n);
    } else {
        parse_fail(p, loc_at(p, begin, p->at), "a quoted name does not end, or has a character that is not allowed");
    }
    text_free(&name);
}

static void skip_digits(Parser *p) {
    while (p->at < p->end && isdigit((unsigned char)*p->at)) p->at++;
}

static bool lex_fraction(Parser *p) {
    const char *s = p->at;
    if (p->end - s < 2 || *s != '.' || !isdigit((unsigned char)s[1])) return false;
    p->at++;
    skip_digits(p);
    return true;
}

static bool lex_exponent(Parser *p) {
    const char *s = p->at;
    if (s == p->end || (*s != 'e' && *s != 'E')) return false;
    if (++s < p->end && (*s == '-' || *s == '+')) s++;
    if (s == p->end || !isdigit((unsigned char)*s)) return false;
    p->at = s;
    skip_digits(p);
    return true;
}

static void lex_number(Parser *p) {
    const char *s = p->at;
    skip_digits(p);
    const char *digits_end = p->at;
    bool fraction = lex_fraction(p), exponent = lex_exponent(p);
    p->tok.name = name_of_n(p->m->names, s, (size_t)(p->at - s));
    p->tok.kind = fraction || exponent ? TOK_FLOAT : TOK_INT;
    if (p->tok.kind == TOK_FLOAT) return;
    uint64_t n = 0;
    bool over = false;
    for (; s < digits_end; s++)
        over |= __builtin_mul_overflow(n, 10u, &n) || __builtin_add_overflow(n, (uint64_t)(*s - '0'), &n);
    p->tok.number = n;
    if (over) parse_fail(p, loc_at(p, p->tok.loc.begin + p->text, p->at), "the number does not fit in 64 bits");
}

static void lex_sign(Parser *p) {
    static const char *const pair[] = {"->", "..", "<="};
    for (int i = 0; i < 3; i++) {
        if (!two_chars(p, pair[i])) continue;
        p->at += 2;
        p->tok.kind = (TokKind)(TOK_ARROW + i);
        return;
    }
    p->tok.kind = TOK_PUNCT;
    p->tok.punct = *p->at++;
}

void parse_next(Parser *p) {
    if (p->failed) return;
    skip_space(p);
    p->tok = (Token){.kind = TOK_END, .loc = loc_at(p, p->at, p->at)};
    if (p->at == p->end) return;
    const char *begin = p->at;
    if (isdigit((unsigned char)*begin))
        lex_number(p);
    else if (is_word_char(*begin))
        lex_word(p);
    else if (*begin == '"')
        lex_quoted(p);
    else
        lex_sign(p);
    p->tok.loc = loc_at(p, begin, p->at);
}

static bool line_begins_item(const Parser *p) {
    if (p->at > p->text && p->at[-1] != '\n') return false;
    static const char *const item[] = {"kernel ", "program ", "dim ", "mesh ", "form "};
    for (int i = 0; i < 5; i++) {
        size_t n = strlen(item[i]);
        if ((size_t)(p->end - p->at) >= n && memcmp(p->at, item[i], n) == 0) return true;
    }
    return false;
}

void parse_resync(Parser *p) {
    while (p->at < p->end && !line_begins_item(p)) p->at++;
    p->failed = false;
    parse_next(p);
}

bool at_punct(const Parser *p, char c) { return p->tok.kind == TOK_PUNCT && p->tok.punct == c; }

static bool at_word(const Parser *p, const char *word) {
    return p->tok.kind == TOK_WORD && !p->tok.quoted && strcmp(p->tok.name, word) == 0;
}

static bool take(Parser *p, bool there) {
    if (there) parse_next(p);
    return there;
}

bool take_punct(Parser *p, char c) { return take(p, at_punct(p, c)); }

bool take_word(Parser *p, const char *word) { return take(p, at_word(p, word)); }

bool take_kind(Parser *p, TokKind kind) { return take(p, p->tok.kind == kind); }

static void fail_expected(Parser *p, const char *what) { parse_fail(p, p->tok.loc, "expected %s", what); }

void need_punct(Parser *p, char c) {
    if (!take_punct(p, c)) fail_expected(p, (char[]){'\'', c, '\'', 0});
}

void need_word(Parser *p, const char *word) {
    if (!take_word(p, word)) parse_fail(p, p->tok.loc, "expected '%s'", word);
}

void need_kind(Parser *p, TokKind kind, const char *what) {
    if (p->tok.kind != kind || kind == TOK_END)
        fail_expected(p, what);
    else
        parse_next(p);
}

Name need_name(Parser *p, const char *what) {
    Name name = p->tok.name;
    need_kind(p, TOK_WORD, what);
    return p->failed ? "" : name;
}

bool signed_value(uint64_t magnitude, bool negative, int64_t *value) {
    if (magnitude > (uint64_t)INT64_MAX + negative) return false;
    *value = (int64_t)(negative ? -magnitude : magnitude);
    return true;
}

int64_t need_int(Parser *p, const char *what) {
    Loc loc = p->tok.loc;
    bool negative = take_punct(p, '-');
    uint64_t n = p->tok.number;
    int64_t value = 0;
    need_kind(p, TOK_INT, what);
    if (!p->failed && !signed_value(n, negative, &value)) parse_fail(p, loc, "the number does not fit in 64 bits");
    return value;
}

int need_choice(Parser *p, const char *const *word, int n, const char *what) {
    for (int i = 0; i < n; i++)
        if (take_word(p, word[i])) return i;
    fail_expected(p, what);
    return 0;
}

int need_known(Parser *p, NameMap *map, const char *what) {
    Loc loc = p->tok.loc;
    Name name = need_name(p, what);
    int number = p->failed ? 0 : *name_map_at(map, name);
    if (number < 0) parse_fail(p, loc, "%s '%s' is not declared", what, name);
    return p->failed ? 0 : number;
}

bool declare(Parser *p, NameMap *map, Name name, Loc loc, int number, const char *what) {
    if (p->failed) return false;
    int *held = name_map_at(map, name);
    if (*held >= 0) {
        parse_fail(p, loc, "%s '%s' is declared twice", what, name);
        return false;
    }
    *held = number;
    return true;
}
