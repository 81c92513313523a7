/* lds.c: the bank conflicts of an access, by enumeration.
   Takes: a memory layout, a register layout, a machine's phases. Gives: cycles with and without conflicts. */
#include "ir/layout/lds.h"
#include "ir/layout/gf2.h"

const LdsPhase *lds_phase(const LdsMachine *m, bool write, int bytes) {
    for (int i = 0; i < m->n; i++)
        if (m->phase[i].write == write && m->phase[i].bytes == (bytes < 4 ? 4 : bytes)) return &m->phase[i];
    return NULL;
}

/* An access: every lane reads or writes 2^vector elements at an aligned offset. */
typedef struct {
    const LdsPhase *phase;
    Layout offset;   /* place -> off */
    Span same;       /* registers of one access, and copies of one element */
    int vector;      /* log2 of the elements of a lane */
    int unit, lane0; /* bits of an element; number of the first lane bit */
} Access;

static bool access_offsets(Access *a, const Layout *memory, const Layout *registers) {
    Layout inverse, tile;
    if (memory->nplace != 1 || layout_place(memory, "off", NULL) || !memory->width || !layout_bijective(memory))
        return false;
    const char *ranges[LAYOUT_DIMS];
    for (int i = 0; i < memory->nindex; i++) ranges[i] = memory->index[i].name;
    const char *places[LAYOUT_DIMS];
    for (int i = 0; i < registers->nplace; i++) places[i] = registers->place[i].name;
    if (!layout_same_tile(memory, registers)) return false;
    layout_sub(&tile, registers, places, registers->nplace, ranges, memory->nindex);
    Layout block = *memory;
    for (int i = 0; i < memory->nindex; i++) block.index[i].repeat = tile.index[i].repeat = 1;
    return layout_inverse(&inverse, &block) && layout_compose(&a->offset, &inverse, &tile);
}

/* How many of the lowest offsets one lane's registers hold side by side, at most 16 bytes. */
static void access_vector(Access *a) {
    Span registers = {0};
    int first = 0, d = layout_place(&a->offset, "reg", &first), bits = d < 0 ? 0 : a->offset.place[d].bits;
    for (int b = 0; b < bits; b++) {
        uint64_t copy;
        if (span_solve(&registers, a->offset.column[first + b], &copy)) span_add(&a->same, copy | UINT64_C(1) << b);
        span_add(&registers, a->offset.column[first + b]);
    }
    uint64_t sum;
    while (a->unit << a->vector < 128 && span_solve(&registers, UINT64_C(1) << a->vector, &sum)) {
        span_add(&a->same, sum);
        a->vector++;
    }
}

/* The words of a lane, added to those of its phase when they are new. */
static void lane_words(const Access *a, uint64_t place, uint32_t *words, int *n) {
    uint64_t byte = (layout_apply(&a->offset, place) >> a->vector << a->vector) * (uint64_t)a->unit / 8;
    for (int w = 0; w < (a->phase->bytes + 3) / 4; w++) {
        uint32_t word = (uint32_t)(byte / 4) + (uint32_t)w;
        int seen = 0;
        while (seen < *n && words[seen] != word) seen++;
        if (seen == *n) words[(*n)++] = word;
    }
}

static int words_cycles(const uint32_t *words, int n, int banks) {
    int most = 0, in_bank[64] = {0};
    for (int i = 0; i < n; i++) {
        int *count = &in_bank[words[i] % (unsigned)banks];
        if (++*count > most) most = *count;
    }
    return most;
}

/* Cycles of the phase that lane `from` belongs to, for the registers `reg`. */
static int phase_cycles(const Access *a, uint64_t reg, int from) {
    uint32_t words[256];
    int n = 0;
    for (int member = 0; member < 1 << a->phase->lanes; member++) {
        int lane = from;
        for (int b = 0; b < a->phase->lanes; b++)
            if (member >> b & 1) lane ^= a->phase->lane[b];
        lane_words(a, reg | (uint64_t)lane << a->lane0, words, &n);
    }
    return words_cycles(words, n, a->phase->banks);
}

/* The lowest lane of each phase stands for it. */
static bool phase_leads(const Access *a, int lane) {
    for (int member = 1; member < 1 << a->phase->lanes; member++) {
        int other = lane;
        for (int b = 0; b < a->phase->lanes; b++)
            if (member >> b & 1) other ^= a->phase->lane[b];
        if (other < lane) return false;
    }
    return true;
}

static bool access_leads(const Access *a, uint64_t reg) {
    for (int i = 0; i < a->same.dim; i++)
        if ((reg ^ a->same.basis[i]) < reg) return false;
    return true;
}

static void access_count(LdsCount *c, const Access *a) {
    int reg0 = 0, d = layout_place(&a->offset, "reg", &reg0), lanes = layout_place(&a->offset, "lane", NULL);
    int bits = d < 0 ? 0 : a->offset.place[d].bits, wave = lanes < 0 ? 1 : 1 << a->offset.place[lanes].bits;
    int leads[64], n = 0;
    for (int lane = 0; lane < wave; lane++)
        if (phase_leads(a, lane)) leads[n++] = lane;
    *c = (LdsCount){.bytes = (a->unit << a->vector) / 8};
    for (uint64_t r = 0; r >> bits == 0; r++) {
        if (!access_leads(a, r)) continue;
        c->accesses++;
        for (int i = 0; i < n; i++) c->cycles += phase_cycles(a, r << reg0, leads[i]);
    }
    c->phases = c->accesses * n;
}

bool lds_count(LdsCount *c, const LdsMachine *m, const Layout *memory, const Layout *registers, bool write) {
    Access a = {.unit = memory->width};
    if (!access_offsets(&a, memory, registers)) return false;
    access_vector(&a);
    int lane = layout_place(registers, "lane", &a.lane0);
    if (lane < 0 || registers->place[lane].bits > 6) return false;
    a.phase = lds_phase(m, write, (a.unit << a.vector) / 8);
    if (!a.phase || a.unit << a.vector < 8) return false;
    access_count(c, &a);
    return true;
}
