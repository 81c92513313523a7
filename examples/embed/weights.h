/* weights.h: the record `weights` of embed.tile, from the model.safetensors of sentence-transformers. */
#ifndef EXAMPLES_EMBED_WEIGHTS_H
#define EXAMPLES_EMBED_WEIGHTS_H

#include "../common/input.h"
#include "embed.h"

enum {
    LAYERS = embed_args_w_qkv_0,
    WIDTH = embed_args_w_words_1,
    HIDDEN = embed_args_w_down_2,
    PANEL = embed_args_w_qkv_3, /* columns of a panel of weights */
    WORDS = embed_args_w_words_0,
    POSITIONS = embed_args_w_positions_0
};

/* Sets the w_ pointers. false: the reason says why; weights_free is due in any case. */
bool weights_load(embed_args *, const char *path, Reason *);
void weights_free(embed_args *);

#endif
