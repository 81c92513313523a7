/* ast_format.c: the canonical layout of a unit: two spaces a level, lines up to 120 columns where they can be broken.
   Comments stay: before what they stood before, or at the end of the line that they ended. */
#include "frontend/syntax/ast_print.h"

#include <string.h>

enum { WIDTH = 120, INDENT = 2 };

typedef struct {
    Writer w;
    const Unit *unit;
    int level;   /* of indentation */
    int comment; /* comments before this one are printed */
    bool fresh;  /* nothing was printed in this block yet */
} Layout;

static void line_start(const Layout *l) { text_printf(l->w.out, "%*s", l->level * INDENT, ""); }

static int source_newlines(const Layout *l, uint32_t from, uint32_t to) {
    int n = 0;
    for (uint32_t i = from; i < to; i++) n += l->w.source->text[i] == '\n';
    return n;
}

/* Keeps one of the empty lines that stand before `at` in the source. */
static void blank_keep(Layout *l, uint32_t at) {
    uint32_t begin = at;
    while (begin > 0 && strchr(" \t\r\n\f", l->w.source->text[begin - 1])) begin--;
    if (!l->fresh && source_newlines(l, begin, at) > 1) text_add(l->w.out, "\n");
    l->fresh = false;
}

static const Loc *comment_before(const Layout *l, uint32_t at) {
    if (l->comment >= l->unit->comments.n) return NULL;
    const Loc *c = &l->unit->comments.p[l->comment];
    return c->begin < at ? c : NULL;
}

static void comment_print(Layout *l) {
    Loc c = l->unit->comments.p[l->comment++];
    const char *text = l->w.source->text;
    while (c.end > c.begin && strchr(" \t\r\f", text[c.end - 1])) c.end--;
    text_add_n(l->w.out, text + c.begin, c.end - c.begin);
}

/* Comments in front of `at`, each on its own line. */
static void comments_above(Layout *l, uint32_t at) {
    for (const Loc *c; (c = comment_before(l, at));) {
        blank_keep(l, c->begin);
        line_start(l);
        comment_print(l);
        text_add(l->w.out, "\n");
    }
}

/* Ends a line that shows the source up to `end`, with the comments that follow there and start before `limit`. */
static void line_end(Layout *l, uint32_t end, uint32_t limit) {
    for (const Loc *c; (c = comment_before(l, limit)) && c->begin >= end;) {
        if (source_newlines(l, end, c->begin)) break;
        text_add(l->w.out, "  ");
        end = c->end;
        comment_print(l);
    }
    text_add(l->w.out, "\n");
}

/* Comments inside of what cannot show them go above it. */
static void item_start(Layout *l, uint32_t begin, uint32_t shown_end) {
    comments_above(l, begin);
    blank_keep(l, begin);
    comments_above(l, shown_end);
    line_start(l);
}

static void stmt_format(Layout *, const Stmt *, uint32_t limit);

/* Statements between a '{' that ends the line shown up to `end`, and the '}' at `close`. */
static void block_format(Layout *l, const Stmts *v, uint32_t end, uint32_t close) {
    text_add(l->w.out, " {");
    line_end(l, end, v->n ? v->p[0]->span.begin : close);
    l->level++;
    l->fresh = true;
    for (int i = 0; i < v->n; i++) stmt_format(l, v->p[i], i + 1 < v->n ? v->p[i + 1]->span.begin : close);
    comments_above(l, close);
    l->level--;
    l->fresh = false;
    line_start(l);
    text_add(l->w.out, "}");
}

static void simple_print(Writer w, const Stmt *s) {
    ast_print_targets(w, s);
    ast_print_expr(w, s->value);
    text_add(w.out, ";");
}

/* Without a block. */
static bool is_plain(const Stmt *s) { return s->kind == STMT_ASSIGN || s->kind == STMT_LET || s->kind == STMT_ASSERT || s->kind == STMT_PRINT; }

static bool is_simple(const Stmt *s) { return is_plain(s) && s->value->kind != EXPR_CHOOSE; }

