/* gram.y: the grammar of the tile language; docs/reference/language.md explains it.
   Actions only build nodes (ast.c); judgement that needs no names is there too, all other comes later. */
%code requires {
#include "frontend/syntax/parse.h"
}
%code provides {
int syntax_lex(SYNTAX_STYPE *, Loc *, Parse *);
}
%code {
#include <stdlib.h>
#include <string.h>

#define YYMALLOC(n) mem_realloc(NULL, n)
#define YYFREE free
#define YYLLOC_DEFAULT(now, rhs, n)                                                                                    \
    (now) = (n) ? (Loc){YYRHSLOC(rhs, 1).file, YYRHSLOC(rhs, 1).begin, YYRHSLOC(rhs, n).end}                           \
                : (Loc){YYRHSLOC(rhs, 0).file, YYRHSLOC(rhs, 0).end, YYRHSLOC(rhs, 0).end}

#define LIST_ONE(list, x) ((list) = (__typeof__(list)){0}, vec_push(p->arena, &(list), x))
#define LIST_ADD(list, old, x) ((list) = (old), vec_push(p->arena, &(list), x))

static Loc loc_join(Loc a, Loc b) { return (Loc){a.file, a.begin, b.end}; }
static void decls_add(Parse *p, Decls *to, const Decls *from) {
    for (int i = 0; i < from->n; i++) vec_push(p->arena, to, from->p[i]);
}
static void syntax_error(const Loc *loc, Parse *p, const char *message);
}

%define api.pure full
%define api.prefix {syntax_}
%define api.token.prefix {TOK_}
%define api.location.type {Loc}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param {Parse *p}

%union {
    int64_t i;
    double f;
    Name name;
    Expr *expr;
    Exprs exprs;
    ChooseArms arms;
    Stmt *stmt;
    Stmts stmts;
    Block block;
    MergeClause merge;
    RangeDecl range;
    RangeDecls ranges;
    TypeExpr type;
    ParamDecl param;
    ParamDecls params;
    AssignOp assign;
    Decl *decl;
    Decls decls;
}

%token YYEOF 0 "end of file"
%token DIM "'dim'" MESH "'mesh'" KERNEL "'kernel'" PROGRAM "'program'" RECORD "'record'" FORMAT "'format'"
%token IMPORT "'import'" EACH "'each'" FOR "'for'" IN "'in'" LET "'let'" ASSERT "'assert'" IF "'if'" ELSE "'else'" MERGE "'merge'"
%token REPEAT "'repeat'" CHOOSE "'choose'" AUTO "'auto'" INF "'inf'" TRUE "'true'" FALSE "'false'"
%token OF "'of'" ON "'on'" BY "'by'" AS "'as'" CONST "'const'" STATE "'state'" INOUT "'inout'" UNIQUE "'unique'"
%token ASCENDING "'ascending'" FIXED "'fixed'"
%token DOTS "'..'" ARROW "'->'" LE "'<='" GE "'>='" EQ "'=='" NE "'!='" AND "'&&'" OR "'||'" SHL "'<<'" SHR "'>>'"
%token ADD_SET "'+='" SUB_SET "'-='" MUL_SET "'*='" DIV_SET "'/='"
%token BREAK "the next declaration" /* stands before a declaration where the one before is not ended */
%token <name> NAME "a name" STRING "a text in quotes"
%token <i> INT "a number"
%token <f> FLOAT "a number with a fraction"

%right '?' ':'
%left OR
%left AND
%left '|'
%left '^'
%left '&'
%left EQ NE
%left '<' LE '>' GE
%left SHL SHR
%left '+' '-'
%left '*' '/' '%' '@'
%precedence UNARY

%type <name> name label level
%type <expr> expr postfix primary value target size number choose
%type <exprs> exprs args targets
%type <arms> arms
%type <stmt> stmt if
%type <stmts> stmts
%type <block> block
%type <merge> merge names
%type <range> range
%type <ranges> ranges loop
%type <type> type shaped held
%type <param> param
%type <params> params param_list fields
%type <assign> assign
%type <decl> decl bound axis head signature apply
%type <decls> bounds axes applies

