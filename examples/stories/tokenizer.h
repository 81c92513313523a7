/* tokenizer.h: reads a llama2.c tokenizer (an int32, the longest piece; then for each token a float32 score, an int32
   length and its bytes), and turns text into tokens and back. */
#ifndef STORIES_TOKENIZER_H
#define STORIES_TOKENIZER_H

#include "../common/input.h"

#include <stdio.h>

enum { TOKEN_BEGIN = 1, TOKEN_BYTE = 3 }; /* the first of 256 tokens for single bytes */

typedef struct {
    const char *bytes; /* not terminated */
    int length;
    float score;
} Piece;

typedef struct {
    int n;
    Piece *piece;
    int *sorted; /* token numbers by the bytes of their pieces */
} Tokenizer;

/* Takes the bytes of a file with a vocabulary of n tokens; they have to outlive the tokenizer. */
bool tokenizer_parse(Tokenizer *, int n, const char *bytes, size_t size, Reason *);
void tokenizer_free(Tokenizer *);

/* TOKEN_BEGIN and the tokens of the text; `tokens` has room for strlen(text) + 2. Returns how many there are. */
int tokenizer_encode(const Tokenizer *, const char *text, int *tokens);
/* Writes what a token adds to the text when it follows `before`. */
void tokenizer_print(const Tokenizer *, int before, int token, FILE *);

#endif