static bool is_chain(const Stmt *s) {
    return s->other.n == 1 && s->other.p[0]->kind == STMT_IF && s->other_close + 1 == s->other.p[0]->span.end;
}

static size_t line_width(const Layout *l) {
    size_t n = l->w.out->n;
    while (n > 0 && l->w.out->p[n - 1] != '\n') n--;
    return l->w.out->n - n;
}

/* ---- what stays on one line, where the source has it on one and it fits on one here ---- */

static bool stmt_line(Writer, const Stmt *);

static bool block_line(Writer w, const Stmts *v) {
    text_add(w.out, " {");
    for (int i = 0; i < v->n; i++) {
        text_add(w.out, " ");
        if (!stmt_line(w, v->p[i])) return false;
    }
    text_add(w.out, " }");
    return v->n > 0;
}

static bool stmt_line(Writer w, const Stmt *s) {
    if (is_simple(s)) return simple_print(w, s), true;
    if (s->has_merge || is_plain(s)) return false;
    ast_print_head(w, s);
    if (!block_line(w, &s->body)) return false;
    if (!s->has_else) return true;
    text_add(w.out, " else");
    if (!is_chain(s)) return block_line(w, &s->other);
    text_add(w.out, " ");
    return stmt_line(w, s->other.p[0]);
}

/* Takes the line, and frees it. */
static bool line_keep(Layout *l, Text *line, bool good) {
    bool fits = good && line_width(l) + line->n <= WIDTH;
    if (fits) text_add_n(l->w.out, line->p, line->n);
    text_free(line);
    return fits;
}

static bool short_print(Layout *l, const Stmt *s) {
    Text line = {0};
    if (source_newlines(l, s->span.begin, s->span.end)) return false;
    return line_keep(l, &line, stmt_line((Writer){&line, l->w.source}, s));
}

static bool body_print(Layout *l, const Decl *d, uint32_t begin) {
    Text line = {0};
    if (source_newlines(l, begin, d->close) || comment_before(l, d->close)) return false;
    return line_keep(l, &line, block_line((Writer){&line, l->w.source}, &d->body));
}

static void choose_format(Layout *l, const Expr *e) {
    text_add(l->w.out, "choose ");
    if (e->name) text_printf(l->w.out, "by \"%s\" ", e->name);
    text_add(l->w.out, "{");
    line_end(l, e->loc.begin, e->arms.p[0].loc.begin);
    l->level++;
    l->fresh = true;
    for (int i = 0; i < e->arms.n; i++) {
        const ChooseArm *arm = &e->arms.p[i];
        item_start(l, arm->loc.begin, arm->value->loc.end);
        text_printf(l->w.out, "%s: ", arm->name);
        ast_print_expr(l->w, arm->value);
        text_add(l->w.out, ";");
        line_end(l, arm->value->loc.end, i + 1 < e->arms.n ? arm[1].loc.begin : e->close);
    }
    comments_above(l, e->close);
    l->level--;
    line_start(l);
    text_add(l->w.out, "};");
}

static void assign_format(Layout *l, const Stmt *s) {
    if (is_simple(s)) {
        simple_print(l->w, s);
        return;
    }
    ast_print_targets(l->w, s);
    choose_format(l, s->value);
}

static void rest_format(Layout *, const Stmt *);

static void head_and_block(Layout *l, const Stmt *s) {
    ast_print_head(l->w, s);
    block_format(l, &s->body, s->loc.end, s->body_close);
    rest_format(l, s);
}

/* What follows the first block: else, else if, merge. */
static void rest_format(Layout *l, const Stmt *s) {
    if (s->has_merge) {
        text_add(l->w.out, " merge (");
        for (int i = 0; i < s->merge.n; i++) text_printf(l->w.out, "%s%s", i ? ", " : "", s->merge.p[i]);
        text_add(l->w.out, ")");
        block_format(l, &s->merge_body, vec_last(&s->merge_loc).end, s->other_close);
    }
    if (!s->has_else) return;
    text_add(l->w.out, " else");
    if (is_chain(s)) {
        text_add(l->w.out, " ");
        head_and_block(l, s->other.p[0]);
    } else {
        block_format(l, &s->other, s->body_close, s->other_close);
    }
}

