/* tree.c: parses decision trees, by recursive descent; a chain of `else if` may be as long as a tree may have nodes.
   Takes: a file of Diags. Gives: its tree, or the first error. */
#include "frontend/sema/tree.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef enum { WORD_END, WORD_NAME, WORD_NUMBER, WORD_SIGN } WordKind;

typedef struct {
    Arena *arena;
    Names *names;
    Diags *diags;
    const char *text;
    uint32_t at, len;
    int file, nodes, depth;
    WordKind kind; /* of the word at hand */
    Loc loc;
    char sign; /* < > + - * / ( ), 'l' for <=, 'g' for >= */
    Name name;
    double number;
} TreeText;

/* ---- words ---- */

static bool report(TreeText *t, Loc loc, const char *id, const char *message) {
    diag_error(t->diags, loc, id, "%s", message);
    return false;
}

static void blank_skip(TreeText *t) {
    while (t->at < t->len) {
        if (isspace((unsigned char)t->text[t->at]))
            t->at++;
        else if (t->at + 1 < t->len && t->text[t->at] == '/' && t->text[t->at + 1] == '/')
            while (t->at < t->len && t->text[t->at] != '\n') t->at++;
        else
            return;
    }
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static void name_read(TreeText *t) {
    while (t->at < t->len && is_word(t->text[t->at])) t->at++;
    t->kind = WORD_NAME;
    t->name = name_of_n(t->names, t->text + t->loc.begin, t->at - t->loc.begin);
}

/* Digits, a fraction and an exponent; the text of a file ends with a 0 byte. */
static bool number_read(TreeText *t) {
    char *end;
    if (strncmp(t->text + t->at, "0x", 2) == 0 || strncmp(t->text + t->at, "0X", 2) == 0)
        return report(t, t->loc, "bad-number", "malformed number");
    t->number = strtod(t->text + t->at, &end);
    t->at = (uint32_t)(end - t->text);
    t->kind = WORD_NUMBER;
    if (t->number > 1e300) return report(t, t->loc, "number-range", "number beyond 1e300");
    return t->at == t->len || !is_word(*end) || report(t, t->loc, "bad-number", "malformed number");
}

static bool sign_read(TreeText *t, char c) {
    if (!c || !strchr("<>+-*/()", c))
        return report(t, (Loc){t->file, t->at, t->at + 1}, "stray-character", "stray character");
    t->kind = WORD_SIGN;
    t->sign = c;
    if (++t->at < t->len && t->text[t->at] == '=' && (c == '<' || c == '>')) t->at++, t->sign = c == '<' ? 'l' : 'g';
    return true;
}

static bool next(TreeText *t) {
    bool good = true;
    blank_skip(t);
    t->kind = WORD_END;
    t->loc = (Loc){t->file, t->at, t->at};
    if (t->at == t->len) return true;
    char c = t->text[t->at];
    if (isdigit((unsigned char)c) || (c == '.' && t->at + 1 < t->len && isdigit((unsigned char)t->text[t->at + 1])))
        good = number_read(t);
    else if (is_word(c))
        name_read(t);
    else
        good = sign_read(t, c);
    t->loc.end = t->at;
    return good;
}

static bool at_sign(const TreeText *t, char sign) { return t->kind == WORD_SIGN && t->sign == sign; }
static bool at_name(const TreeText *t, const char *name) { return t->kind == WORD_NAME && strcmp(t->name, name) == 0; }

static bool expected(TreeText *t, const char *what) {
    diag_error(t->diags, t->loc, "syntax", "expected %s%s", what,
               t->kind == WORD_END ? " before the end of the tree" : "");
    return false;
}

/* ---- features ---- */

static Expr *feature_sum(TreeText *);

static Expr *feature_new(TreeText *t, ExprKind kind) {
    Expr *e = ARENA_NEW(t->arena, Expr);
    *e = (Expr){.kind = kind, .loc = t->loc, .name = t->name, .f = t->number};
    return e;
}

static Expr *feature_atom(TreeText *);

/* -x is 0 - x */
static Expr *feature_negated(TreeText *t) {
    Expr *zero = ARENA_NEW(t->arena, Expr), *e = feature_new(t, EXPR_BINARY);
    *zero = (Expr){.kind = EXPR_FLOAT, .loc = t->loc};
    e->op = AST_SUB;
    e->lhs = zero;
    if (++t->depth > TREE_NESTING) return report(t, t->loc, "nesting", "nested too deeply"), NULL;
    e->rhs = next(t) ? feature_atom(t) : NULL;
    t->depth--;
    return e->rhs ? e : NULL;
}

static Expr *feature_atom(TreeText *t) {
    bool name = t->kind == WORD_NAME && !at_name(t, "if") && !at_name(t, "else");
    if (name || t->kind == WORD_NUMBER) {
        Expr *e = feature_new(t, name ? EXPR_NAME : EXPR_FLOAT);
        return next(t) ? e : NULL;
    }
    if (at_sign(t, '-')) return feature_negated(t);
    if (!at_sign(t, '(')) return expected(t, "a name, a number or '('"), NULL;
    if (++t->depth > TREE_NESTING) return report(t, t->loc, "nesting", "nested too deeply"), NULL;
    Expr *e = next(t) ? feature_sum(t) : NULL;
    t->depth--;
    if (e && !at_sign(t, ')')) return expected(t, "')'"), NULL;
    return e && next(t) ? e : NULL;
}

/* At most TREE_NESTING + 1 operands in a row. */
static Expr *feature_chain(TreeText *t, Expr *(*operand)(TreeText *), const char *signs, const AstOp *op) {
    Expr *e = operand(t);
    for (int n = 0; e && t->kind == WORD_SIGN && strchr(signs, t->sign); n++) {
        Expr *pair = feature_new(t, EXPR_BINARY);
        pair->op = op[t->sign == signs[1]];
        pair->lhs = e;
        if (n == TREE_NESTING) return report(t, t->loc, "nesting", "too many operands"), NULL;
        pair->rhs = next(t) ? operand(t) : NULL;
        if (!pair->rhs) return NULL;
        pair->loc = (Loc){t->file, e->loc.begin, pair->rhs->loc.end};
        e = pair;
    }
    return e;
}

static Expr *feature_product(TreeText *t) {
    static const AstOp op[] = {AST_MUL, AST_DIV};
    return feature_chain(t, feature_atom, "*/", op);
}

static Expr *feature_sum(TreeText *t) {
    static const AstOp op[] = {AST_ADD, AST_SUB};
    return feature_chain(t, feature_product, "+-", op);
}

static Expr *test_read(TreeText *t) {
    static const char signs[] = "<l>g";
    static const AstOp op[] = {AST_LT, AST_LE, AST_GT, AST_GE};
    Expr *lhs = next(t) ? feature_sum(t) : NULL;
    if (!lhs) return NULL;
    const char *sign = t->kind == WORD_SIGN ? strchr(signs, t->sign) : NULL;
    if (!sign) return expected(t, "a comparison: < <= > >="), NULL;
    Expr *e = feature_new(t, EXPR_BINARY);
    e->op = op[sign - signs];
    e->lhs = lhs;
    e->rhs = next(t) ? feature_sum(t) : NULL;
    return e->rhs ? e : NULL;
}

/* ---- trees ---- */

static bool tree_read(TreeText *, Tree *);

static bool leaf_read(TreeText *t, Tree *tree) {
    if (t->kind != WORD_NAME || at_name(t, "else")) return expected(t, "'if' or the name of an arm");
    tree->arm = t->name;
    return next(t);
}

static Tree *tree_new(TreeText *t) {
    if (t->nodes++ == TREE_NODES) return report(t, t->loc, "nesting", "a tree of more than 4096 nodes"), NULL;
    return ARENA_NEW(t->arena, Tree);
}

/* if test yes else: what follows is read by the caller. */
static bool branch_read(TreeText *t, Tree *tree) {
    Tree *yes = tree_new(t);
    if (++t->depth > TREE_NESTING) return report(t, t->loc, "nesting", "nested too deeply");
    tree->test = test_read(t);
    if (!tree->test || !yes || !tree_read(t, yes)) return false;
    t->depth--;
    tree->yes = yes;
    return at_name(t, "else") ? next(t) : expected(t, "'else'");
}

static bool tree_read(TreeText *t, Tree *tree) {
    for (;;) {
        tree->loc = t->loc;
        if (!at_name(t, "if")) return leaf_read(t, tree);
        if (!branch_read(t, tree)) return false;
        Tree *no = tree_new(t);
        if (!no) return false;
        tree->no = no;
        tree = no;
    }
}

const Tree *tree_parse(Arena *arena, Names *names, Diags *diags, int file) {
    const SourceFile *f = &diags->file.p[file - 1];
    TreeText t = {
        .arena = arena, .names = names, .diags = diags, .file = file, .text = f->text, .len = (uint32_t)f->len};
    Tree *tree = tree_new(&t);
    if (f->len > TREE_BYTES) return report(&t, (Loc){file, 0, 0}, "source-size", "tree larger than 1 MiB"), NULL;
    if (!next(&t) || !tree_read(&t, tree)) return NULL;
    return t.kind == WORD_END ? tree : (expected(&t, "the end of the tree"), NULL);
}