%%

unit: %empty | unit declaration;

declaration:
    decl                        { vec_push(p->arena, &p->unit->decls, $decl); }
  | DIM bounds ';'              { decls_add(p, &p->unit->decls, &$bounds); }
  | MESH axes ';'               { decls_add(p, &p->unit->decls, &$axes); }
  | error ';' | error '}' | error BREAK
  | DIM error ';' | MESH error ';' | IMPORT error ';' | RECORD error '}' | FORMAT error '{' applies '}'
  | KERNEL error block | PROGRAM error block
  | DIM error BREAK | MESH error BREAK | IMPORT error BREAK | RECORD error BREAK | FORMAT error BREAK
  | KERNEL error BREAK | PROGRAM error BREAK;

decl:
    IMPORT STRING ';'           { $$ = decl_new(p, DECL_IMPORT, $2, @2, @$); }
  | RECORD name '{' fields '}'  { $$ = decl_new(p, DECL_RECORD, $name, @name, @$); $$->params = $fields;
                                  no_defaults(p, &$fields);
                                  $$->close = @5.begin; }
  | head block                  { $$ = $head; decl_body($$, $block, @$); }
  | FORMAT name '(' params ')' FOR type '{' applies '}'
                                { $$ = decl_new(p, DECL_FORMAT, $name, @name, @$); $$->params = $params;
                                  $$->stands_for = $type; $$->close = @10.begin;
                                  $$->inner.p = $applies.p; $$->inner.n = $applies.n; $$->inner.cap = $applies.cap; };

head:
    KERNEL signature            { $$ = $signature; $$->kind = DECL_KERNEL; }
  | PROGRAM signature           { $$ = $signature; };

signature: name '(' params[in] ')' ARROW '(' params[out] ')'
                                { $$ = decl_callable(p, DECL_PROGRAM, $name, @name, @$, $in, $out); };

applies: %empty                 { $$ = (Decls){0}; }
  | applies[old] apply          { LIST_ADD($$, $old, $apply); };

apply: signature block          { $$ = $signature; decl_body($$, $block, @$); };

bounds: bound                   { LIST_ONE($$, $bound); }
  | bounds[old] ',' bound       { LIST_ADD($$, $old, $bound); $bound->joined = true; };

bound:
    name '=' expr               { $$ = decl_value(p, DECL_DIM, $name, @name, @$, $expr); }
  | name LE expr                { $$ = decl_value(p, DECL_DIM, $name, @name, @$, $expr); $$->bounded = true; };

axes: axis                      { LIST_ONE($$, $axis); }
  | axes[old] ',' axis          { LIST_ADD($$, $old, $axis); $axis->joined = true; };

axis: name '=' expr             { $$ = decl_value(p, DECL_MESH, $name, @name, @$, $expr); };

params: %empty                  { $$ = (ParamDecls){0}; } | param_list;

fields: params | param_list ',';

param_list: param               { LIST_ONE($$, $param); }
  | param_list[old] ',' param   { LIST_ADD($$, $old, $param); };

param:
    name ':' type               { $$ = (ParamDecl){.name = $name, .loc = @name, .type = $type}; }
  | name ':' type IN expr[lo] DOTS expr[hi]
                                { $$ = (ParamDecl){.name = $name, .loc = @name, .type = $type, .lo = $lo, .hi = $hi}; }
  | name ':' type '=' expr      { $$ = param_default(p, $name, @name, $type, $expr); }
  | CONST param[rest]           { $$ = param_mode(p, $rest, (ParamDecl){.is_const = true}, @1); }
  | UNIQUE param[rest]          { $$ = param_mode(p, $rest, (ParamDecl){.is_unique = true}, @1); }
  | ASCENDING param[rest]       { $$ = param_mode(p, $rest, (ParamDecl){.is_ascending = true}, @1); }
  | STATE param[rest]           { $$ = param_mode(p, $rest, (ParamDecl){.mode = PARAM_STATE}, @1); }
  | INOUT param[rest]           { $$ = param_mode(p, $rest, (ParamDecl){.mode = PARAM_INOUT}, @1); };

