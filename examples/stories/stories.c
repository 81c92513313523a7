/* stories.c: decodes a llama2.c checkpoint with the program of stories.tile: text on standard output as it is
   decoded, tokens per second on standard error. Each rank runs the same loop on its own part of the model, in a
   thread of this process. A launcher may start a process for each rank (RANK and WORLD_SIZE, or Open MPI's
   variables). With TILE_TARGET=gpu each rank runs on a GPU, if the program was compiled for one. */
#include "model.h"
#include "sample.h"
#include "tokenizer.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    const char *checkpoint, *tokenizer, *prompt;
    int64_t steps; /* 0: to the end of the caches */
    uint64_t seed;
    float temperature; /* 0: greedy */
    int ranks, workers;
    bool processes;
} Options;

/* What all ranks read. */
typedef struct {
    Options o;
    char *checkpoint_bytes, *tokenizer_bytes;
    Checkpoint checkpoint;
    Tokenizer tokenizer;
    int *token; /* the prompt's */
    int tokens;
} Story;

static int fail(const char *what, const char *why) {
    fprintf(stderr, "stories: error: %s%s%s\n", what, *what ? ": " : "", why);
    return 1;
}

static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- decoding ---- */

typedef struct {
    const Story *story;
    int rank;
    bool failed;
    double seconds; /* from the end of the first step */
    int64_t steps;
} Rank;

/* The token behind the one that was computed: the prompt's next one while there is one. */
static int next_token(const Story *s, const Model *m, int64_t at, uint64_t *random) {
    if (at + 1 < s->tokens) return s->token[at + 1];
    if (s->o.temperature == 0) return m->next;
    return sample_draw(m->logits, (int)m->vocab, s->o.temperature, random);
}

static int decode(Rank *r, tile_mesh *mesh, step *program, Model *m) {
    const Story *s = r->story;
    uint64_t random = s->o.seed;
    bool speaks = tile_mesh_rank(mesh) == 0;
    double start = 0;
    int last = s->token[0];
    for (r->steps = 0; r->steps < s->o.steps; r->steps++) {
        int code = model_step(m, program, last, r->steps);
        if (code) return code;
        if (r->steps == 0) start = seconds_now();
        int token = next_token(s, m, r->steps, &random);
        if (token == TOKEN_BEGIN) break;
        if (speaks) tokenizer_print(&s->tokenizer, last, token, stdout), fflush(stdout);
        last = token;
    }
    r->seconds = seconds_now() - start;
    return TILE_OK;
}

static int run_program(Rank *r, tile_mesh *mesh) {
    Model m;
    step *program = NULL;
    int code = model_open(&m, mesh, &r->story->checkpoint);
    if (!code) code = step_open(mesh, NULL, &program);
    if (!code) code = decode(r, mesh, program, &m);
    if (code) fail(tile_error_name(code), tile_last_error());
    if (program) step_close(program);
    model_close(&m);
    return code;
}

static void *rank_main(void *arg) {
    Rank *r = arg;
    const Options *o = &r->story->o;
    tile_mesh *mesh;
    tile_mesh_config config = {.size = sizeof config,
                               .rank = r->rank,
                               .nranks = o->processes ? 0 : o->ranks,
                               .device = TILE_DEVICE_OF_RANK,
                               .workers = o->workers,
                               .group = o->processes ? NULL : "stories"};
    int code = tile_mesh_open(&config, &mesh);
    if (code) fail(tile_error_name(code), tile_last_error());
    r->failed = code || run_program(r, mesh);
    if (code) return NULL;
    r->rank = tile_mesh_rank(mesh);
    tile_mesh_close(mesh);
    return NULL;
}

static int run_ranks(const Story *s) {
    int n = s->o.processes ? 1 : s->o.ranks, started = 1;
    pthread_t thread[n];
    Rank rank[n];
    for (int i = 0; i < n; i++) rank[i] = (Rank){.story = s, .rank = i};
    for (; started < n; started++)
        if (pthread_create(&thread[started], NULL, rank_main, &rank[started])) return fail("", "cannot start a thread");
    rank_main(&rank[0]);
    for (int i = 1; i < n; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < n; i++)
        if (rank[i].failed) return 1;
    if (rank[0].rank) return 0;
    puts("");
    if (rank[0].steps > 1) fprintf(stderr, "%.0f tokens/s\n", (double)(rank[0].steps - 1) / rank[0].seconds);
    return 0;
}

