/* parse.c: parses one source file; stands between scanner and grammar to keep count of brackets.
   Takes: a file of Diags. Gives: its syntax tree, with every syntax error reported. */
#include "frontend/syntax/gram.h"
#define YYSTYPE SYNTAX_STYPE
#define YYLTYPE Loc
#include "frontend/syntax/lex.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 255 };

static void parse_stop(Parse *p) {
    p->quiet_to = UINT32_MAX;
    p->nopen = 0;
    p->held = TOK_YYEOF;
}

void parse_stop_nesting(Parse *p, Loc loc) {
    if (p->quiet_to == UINT32_MAX) return;
    diag_error(p->diags, loc, "nesting", "nesting deeper than %d", SYNTAX_NESTING);
    parse_stop(p);
}

/* text: digits, perhaps 0x before them; anything else is malformed. */
int64_t scan_integer(Parse *p, const char *text, Loc loc) {
    bool hex = text[0] == '0' && (text[1] | 32) == 'x';
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, hex ? 16 : 10);
    size_t used = (size_t)(end - text);
    if (used != loc.end - loc.begin || (text[0] == '0' && !hex && used > 1) || (hex && used < 3)) {
        diag_error(p->diags, loc, "bad-number", "malformed number");
    } else if (errno || value > INT64_MAX) {
        diag_error(p->diags, loc, "number-range", "number beyond 64 bits");
        value = 0;
    }
    return (int64_t)(value > INT64_MAX ? 0 : value);
}

double scan_float(Parse *p, const char *text, Loc loc) {
    char *end;
    double value = strtod(text, &end);
    if ((size_t)(end - text) != loc.end - loc.begin)
        diag_error(p->diags, loc, "bad-number", "malformed number");
    else if (isinf(value))
        diag_error(p->diags, loc, "number-range", "number beyond the range of f64");
    return isfinite(value) ? value : 0;
}

Name scan_name(Parse *p, const char *text, size_t len, Loc loc) {
    if (len > NAME_BYTES) {
        diag_error(p->diags, loc, "name-length", "name longer than %d bytes", NAME_BYTES);
        len = NAME_BYTES;
    }
    return name_of_n(p->names, text, len);
}

static void bracket_open(Parse *p, int token, Loc loc) {
    if (p->nopen == SYNTAX_NESTING)
        parse_stop_nesting(p, loc);
    else
        p->open[p->nopen++] = (OpenBracket){loc, token == '(' ? ')' : token == '[' ? ']' : '}'};
}

/* A '}' also closes what is open inside its block; another closing bracket that does not match closes nothing. */
static void bracket_close(Parse *p, int token) {
    p->mismatch = (Loc){0};
    if (p->nopen && p->open[p->nopen - 1].close == token) {
        p->nopen--;
        return;
    }
    if (p->nopen) p->mismatch = p->open[p->nopen - 1].loc;
    for (int i = p->nopen; token == '}' && i > 0; i--)
        if (p->open[i - 1].close == '}') {
            p->nopen = i - 1;
            return;
        }
}

static bool is_at_line_start(const Parse *p, Loc loc) {
    return loc.begin == 0 || p->source->text[loc.begin - 1] == '\n';
}

/* A declaration at the start of a line ends every open block, and so does the end of the file. */
static bool ends_blocks(const Parse *p, int token, Loc loc) {
    switch (token) {
    case TOK_YYEOF: return true;
    case TOK_DIM:
    case TOK_MESH:
    case TOK_KERNEL:
    case TOK_PROGRAM:
    case TOK_RECORD:
    case TOK_FORMAT:
    case TOK_IMPORT: return is_at_line_start(p, loc);
    default: return false;
    }
}

static void missing_report(Parse *p, int token) {
    const OpenBracket *open = &p->open[p->nopen - 1];
    Loc end = {p->held_loc.file, p->newest.end, p->newest.end};
    if (p->held_loc.begin < p->quiet_to) return;
    diag_error(p->diags, token == TOK_YYEOF ? end : p->held_loc, "syntax", "expected '%c' before %s", open->close,
               token == TOK_YYEOF ? "the end of the file" : "the next declaration");
    diag_note(p->diags, open->loc, "to match this '%c'", p->source->text[open->loc.begin]);
    p->quiet_to = p->held_loc.end + (token == TOK_YYEOF);
}

static bool is_declaration_unended(const Parse *p) {
    int last = p->kind[0];
    return p->held != TOK_YYEOF && last && last != ';' && last != '}' && last != TOK_BREAK;
}

/* The next token: p->held, but first the brackets that are missing before it, and a mark where no declaration ends. */
static int token_held(Parse *p, Loc *loc) {
    int token = p->held;
    if (p->nopen) {
        missing_report(p, token);
        *loc = (Loc){p->held_loc.file, p->newest.end, p->newest.end};
        return p->open[--p->nopen].close;
    }
    *loc = p->held_loc;
    if (is_declaration_unended(p)) return TOK_BREAK;
    if (token != TOK_YYEOF) p->held = 0;
    return token;
}

static int token_next(Parse *p, SYNTAX_STYPE *value, Loc *loc) {
    if (p->held) return token_held(p, loc);
    int token = scan_lex(value, loc, p->scanner);
    if (token == TOK_YYEOF) *loc = (Loc){p->unit->file, p->at, p->at};
    if (ends_blocks(p, token, *loc)) {
        p->held = token;
        p->held_loc = *loc;
        return token_held(p, loc);
    }
    if (token == '(' || token == '[' || token == '{') bracket_open(p, token, *loc);
    if (token == ')' || token == ']' || token == '}') bracket_close(p, token);
    return token;
}

int syntax_lex(SYNTAX_STYPE *value, Loc *loc, Parse *p) {
    p->before = p->newest;
    int token = token_next(p, value, loc);
    if (token != TOK_BREAK) p->newest = *loc;
    memmove(p->kind + 1, p->kind, sizeof p->kind - sizeof *p->kind);
    return p->kind[0] = token;
}

/* A mark of UTF-8 at the beginning, as some editors write it, is skipped. */
static void parse_text(Parse *p) {
    p->at = p->source->len >= 3 && memcmp(p->source->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    scan_lex_init_extra(p, &p->scanner);
    scan__scan_bytes(p->source->text + p->at, (int)(p->source->len - p->at), p->scanner);
    syntax_parse(p);
    scan_lex_destroy(p->scanner);
}

Unit *parse_source(Arena *arena, Names *names, Diags *diags, int file) {
    Parse *p = ARENA_NEW(arena, Parse);
    *p = (Parse){.arena = arena, .names = names, .diags = diags, .unit = ARENA_NEW(arena, Unit)};
    p->unit->file = file;
    p->source = &diags->file.p[file - 1];
    p->newest = p->held_loc = (Loc){.file = file};
    if (p->source->len > SYNTAX_BYTES)
        diag_error(diags, (Loc){file, 0, 0}, "source-size", "source larger than %d MiB", SYNTAX_BYTES >> 20);
    else
        parse_text(p);
    return p->unit;
}