type: shaped
  | shaped AS name '(' args ')' { $$ = $shaped; $$.format = $name; $$.format_args = $args; $$.loc = @$; };

shaped: name                    { $$ = (TypeExpr){.elem = $name, .loc = @$}; }
  | name '[' exprs ']'          { $$ = type_shaped($name, @$, $exprs); };

held: type
  | name[of] '(' name[elem] ')'                 { $$ = (TypeExpr){.of = $of, .elem = $elem, .loc = @$}; }
  | name[of] '(' name[elem] ')' '[' exprs ']'   { $$ = type_shaped($elem, @$, $exprs); $$.of = $of; };

block: '{' stmts '}'            { $$ = (Block){$stmts, @$}; }
  | '{' stmts error '}'         { $$ = (Block){$stmts, @$}; };

stmts: %empty                   { $$ = (Stmts){0}; }
  | stmts[old] stmt             { LIST_ADD($$, $old, $stmt); };

stmt:
    targets assign value ';'    { $$ = stmt_assign(p, @$, $targets, $assign, $value); }
  | target ':' held '=' value ';' { $$ = stmt_typed(p, @$, $target, $held, $value); }
  | LET target '=' value ';'    { $$ = stmt_let(p, @$, $target, $value); }
  | LET target ':' held '=' value ';'
                                { $$ = stmt_let(p, @$, $target, $value); $$->has_type = true; $$->type = $held; }
  | ASSERT expr ';'             { $$ = stmt_assert(p, @$, $expr); }
  | targets ';'                 { $$ = stmt_call(p, @targets, $targets); }
  | EACH ranges level block     { $$ = stmt_ranges(p, STMT_EACH, loc_join(@1, @level), $ranges, $block);
                                  $$->level = $level; }
  | FOR loop block merge        { $$ = stmt_for(p, loc_join(@1, @loop), $loop, $block, $merge); }
  | REPEAT loop block           { $$ = stmt_ranges(p, STMT_REPEAT, loc_join(@1, @loop), $loop, $block); }
  | if
  | error ';'                   { $$ = stmt_error(p, @$); yyerrok; }
  | EACH error block            { $$ = stmt_error(p, @$); }
  | FOR error block merge       { $$ = stmt_error(p, @$); }
  | REPEAT error block          { $$ = stmt_error(p, @$); }
  | IF error block              { $$ = stmt_error(p, @$); }
  | IF error block ELSE block   { $$ = stmt_error(p, @$); }
  | EACH error ';'              { $$ = stmt_error(p, @$); }
  | FOR error ';'               { $$ = stmt_error(p, @$); }
  | REPEAT error ';'            { $$ = stmt_error(p, @$); }
  | IF error ';'                { $$ = stmt_error(p, @$); };

if: IF expr block               { $$ = stmt_if(p, loc_join(@1, @expr), $expr, $block, NULL); }
  | IF expr block ELSE block[other]
                                { $$ = stmt_if(p, loc_join(@1, @expr), $expr, $3, &$other); }
  | IF expr block ELSE if[chain]
                                { Block other = {.loc = @chain}; vec_push(p->arena, &other.stmts, $chain);
                                  $$ = stmt_if(p, loc_join(@1, @expr), $expr, $block, &other); };

level: %empty                   { $$ = NULL; } | ON name { $$ = $name; };

merge: %empty                   { $$ = (MergeClause){0}; }
  | MERGE '(' names ')' block   { $$ = $names; $$.present = true; $$.block = $block; };

names: name                     { $$ = (MergeClause){0}; vec_push(p->arena, &$$.names, $name);
                                  vec_push(p->arena, &$$.locs, @name); }
  | names[old] ',' name         { $$ = $old; vec_push(p->arena, &$$.names, $name);
                                  vec_push(p->arena, &$$.locs, @name); };

