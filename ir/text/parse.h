/* parse.h: what the parts of the parser of the text form share.
   The first error of a kernel or program makes the rest of it read as its end: every loop stops at TOK_END. */
#ifndef TILEC_IR_TEXT_PARSE_H
#define TILEC_IR_TEXT_PARSE_H

#include "ir/ir.h"
#include "base/name_map.h"

typedef enum {
    TOK_END,
    TOK_WORD,   /* .name; also "quoted" */
    TOK_INT,    /* .number */
    TOK_FLOAT,  /* .name is its text */
    TOK_ARROW,  /* -> */
    TOK_DOTS,   /* .. */
    TOK_ATMOST, /* <= */
    TOK_PUNCT,  /* .punct */
} TokKind;

typedef struct {
    TokKind kind;
    Loc loc;
    Name name;
    uint64_t number;
    char punct;
    bool quoted;
} Token;

typedef struct {
    const char *text, *at, *end;
    int32_t file;
    Token tok; /* the next one */
    bool failed;
    Module *m;
    Arena *scratch;
    Kernel *k;
    int depth;
    NameMap symbols, axes, kernels, programs;  /* of the module */
    NameMap params, ranges, values, numbered;  /* of the kernel: values by name and by number */
    VEC(Value *) value;
    int hidden_from, hidden_to; /* values of other roles: their names may be given again */
    int piece;                  /* of a turn, of which the next operations are */
    Program *g;
    NameMap tensors;
} Parser;

enum { PARSE_NESTING = 256, PARSE_SOURCE = 16 << 20 };

void parse_fail(Parser *, Loc, const char *format, ...) __attribute__((format(printf, 3, 4)));
void parse_next(Parser *);
void parse_resync(Parser *); /* to the next line that begins an item of the module */

bool at_punct(const Parser *, char);
bool take_punct(Parser *, char);
bool take_word(Parser *, const char *);
bool take_kind(Parser *, TokKind);
void need_punct(Parser *, char);
void need_word(Parser *, const char *);
void need_kind(Parser *, TokKind, const char *what);
Name need_name(Parser *, const char *what);
int64_t need_int(Parser *, const char *what); /* with an optional sign */
int need_choice(Parser *, const char *const *word, int n, const char *what);
int need_known(Parser *, NameMap *, const char *what); /* the number of a declared name */
bool declare(Parser *, NameMap *, Name, Loc, int number, const char *what);
bool signed_value(uint64_t magnitude, bool negative, int64_t *);

int parse_axes(Parser *);
Size parse_size(Parser *);
int parse_sizes(Parser *, Size dim[MAX_DIMS]); /* up to and with the closing bracket */
Elem parse_elem(Parser *);
typedef struct {
    Type type;
    int layout;
} TileType;
Type parse_type(Parser *);
TileType parse_tile_type(Parser *); /* type ['#' INT] */
Affine parse_affine(Parser *);
Span parse_span(Parser *);
Value *parse_value(Parser *);

void parse_kernel(Parser *);
void parse_region(Parser *, Region *); /* { .. } */
void parse_for(Parser *, Op *);
void parse_plan(Parser *, Plan *);
const Order *parse_order(Parser *); /* behind `order` */
int parse_count(Parser *, const char *what); /* 1 or more */
int parse_range(Parser *); /* name form, of a loop; its number */
void parse_range_form(Parser *, Range *);
int parse_range_declare(Parser *, Range);
void parse_op(Parser *, Region *);
bool parse_declare_value(Parser *, Value *, Name, Loc);
Name parse_value_name(Parser *, bool *numbered);

/* parse_roles.c */
void parse_roles(Parser *); /* what stands in front of the body */

/* parse_slot.c */
int parse_ring_name(Parser *);
void parse_slot(Parser *, Op *);
void parse_part(Parser *, Op *);
TileType parse_slot_type(Parser *, const Op *get, int result);
void parse_turns(Parser *, Op *);
void parse_label(Parser *, const Region *);

#endif
