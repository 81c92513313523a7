/* tokenizer.c: libFuzzer target: no bytes crash the tokenizer's reader, and with what it takes the text behind the
   first NUL byte becomes tokens of the vocabulary, and text again. Byte 0 is the size of the vocabulary, byte 1 the
   text's length. */
#include "stories/tokenizer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void encode_check(const Tokenizer *t, const char *text) {
    int *token = malloc(sizeof *token * (strlen(text) + 2));
    FILE *null = fopen("/dev/null", "w");
    int tokens = tokenizer_encode(t, text, token), before = token[0];
    for (int i = 1; i < tokens; before = token[i++]) {
        if (token[i] < 0 || token[i] >= t->n) abort();
        tokenizer_print(t, before, token[i], null);
    }
    fclose(null);
    free(token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (n < 2 || n - 2 < data[1] || data[0] == 0) return 0;
    char *text = strndup((const char *)data + 2, data[1]);
    Tokenizer t;
    Reason why;
    size_t head = 2u + data[1];
    if (tokenizer_parse(&t, 2 * data[0], (const char *)data + head, n - head, &why)) {
        encode_check(&t, text);
        tokenizer_free(&t);
    }
    free(text);
    return 0;
}