loop: range                     { LIST_ONE($$, $range); };

ranges: loop
  | ranges[old] ',' range       { LIST_ADD($$, $old, $range); };

range:
    name OF expr                { $$ = range_of($name, @name, NULL, $expr); }
  | name ':' size OF expr       { $$ = range_of($name, @name, $size, $expr); }
  | name ':' FIXED number OF expr { $$ = range_fixed(range_of($name, @name, $number, $expr)); }
  | name ':' size OF expr[of] IN expr[lo] DOTS expr[hi]
                                { $$ = range_grouped(range_in(p, $name, @name, $size, $lo, $hi), $of); }
  | name ':' FIXED number OF expr[of] IN expr[lo] DOTS expr[hi]
                                { $$ = range_grouped(range_fixed(range_in(p, $name, @name, $number, $lo, $hi)), $of); }
  | name IN expr                { $$ = range_in(p, $name, @name, NULL, $expr, NULL); }
  | name IN expr[lo] DOTS expr[hi] { $$ = range_in(p, $name, @name, NULL, $lo, $hi); }
  | name ':' size IN expr       { $$ = range_in(p, $name, @name, $size, $expr, NULL); }
  | name ':' size IN expr[lo] DOTS expr[hi]
                                { $$ = range_in(p, $name, @name, $size, $lo, $hi); }
  | name ':' FIXED number IN expr[lo] DOTS expr[hi]
                                { $$ = range_fixed(range_in(p, $name, @name, $number, $lo, $hi)); };

number: INT                     { $$ = expr_int(p, @$, EXPR_INT, $1); }
  | NAME                        { $$ = expr_named(p, @$, EXPR_NAME, $1, (Exprs){0}); };

size: expr
  | '*'                         { $$ = expr_new(p, EXPR_STAR, @$); }
  | AUTO                        { $$ = expr_new(p, EXPR_AUTO, @$); };

targets: postfix                { LIST_ONE($$, $postfix); }
  | targets[old] ',' postfix    { LIST_ADD($$, $old, $postfix); };

target: name                    { $$ = expr_named(p, @$, EXPR_NAME, $name, (Exprs){0}); };

assign: '='                     { $$ = ASSIGN_SET; }
  | ADD_SET                     { $$ = ASSIGN_ADD; }
  | SUB_SET                     { $$ = ASSIGN_SUB; }
  | MUL_SET                     { $$ = ASSIGN_MUL; }
  | DIV_SET                     { $$ = ASSIGN_DIV; };

value: expr | choose;

choose:
    CHOOSE '{' arms '}'         { $$ = expr_choose(p, @$, NULL, $arms, @4); }
  | CHOOSE BY STRING '{' arms '}' { $$ = expr_choose(p, @$, $STRING, $arms, @6); };

arms: label ':' expr ';'        { LIST_ONE($$, ((ChooseArm){$label, $expr, @label})); }
  | arms[old] label ':' expr ';' { LIST_ADD($$, $old, ((ChooseArm){$label, $expr, @label})); };

exprs: expr                     { LIST_ONE($$, $expr); }
  | exprs[old] ',' expr         { LIST_ADD($$, $old, $expr); };

args: %empty                    { $$ = (Exprs){0}; } | exprs;

