/* embed.c: usage: embed [--vectors] FOLDER SENTENCE..: how alike sentences are, by a BERT encoder such as
   all-MiniLM-L6-v2. FOLDER has model.safetensors and vocab.txt. --vectors: their vectors instead, a line each. */
#include "weights.h"
#include "wordpiece.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SENTENCES = 64,
    MOST = POSITIONS < 256 ? POSITIONS : 256
}; /* of a call; tokens of one, as the model was trained */

typedef struct {
    Vocabulary v;
    embed_args args;
    tile_mesh *mesh;
    embed *instance;
    Reason why;
} Model;

static bool open_file(Model *m, const char *folder, const char *name, bool (*read)(Model *, const char *path)) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return reason_set(&m->why, "%s: too long", folder);
    return read(m, path);
}

static bool read_vocabulary(Model *m, const char *path) { return vocabulary_read(&m->v, path, &m->why); }
static bool read_weights(Model *m, const char *path) { return weights_load(&m->args, path, &m->why); }

static bool model_open(Model *m, const char *folder) {
    if (!open_file(m, folder, "vocab.txt", read_vocabulary)) return false;
    if (m->v.count > WORDS)
        return reason_set(&m->why, "%s/vocab.txt: %d pieces, the program has %d", folder, m->v.count, WORDS);
    if (!open_file(m, folder, "model.safetensors", read_weights)) return false;
    tile_mesh_config config = {.size = sizeof config, .nranks = 1};
    if (tile_mesh_open(&config, &m->mesh) || embed_open(m->mesh, NULL, &m->instance))
        return reason_set(&m->why, "%s", tile_last_error());
    return true;
}

static void model_close(Model *m) {
    embed_close(m->instance);
    if (m->mesh) tile_mesh_close(m->mesh);
    weights_free(&m->args);
    vocabulary_free(&m->v);
}

/* Up to SENTENCES sentences; y: a row of WIDTH for each. */
static bool embed_some(Model *m, char **sentence, int n, float *y) {
    static int32_t id[SENTENCES * MOST], at[SENTENCES * MOST], start[SENTENCES + 1];
    for (int i = 0; i < n; i++) {
        const int tokens = pieces_of(&m->v, sentence[i], id + start[i], MOST);
        start[i + 1] = start[i] + tokens;
        for (int k = 0; k < tokens; k++) at[start[i] + k] = k;
    }
    m->args.ids = id, m->args.at = at, m->args.start = start, m->args.y = y;
    m->args.B = n, m->args.N = start[n];
    if (embed_run(m->instance, &m->args, NULL) || tile_stream_sync(m->mesh, NULL))
        return reason_set(&m->why, "%s", tile_last_error());
    return true;
}

static bool embed_all(Model *m, char **sentence, int n, float *y) {
    for (int i = 0; i < n; i += SENTENCES)
        if (!embed_some(m, sentence + i, n - i < SENTENCES ? n - i : SENTENCES, y + (size_t)i * WIDTH)) return false;
    return true;
}

static void print_vectors(const float *y, int n) {
    for (int i = 0; i < n; i++)
        for (int c = 0; c < WIDTH; c++) printf("%.9g%c", y[(size_t)i * WIDTH + (size_t)c], c == WIDTH - 1 ? '\n' : ' ');
}

static void print_alike(const float *y, char **sentence, int n) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) {
            double sum = 0;
            for (int c = 0; c < WIDTH; c++)
                sum += (double)y[(size_t)i * WIDTH + (size_t)c] * y[(size_t)k * WIDTH + (size_t)c];
            printf("%6.3f ", sum);
        }
        printf(" %s\n", sentence[i]);
    }
}

int main(int argc, char **argv) {
    static Model m;
    const bool vectors = argc > 1 && !strcmp(argv[1], "--vectors");
    argc -= vectors, argv += vectors;
    if (argc < 3) return fputs("usage: embed [--vectors] FOLDER SENTENCE..\n", stderr), 2;
    const int n = argc - 2;
    float *y = malloc((size_t)n * WIDTH * sizeof *y);
    bool good = y ? model_open(&m, argv[1]) && embed_all(&m, argv + 2, n, y) : reason_set(&m.why, "out of memory");
    if (!good) fprintf(stderr, "embed: error: %s\n", m.why.text);
    if (good && vectors)
        print_vectors(y, n);
    else if (good)
        print_alike(y, argv + 2, n);
    model_close(&m);
    free(y);
    return good ? 0 : 1;
}
