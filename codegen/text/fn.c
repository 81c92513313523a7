/* fn.c: a C function in the making: its lines, its constants, and the texts of its ranges. */
#include "codegen/text/access.h"
#include "codegen/text/size.h"
#include "codegen/text/step.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

Fn fn_new(const Backend *back, Arena *a, const Module *m, const Program *p, const Memory *l) {
    return (Fn){.back = back, .m = m, .p = p, .memory = l, .arena = a, .names = {.arena = a}, .indent = 1, .line = -1};
}

const char *fn_vtext(Fn *f, const char *format, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *s = arena_alloc(f->arena, (size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, format, ap);
    return s;
}

const char *fn_text(Fn *f, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    const char *s = fn_vtext(f, format, ap);
    va_end(ap);
    return s;
}

void fn_line(Fn *f, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    text_printf(&f->body, "%*s", 4 * f->indent, "");
    text_vprintf(&f->body, format, ap);
    text_add(&f->body, "\n");
    va_end(ap);
}

void fn_unsupported(Fn *f, Loc loc, const char *what) {
    f->failed = true;
    diag_error(f->m->diags, loc, "unsupported", "not supported yet by %s: %s", f->back->who, what);
}

void fn_source_line(Fn *f, Loc loc) {
    if (!loc.file) return;
    int line = loc_line(f->m->diags, loc);
    if (line == f->line) return;
    f->line = line;
    const char *path = loc_path(f->m->diags, loc), *slash = strrchr(path, '/');
    fn_line(f, "// %s:%d", c_string(f->arena, slash ? slash + 1 : path), line);
}

const char *param_name(Fn *f, int i) {
    const char *name = f->k->param.p[i].name;
    return f->fields ? c_common_name(f->arena, name) : name;
}

const char *fn_value_name(Fn *f, const Value *v) {
    if (v->name) return v->name;
    const Op *d = v->def;
    while (d && (d->kind == OP_CAST || d->kind == OP_BROADCAST)) d = d->arg.p[0]->def;
    if (!d || d->kind == OP_FOR) return "carried";
    if (d->kind == OP_IF) return "chosen";
    if (d->kind == OP_LOAD) return fn_text(f, "%s_tile", param_name(f, d->param));
    return d->kind == OP_DOT ? "product" : op_info[d->kind].text;
}

Held *fn_held(Fn *f, const Value *v) { return &f->held[v->id]; }

static bool is_word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Words of comments are the source's: names of files and values. */
static bool in_line_comment(const char *text, const char *p) {
    for (; p > text && p[-1] != '\n'; p--)
        if (p[0] == '/' && p[-1] == '/') return true;
    return false;
}

static bool in_block_comment(const char *text, const char *p) {
    for (; p > text; p--) {
        if (p[0] == '/' && p[-1] == '*') return false;
        if (p[0] == '*' && p[-1] == '/') return true;
    }
    return false;
}

static bool in_comment(const char *text, const char *p) { return in_line_comment(text, p) || in_block_comment(text, p); }

/* Of a struct: a name of its own. */
static bool is_member(const char *text, const char *p) {
    return (p > text && p[-1] == '.') || (p > text + 1 && p[-1] == '>' && p[-2] == '-');
}

bool text_has_word(const char *text, const char *word) {
    size_t n = strlen(word);
    for (const char *p = strstr(text, word); p; p = strstr(p + 1, word))
        if ((p == text || !is_word_char(p[-1])) && !is_word_char(p[n]) && !is_member(text, p) && !in_comment(text, p)) return true;
    return false;
}

void fn_constant_of(Fn *f, const char *type, const char *name, const char *value) {
    vec_push(f->arena, &f->head, ((Constant){type, name, value}));
}

void fn_constant(Fn *f, const char *name, const char *value) { fn_constant_of(f, "int64_t", name, value); }

static const char *local_line(Fn *f, const char *name, const char *value) {
    return fn_text(f, "const int64_t %s = %s;", name, value);
}

void fn_local(Fn *f, const char *name, const char *value) {
    vec_push(f->arena, &f->local, ((Constant){"int64_t", name, value}));
    fn_line(f, "%s", local_line(f, name, value));
}

/* Leaves the line out if nothing else names it. */
static void local_settle(Fn *f, const Constant *c) {
    const char *line = local_line(f, c->name, c->value), *body = text_str(&f->body), *at = strstr(body, line);
    if (!at) return;
    const char *begin = at;
    while (begin > body && begin[-1] == ' ') begin--;
    Text rest = {0};
    text_add_n(&rest, body, (size_t)(begin - body));
    text_add(&rest, at + strlen(line) + 1);
    if (text_has_word(text_str(&rest), c->name)) {
        text_free(&rest);
        return;
    }
    text_free(&f->body);
    f->body = rest;
}

void fn_head_print(Fn *f, Text *to) {
    for (int i = f->local.n - 1; i >= 0; i--) local_settle(f, &f->local.p[i]);
    bool *used = ARENA_ARRAY(f->arena, bool, f->head.n + 1);
    for (int i = f->head.n - 1; i >= 0; i--) {
        const Constant *c = &f->head.p[i];
        used[i] = text_has_word(text_str(&f->body), c->name);
        for (int j = i + 1; j < f->head.n && !used[i]; j++)
            used[i] = used[j] && text_has_word(f->head.p[j].value, c->name);
    }
    for (int i = 0; i < f->head.n; i++)
        if (used[i])
            text_printf(to, "%*sconst %s %s = %s;\n", 4 * f->indent, "", f->head.p[i].type, f->head.p[i].name, f->head.p[i].value);
}

void fn_print(Fn *f, Text *to, const char *head) {
    text_printf(to, "%s {\n", head);
    fn_head_print(f, to);
    text_add(to, text_str(&f->body));
    text_add(to, "}\n\n");
    text_free(&f->body);
}

void name_params(Fn *f) {
    f->param = ARENA_ARRAY(f->arena, const char *, f->k->param.n + 1);
    for (int i = 0; i < f->k->param.n; i++) f->param[i] = c_name(&f->names, param_name(f, i));
}

void source_comment(Arena *a, const Module *m, const Kernel *k, const char *name, const char *more, Text *to) {
    if (!k->loc.file) return;
    const char *path = loc_path(m->diags, k->loc), *slash = strrchr(path, '/');
    text_printf(to, "/* kernel %s, %s:%d%s */\n", c_identifier(a, name), c_string(a, slash ? slash + 1 : path),
                loc_line(m->diags, k->loc), more);
}
