/* tree.h: decision trees that choose an arm by features: expressions over dims and scalars.
   tree = name | "if" feature ("<" | "<=" | ">" | ">=") feature tree "else" tree; // begins a comment. */
#ifndef TILEC_FRONTEND_SEMA_TREE_H
#define TILEC_FRONTEND_SEMA_TREE_H

#include "frontend/syntax/ast.h"

enum { TREE_BYTES = 1 << 20, TREE_NODES = 4096, TREE_NESTING = 64 };

typedef struct Tree Tree;
struct Tree {
    Loc loc;
    Name arm;   /* of a leaf, else NULL */
    Expr *test; /* a comparison of sums and products of names and numbers, real ones */
    const Tree *yes, *no;
};

/* Parses a whole file of Diags. NULL after an error. */
const Tree *tree_parse(Arena *, Names *, Diags *, int file);

#endif