expr: postfix
  | '-' expr[x] %prec UNARY     { $$ = expr_unary(p, @$, AST_NEG, $x); }
  | '!' expr[x] %prec UNARY     { $$ = expr_unary(p, @$, AST_NOT, $x); }
  | expr[x] '*' expr[y]         { $$ = expr_binary(p, @$, $x, AST_MUL, $y); }
  | expr[x] '/' expr[y]         { $$ = expr_binary(p, @$, $x, AST_DIV, $y); }
  | expr[x] '%' expr[y]         { $$ = expr_binary(p, @$, $x, AST_MOD, $y); }
  | expr[x] '@' expr[y]         { $$ = expr_binary(p, @$, $x, AST_AT, $y); }
  | expr[x] '+' expr[y]         { $$ = expr_binary(p, @$, $x, AST_ADD, $y); }
  | expr[x] '-' expr[y]         { $$ = expr_binary(p, @$, $x, AST_SUB, $y); }
  | expr[x] SHL expr[y]         { $$ = expr_binary(p, @$, $x, AST_SHL, $y); }
  | expr[x] SHR expr[y]         { $$ = expr_binary(p, @$, $x, AST_SHR, $y); }
  | expr[x] '<' expr[y]         { $$ = expr_binary(p, @$, $x, AST_LT, $y); }
  | expr[x] LE expr[y]          { $$ = expr_binary(p, @$, $x, AST_LE, $y); }
  | expr[x] '>' expr[y]         { $$ = expr_binary(p, @$, $x, AST_GT, $y); }
  | expr[x] GE expr[y]          { $$ = expr_binary(p, @$, $x, AST_GE, $y); }
  | expr[x] EQ expr[y]          { $$ = expr_binary(p, @$, $x, AST_EQ, $y); }
  | expr[x] NE expr[y]          { $$ = expr_binary(p, @$, $x, AST_NE, $y); }
  | expr[x] '&' expr[y]         { $$ = expr_binary(p, @$, $x, AST_BAND, $y); }
  | expr[x] '^' expr[y]         { $$ = expr_binary(p, @$, $x, AST_BXOR, $y); }
  | expr[x] '|' expr[y]         { $$ = expr_binary(p, @$, $x, AST_BOR, $y); }
  | expr[x] AND expr[y]         { $$ = expr_binary(p, @$, $x, AST_AND, $y); }
  | expr[x] OR expr[y]          { $$ = expr_binary(p, @$, $x, AST_OR, $y); }
  | expr[c] '?' expr[x] ':' expr[y] { $$ = expr_cond(p, @$, $c, $x, $y); };

postfix: primary
  | postfix[base] '[' exprs ']' { $$ = expr_on(p, @$, EXPR_INDEX, $base, $exprs); }
  | postfix[base] '.' label     { $$ = expr_field(p, @$, $base, $label); };

primary:
    INT                         { $$ = expr_int(p, @$, EXPR_INT, $1); }
  | FLOAT                       { $$ = expr_float(p, @$, $1); }
  | TRUE                        { $$ = expr_int(p, @$, EXPR_BOOL, 1); }
  | FALSE                       { $$ = expr_int(p, @$, EXPR_BOOL, 0); }
  | INF                         { $$ = expr_new(p, EXPR_INF, @$); }
  | name                        { $$ = expr_named(p, @$, EXPR_NAME, $name, (Exprs){0}); }
  | name '(' args ')'           { $$ = expr_named(p, @$, EXPR_CALL, $name, $args); }
  | '(' expr ')'                { $$ = $expr; $$->parens = true; }
  | '(' exprs ',' expr ')'      { LIST_ADD($exprs, $exprs, $expr); $$ = expr_list(p, @$, EXPR_TUPLE, $exprs); }
  | '[' exprs ']'               { $$ = expr_list(p, @$, EXPR_LIST, $exprs); };

name: NAME
  | OF                          { $$ = name_of(p->names, "of"); }
  | ON                          { $$ = name_of(p->names, "on"); }
  | BY                          { $$ = name_of(p->names, "by"); }
  | AS                          { $$ = name_of(p->names, "as"); }
  | CONST                       { $$ = name_of(p->names, "const"); }
  | STATE                       { $$ = name_of(p->names, "state"); }
  | INOUT                       { $$ = name_of(p->names, "inout"); }
  | UNIQUE                      { $$ = name_of(p->names, "unique"); }
  | ASCENDING                   { $$ = name_of(p->names, "ascending"); }
  | FIXED                       { $$ = name_of(p->names, "fixed"); };

label: name
  | MERGE                       { $$ = name_of(p->names, "merge"); }
  | IN                          { $$ = name_of(p->names, "in"); };

%%

static void syntax_error(const Loc *loc, Parse *p, const char *message) {
    (void)message; /* the parser calls this only when its stack is exhausted */
    parse_stop_nesting(p, *loc);
}

