/* wordpiece.h: BERT's tokenizer for lower case: text is cleaned and split at spaces and punctuation, words into the
   longest pieces of a vocabulary. */
#ifndef EXAMPLES_EMBED_WORDPIECE_H
#define EXAMPLES_EMBED_WORDPIECE_H

#include "../common/input.h"

#include <stdint.h>

typedef struct {
    const char *text;
    int32_t id;
} Piece;

typedef struct {
    char *bytes;   /* the file */
    Piece *sorted; /* by text */
    int count;
    int32_t unknown, begin, end; /* [UNK], [CLS], [SEP] */
} Vocabulary;

/* A piece on each line, whose number is the line's. false: the reason says why. */
bool vocabulary_read(Vocabulary *, const char *path, Reason *);
void vocabulary_free(Vocabulary *);
/* Numbers of a text's pieces between [CLS] and [SEP], at most `most` (2 or more) in all; returns how many. What is no
   UTF-8 is passed over. */
int pieces_of(const Vocabulary *, const char *text, int32_t *id, int most);

#endif
