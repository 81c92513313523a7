/* share.h: one text for nodes whose kernels differ only in where their tensors and their flags' words are. Such a text
   reads these from fields, whose values each node gives. */
#ifndef TILEC_CODEGEN_TEXT_SHARE_H
#define TILEC_CODEGEN_TEXT_SHARE_H

#include "codegen/text/fn.h"

/* A place or a number. */
typedef struct {
    const char *type, *wanted, *name;
    int param; /* where this parameter's tensor begins; -1: a number */
    int64_t number;
} Field;

struct Fields {
    CNames names; /* in use */
    VEC(Field) field;
};

/* As an expression: the number itself, or the field that has it. */
const CExpr *field_number(Fn *, const char *wanted, int64_t);
const CExpr *field_place(Fn *, const char *type, int param); /* Fn.fields is not NULL */

/* Writes the texts of a program's nodes. */
typedef struct {
    Arena *arena;
    Node *const *call; /* a program's nodes; for kernels that stand by, nodes like theirs */
    int n;
    CNames *names; /* of the file */
    void *of;
    /* Writes a call's function. `file`: names that its file has. Adds to the fields; NULL: the text has none.
       false after errors. */
    bool (*write)(void *of, int call, const char *function, CNames *file, Fields *, Text *to);
} TextWriter;

/* What a node calls. */
typedef struct {
    const char *function;
    Fields *fields; /* and this node's values; NULL: there are none */
    int of;         /* the first node with the function; its own number where there is none before */
    int nodes;      /* of that first node: how many have it */
} NodeText;

/* Appends each function once, in the order of nodes. All nodes are calls. */
bool texts_write(const TextWriter *, Text *to, NodeText *by_call);

#endif