static bool has_kind(const yysymbol_kind_t *kind, int n, yysymbol_kind_t sought) {
    for (int i = 0; i < n; i++)
        if (kind[i] == sought) return true;
    return false;
}

/* Operators, and what starts an expression, a statement or a declaration, are not told one by one. */
static bool is_told(yysymbol_kind_t kind) {
    switch (kind) {
    case YYSYMBOL_YYEOF: case YYSYMBOL_OF: case YYSYMBOL_ON: case YYSYMBOL_BY: case YYSYMBOL_AS: case YYSYMBOL_IN:
    case YYSYMBOL_MERGE: case YYSYMBOL_AUTO: case YYSYMBOL_CHOOSE: case YYSYMBOL_NAME: case YYSYMBOL_ELSE:
    case YYSYMBOL_DOTS: case YYSYMBOL_ARROW: case YYSYMBOL_FOR: case YYSYMBOL_STRING: return true;
    default: {
        const char *text = yysymbol_name(kind);
        return strlen(text) == 3 && strchr("=;:,)]}{(", text[1]);
    }
    }
}

/* Words that are names too: 'a name' stands for them. */
static bool is_soft(yysymbol_kind_t kind) {
    switch (kind) {
    case YYSYMBOL_OF: case YYSYMBOL_ON: case YYSYMBOL_BY: case YYSYMBOL_AS: case YYSYMBOL_CONST: case YYSYMBOL_STATE:
    case YYSYMBOL_INOUT: case YYSYMBOL_UNIQUE: case YYSYMBOL_ASCENDING: case YYSYMBOL_FIXED: return true;
    default: return false;
    }
}

static void want(SyntaxError *e, const char *word) {
    if (e->nwanted < SYNTAX_WANTED) e->wanted[e->nwanted] = word;
    e->nwanted++;
}

/* Punctuation that is possible, but not what one forgets: a call's '(', and ends of a list of targets. */
static bool is_aside(const yysymbol_kind_t *kind, int n, yysymbol_kind_t one) {
    const char *text = yysymbol_name(one);
    bool value_next = has_kind(kind, n, YYSYMBOL_INT), operator_next = has_kind(kind, n, YYTRANSLATE('['));
    bool targets = has_kind(kind, n, YYSYMBOL_ADD_SET);
    return (text[1] == '(' && (value_next || operator_next)) || (targets && strchr(":;,", text[1]));
}

static void want_kinds(SyntaxError *e, const yysymbol_kind_t *kind, int n) {
    bool name = has_kind(kind, n, YYSYMBOL_NAME), stmt = has_kind(kind, n, YYSYMBOL_LET);
    bool expr = !stmt && has_kind(kind, n, YYSYMBOL_INT), decl = has_kind(kind, n, YYSYMBOL_IMPORT);
    if (decl || stmt || expr) want(e, decl ? "a declaration" : stmt ? "a statement" : "an expression");
    for (int i = 0; i < n; i++) {
        bool covered = (name && is_soft(kind[i])) || ((expr || stmt) && kind[i] == YYSYMBOL_NAME) ||
                       ((stmt || decl) && kind[i] == YYSYMBOL_FOR);
        if (!covered && is_told(kind[i]) && !is_aside(kind, n, kind[i])) want(e, yysymbol_name(kind[i]));
    }
}

static int yyreport_syntax_error(const yypcontext_t *context, Parse *p) {
    yysymbol_kind_t found = yypcontext_token(context), kind[YYNTOKENS];
    int n = yypcontext_expected_tokens(context, kind, YYNTOKENS);
    SyntaxError e = {.loc = *yypcontext_location(context), .found = yysymbol_name(found)};
    e.found_ends = found == YYSYMBOL_YYEOF || found == YYSYMBOL_BREAK || strchr(")]}", e.found[1]);
    want_kinds(&e, kind, n > 0 ? n : 0);
    syntax_report(p, &e);
    return 0;
}
