/* wire.c: libFuzzer target: no made-up rank crashes or holds up a real one, or makes it lose a descriptor or memory.
   The first byte chooses the real end and the number of ranks, the others are one side of the conversation: how its
   messages differ from right ones, or all of them (test/unit/wire_talk.h). */
#include "test/unit/wire_talk.h"

enum { TIMEOUT_MS = 40, PATIENT_MS = 20000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static Talk talk;
static TalkScript scripts[TALK_RANKS + 1];

static int converse(int rank, int nranks, TalkScript *script, const uint8_t *bytes, size_t n, int timeout_ms) {
    tile_program program = rt_program(nranks);
    talk.nranks = nranks;
    talk.script = script;
    talk.bytes = (TalkBytes){bytes, n, 0};
    return talk_run(&talk, rank, &program, timeout_ms);
}

/* What made-up joining ranks say is learnt from right conversations. */
static void scripts_learn(void) {
    static char group[32];
    snprintf(group, sizeof group, "fuzz-%d", (int)getpid());
    talk.group = group;
    talk.target = "host";
    for (int k = 2; k <= TALK_RANKS; k++)
        if (converse(1, k, &scripts[k], NULL, 0, PATIENT_MS) != TILE_OK) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (n == 0) return 0;
    if (!talk.group) scripts_learn();
    int rank = data[0] & 1, nranks = 2 + (data[0] >> 1) % (TALK_RANKS - 1);
    int code = converse(rank, nranks, rank ? NULL : &scripts[nranks], data + 1, n - 1, TIMEOUT_MS);
    if (code > TILE_OK || code < TILE_E_RANGE) abort();
    return 0;
}