static uint32_t shown_end(const Stmt *s) {
    if (!is_plain(s)) return s->loc.end;
    return is_simple(s) ? s->span.end : s->value->loc.begin;
}

static void stmt_format(Layout *l, const Stmt *s, uint32_t limit) {
    item_start(l, s->span.begin, shown_end(s));
    bool holds_comment = comment_before(l, s->span.end) != NULL;
    if (is_plain(s))
        assign_format(l, s);
    else if (holds_comment || !short_print(l, s))
        head_and_block(l, s);
    line_end(l, s->span.end, limit);
}

static uint32_t param_end(const ParamDecl *p) {
    return p->otherwise ? p->otherwise->loc.end : p->hi ? p->hi->loc.end : p->type.loc.end;
}

/* Parameters or fields, one a line, each with the comments at its end. */
static void params_format(Layout *l, const ParamDecls *v, uint32_t close, const char *end) {
    for (int i = 0; i < v->n; i++) {
        item_start(l, v->p[i].loc.begin, param_end(&v->p[i]));
        ast_print_param(l->w, &v->p[i]);
        text_add(l->w.out, i + 1 < v->n ? "," : end);
        if (i + 1 < v->n || *end == 0) line_end(l, param_end(&v->p[i]), i + 1 < v->n ? v->p[i + 1].loc.begin : close);
    }
}

static uint32_t params_end(const ParamDecls *v, uint32_t otherwise) {
    return v->n ? param_end(&vec_last(v)) : otherwise;
}

static uint32_t head_end(const Decl *d) { return params_end(&d->results, params_end(&d->params, d->loc.end)); }

static bool is_fitting(Layout *l, const ParamDecls *v, size_t more) {
    Text line = {0};
    ast_print_params((Writer){&line, l->w.source}, v);
    size_t width = line_width(l) + line.n + more;
    text_free(&line);
    return width <= WIDTH;
}

/* The parameters and the ')': on the line if they fit and hold no comments. */
static void head_params(Layout *l, const Decl *d, size_t more) {
    if (!comment_before(l, params_end(&d->params, 0)) && is_fitting(l, &d->params, more)) {
        ast_print_params(l->w, &d->params);
        text_add(l->w.out, ")");
        return;
    }
    text_add(l->w.out, "\n");
    l->level += 2;
    l->fresh = true;
    params_format(l, &d->params, d->close, ")");
    l->level -= 2;
}

static void signature_format(Layout *l, const Decl *d) {
    text_printf(l->w.out, "%s(", d->name);
    head_params(l, d, 1);
    Text results = {0};
    ast_print_params((Writer){&results, l->w.source}, &d->results);
    bool fits = line_width(l) + results.n + strlen(" -> () {") <= WIDTH;
    if (!fits) text_printf(l->w.out, "\n%*s", (l->level + 2) * INDENT - 1, "");
    text_printf(l->w.out, " -> (%s)", text_str(&results));
    text_free(&results);
    if (!body_print(l, d, head_end(d))) block_format(l, &d->body, head_end(d), d->close);
}

static void record_format(Layout *l, const Decl *d) {
    bool one_line = !source_newlines(l, d->span.begin, d->span.end) && !comment_before(l, d->span.end);
    text_printf(l->w.out, "record %s {", d->name);
    if (one_line && is_fitting(l, &d->params, strlen("  }"))) {
        text_add(l->w.out, d->params.n ? " " : "");
        ast_print_params(l->w, &d->params);
        text_add(l->w.out, " }");
        return;
    }
    line_end(l, d->loc.end, d->params.n ? d->params.p[0].loc.begin : d->close);
    l->level++;
    l->fresh = true;
    params_format(l, &d->params, d->close, "");
    comments_above(l, d->close);
    l->level--;
    text_add(l->w.out, "}");
}

