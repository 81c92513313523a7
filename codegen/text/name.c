/* name.c: identifiers of the generated C: the source's own names where C leaves them free.
   Takes: a wanted name. Gives: one that is unique in its function. */
#include "codegen/text/name.h"
#include "codegen/codegen.h"

#include <string.h>

static const char *c_public_name(Arena *a, const char *wanted) {
    if (!c_is_reserved(wanted)) return wanted;
    return arena_format(a, wanted[0] == '_' ? "v%s_" : "%s_", wanted);
}

const char *c_program_name(Arena *a, const Program *p) {
    const char *name = c_public_name(a, p->name);
    return c_is_global(name) ? arena_format(a, "%s_", name) : name;
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

static const char *name_unique(CNames *n, const char *base) {
    if (!n->text) n->text = names_new(n->arena), n->next.arena = n->arena;
    Name wanted = name_of(n->text, base), name = wanted;
    int number = *name_map_at(&n->next, wanted);
    while (*name_map_at(&n->next, name) >= 0) name = name_of(n->text, arena_format(n->arena, "%s_%d", base, number++));
    if (name != wanted) *name_map_at(&n->next, wanted) = number;
    *name_map_at(&n->next, name) = 2;
    return name;
}

const char *c_name(CNames *n, const char *wanted) {
    return name_unique(n, c_public_name(n->arena, c_identifier(n->arena, wanted)));
}

const char *c_function_name(CNames *n, const char *wanted) {
    const char *name = c_public_name(n->arena, c_identifier(n->arena, wanted));
    return name_unique(n, c_is_global(name) ? arena_format(n->arena, "%s_", name) : name);
}

const char *c_common_name(Arena *a, const char *name) {
    const char *common = "";
    for (const char *at = name, *end; *at; at = end + (*end == '_')) {
        end = at + strcspn(at, "_");
        bool number = end > at && strspn(at, "0123456789") == (size_t)(end - at);
        if (!number) common = arena_format(a, "%s%s%.*s", common, *common ? "_" : "", (int)(end - at), at);
    }
    return *common ? common : name;
}