/* ---- what is decoded ---- */

static bool checkpoint_open(Story *s, Reason *why) {
    size_t n;
    return file_read(s->o.checkpoint, &s->checkpoint_bytes, &n, why) &&
           checkpoint_parse(&s->checkpoint, s->checkpoint_bytes, n, why) && model_fits(&s->checkpoint, why);
}

static bool tokenizer_open(Story *s, Reason *why) {
    size_t n;
    return file_read(s->o.tokenizer, &s->tokenizer_bytes, &n, why) &&
           tokenizer_parse(&s->tokenizer, (int)s->checkpoint.number[VOCAB], s->tokenizer_bytes, n, why);
}

/* As many steps as were asked for, else as the caches have places. */
static bool steps_set(Story *s, Reason *why) {
    int64_t places = s->checkpoint.number[PLACES];
    if (s->o.steps > places)
        return reason_set(why, "%lld steps, but the model has %lld places", (long long)s->o.steps, (long long)places);
    if (s->o.steps == 0) s->o.steps = places;
    s->token = malloc(sizeof *s->token * (strlen(s->o.prompt) + 2));
    if (!s->token) return reason_set(why, "out of memory");
    s->tokens = tokenizer_encode(&s->tokenizer, s->o.prompt, s->token);
    return s->tokens <= s->o.steps ||
           reason_set(why, "the prompt has %d tokens, there are %lld steps", s->tokens, (long long)s->o.steps);
}

static int run_story(Story *s) {
    Reason why;
    if (!checkpoint_open(s, &why)) return fail(s->o.checkpoint, why.text);
    if (!tokenizer_open(s, &why)) return fail(s->o.tokenizer, why.text);
    if (!steps_set(s, &why)) return fail("", why.text);
    return run_ranks(s);
}

static void story_close(Story *s) {
    tokenizer_free(&s->tokenizer);
    free(s->token);
    free(s->checkpoint_bytes);
    free(s->tokenizer_bytes);
}

/* ---- the command line ---- */

static int usage(void) {
    fputs("usage: stories CHECKPOINT TOKENIZER [-n STEPS] [-t TEMPERATURE] [-p PROMPT] [-s SEED] [-j WORKERS]\n"
          "  -n  steps, one token each (default: as many as the model has places)\n"
          "  -t  draw from softmax(scores / TEMPERATURE) (default: 0, the best token)\n"
          "  -s  seed of the draws (default: 1)\n"
          "  -j  worker threads of each rank (default: processors / ranks)\n",
          stderr);
    return 2;
}

static bool take_number(const char *text, double least, double most, bool whole, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == 0 && *value >= least && *value <= most && (!whole || *value == floor(*value));
}

static bool take_option(Options *o, int letter) {
    double n = 0;
    bool good = letter == 'p' ||
                (letter == 't' ? take_number(optarg, 0, 1000, false, &n)
                               : letter != '?' && take_number(optarg, letter == 's' ? 0 : 1, 1 << 30, true, &n));
    if (!good) return false;
    if (letter == 'p') o->prompt = optarg;
    if (letter == 't') o->temperature = (float)n;
    if (letter == 'n') o->steps = (int64_t)n;
    if (letter == 's') o->seed = (uint64_t)n;
    if (letter == 'j') o->workers = (int)n;
    return true;
}

int main(int argc, char **argv) {
    Story s = {
        .o = {
            .prompt = "", .seed = 1, .ranks = 1, .processes = getenv("WORLD_SIZE") || getenv("OMPI_COMM_WORLD_SIZE")}};
    for (int letter; (letter = getopt(argc, argv, "n:t:p:s:j:")) >= 0;)
        if (!take_option(&s.o, letter)) return usage();
    if (argc - optind != 2) return usage();
    s.o.checkpoint = argv[optind];
    s.o.tokenizer = argv[optind + 1];
    for (int a = 0; a < step_program.naxes; a++) s.o.ranks *= step_program.axis[a];
    int code = run_story(&s);
    story_close(&s);
    return code;
}