static void format_format(Layout *l, const Decl *d) {
    text_printf(l->w.out, "format %s(", d->name);
    ast_print_params(l->w, &d->params);
    text_add(l->w.out, ") for ");
    ast_print_type(l->w, &d->stands_for);
    text_add(l->w.out, " {");
    line_end(l, d->stands_for.loc.end, d->inner.n ? d->inner.p[0]->span.begin : d->close);
    l->level++;
    l->fresh = true;
    for (int i = 0; i < d->inner.n; i++) {
        const Decl *inner = d->inner.p[i];
        item_start(l, inner->span.begin, inner->loc.end);
        signature_format(l, inner);
        line_end(l, inner->span.end, i + 1 < d->inner.n ? d->inner.p[i + 1]->span.begin : d->close);
    }
    comments_above(l, d->close);
    l->level--;
    text_add(l->w.out, "}");
}

static void bound_print(Writer w, const Decl *d) {
    text_printf(w.out, "%s %s ", d->name, d->bounded ? "<=" : "=");
    ast_print_expr(w, d->value);
}

static void bounds_line(Writer w, Decl *const *d, int n) {
    for (int i = 0; i < n; i++) {
        if (i) text_add(w.out, ", ");
        bound_print(w, d[i]);
    }
}

/* A list of dims or mesh axes: on one line, or one a line. */
static void bounds_format(Layout *l, Decl *const *d, int n) {
    Text line = {0};
    bool holds_comment = comment_before(l, d[n - 1]->span.end) != NULL;
    bounds_line((Writer){&line, l->w.source}, d, n);
    text_add(l->w.out, d[0]->kind == DECL_DIM ? "dim " : "mesh ");
    if (!holds_comment && line.n + strlen("mesh ;") <= WIDTH) {
        text_add(l->w.out, text_str(&line));
    } else {
        l->level += 2;
        for (int i = 0; i < n; i++) {
            if (i) item_start(l, d[i]->span.begin, d[i]->span.end);
            bound_print(l->w, d[i]);
            if (i + 1 == n) break;
            text_add(l->w.out, ",");
            line_end(l, d[i]->span.end, d[i + 1]->span.begin);
        }
        l->level -= 2;
    }
    text_add(l->w.out, ";");
    text_free(&line);
}

/* Of the word before the first name of a list, with nothing but spaces between them. */
static uint32_t word_begin(const Layout *l, const Decl *d) {
    const char *text = l->w.source->text, *word = d->kind == DECL_DIM ? "dim" : "mesh";
    uint32_t begin = d->span.begin, n = (uint32_t)strlen(word);
    while (begin > n && strchr(" \t\r\n\f", text[begin - 1])) begin--;
    return begin >= n && strncmp(text + begin - n, word, n) == 0 ? begin - n : d->span.begin;
}

static void decl_format(Layout *l, Decl *const *d, int n) {
    bool bounds = d[0]->kind == DECL_DIM || d[0]->kind == DECL_MESH;
    item_start(l, bounds ? word_begin(l, d[0]) : d[0]->span.begin, bounds ? d[0]->span.end : d[0]->loc.end);
    switch (d[0]->kind) {
    case DECL_DIM:
    case DECL_MESH: bounds_format(l, d, n); break;
    case DECL_KERNEL:
        text_add(l->w.out, "kernel ");
        signature_format(l, d[0]);
        break;
    case DECL_PROGRAM:
        text_add(l->w.out, "program ");
        signature_format(l, d[0]);
        break;
    case DECL_RECORD: record_format(l, d[0]); break;
    case DECL_FORMAT: format_format(l, d[0]); break;
    case DECL_IMPORT: text_printf(l->w.out, "import \"%s\";", d[0]->name); break;
    }
}

void unit_print(Text *out, const Unit *unit, const Diags *diags) {
    const SourceFile *source = &diags->file.p[unit->file - 1];
    Layout l = {.w = {out, source}, .unit = unit, .fresh = true};
    uint32_t end = (uint32_t)source->len;
    for (int i = 0, n; i < unit->decls.n; i += n) {
        Decl *const *d = &unit->decls.p[i];
        for (n = 1; i + n < unit->decls.n && d[n]->joined;) n++;
        decl_format(&l, d, n);
        line_end(&l, d[n - 1]->span.end, i + n < unit->decls.n ? d[n]->span.begin : end);
    }
    comments_above(&l, end);
}
