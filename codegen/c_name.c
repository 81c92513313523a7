/* c_name.c: identifiers of the generated C: the source's own names where C leaves them free.
   Takes: a wanted name. Gives: one that is unique in its function. */
#include "codegen/c.h"

#include <string.h>

static const char *const taken[] = {
    "auto",     "break",     "case",     "char",     "const",  "continue",  "default", "do",     "double",
    "else",     "enum",      "extern",   "float",    "for",    "goto",      "if",      "inline", "int",
    "long",     "register",  "restrict", "return",   "short",  "signed",    "sizeof",  "static", "struct",
    "switch",   "typedef",   "union",    "unsigned", "void",   "volatile",  "while",   "asm",    "typeof",
    "bool",     "true",      "false",    "errno",    "linux",  "unix",      "i386",    "NAN",    "INFINITY",
    "NULL",     "EOF",       "main",     "t",        "exp",    "exp2",      "log",     "log2",   "sqrt",
    "sin",      "cos",       "tanh",     "erf",      "floor",  "ceil",      "rint",    "pow",    "fabs",
    "sinf",     "cosf",      "erff",     "powf",     "sqrtf",  "fabsf",     "floorf",  "ceilf",  "rintf",
    "exp2f",    "log2f",     "memcpy",   "memset",   "assert", "class",     "new",     "delete", "this",
    "template", "namespace", "operator", "private",  "public", "protected", "virtual", "try",    "catch",
    "throw",    "using",     "friend",   "size_t",
};

static bool is_taken(const char *name) {
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0) return true;
    return name[0] == '_' || strncmp(name, "tile_", 5) == 0 || strncmp(name, "TILE_", 5) == 0;
}

const char *c_public_name(Arena *a, const char *wanted) {
    return is_taken(wanted) ? arena_format(a, "%s_", wanted[0] == '_' ? arena_format(a, "v%s", wanted) : wanted)
                            : wanted;
}

static bool in_use(const CNames *n, const char *name) {
    for (int i = 0; i < n->used.n; i++)
        if (strcmp(n->used.p[i], name) == 0) return true;
    return false;
}

const char *c_string(Arena *a, const char *name) {
    Text t = {0};
    for (const unsigned char *p = (const unsigned char *)name; *p; p++)
        text_printf(&t, *p < 32 || *p > 126 || strchr("\"\\?%", *p) ? "\\%03o" : "%c", *p);
    const char *s = arena_text(a, text_str(&t), t.n);
    text_free(&t);
    return s;
}

const char *c_identifier(Arena *a, const char *wanted) {
    char *s = arena_text(a, wanted, strlen(wanted));
    for (char *p = s; *p; p++) {
        bool good = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '_';
        if (!good) *p = '_';
    }
    return *s && !(*s >= '0' && *s <= '9') ? s : arena_format(a, "v%s", s);
}

const char *c_name(CNames *n, const char *wanted) {
    const char *base = c_public_name(n->arena, c_identifier(n->arena, wanted)), *name = base;
    for (int i = 2; in_use(n, name); i++) name = arena_format(n->arena, "%s_%d", base, i);
    vec_push(n->arena, &n->used, name);
    return name;
}
