// lds-banks.cpp: what the threads of a workgroup touch of its memory in one step of a schedule: a line for each access of a wave,
// "load|store BYTES ADDRESS..", the addresses of its lanes. TEXT is the emitted kernel, of products KERNEL(name) its functions.
#include <cstdio>
#include <vector>

#include TEXT

static int now;
alignas(128) static char memory[1 << 17];

struct Access {
    int how, bytes;
    std::vector<long> at;
};
static std::vector<Access> accesses;
static size_t count;

int tile_emu_thread(void) { return now; }
uint32_t tile_emu_shuffle(uint32_t x, int) { return x; }
void tile_emu_multiply(const tile_emu_matrix *, void *, const void *, const void *) {}
int64_t tile_emu_group(void) { return 0; }
void tile_emu_sync(void) {}
char *tile_emu_lds(size_t) { return memory; }
bool tile_emu_begin(const void *, const tile_emu_kernel *) { return false; }

void tile_emu_check(const void *p, size_t bytes, int how, const void *) {
    if (count == accesses.size()) accesses.push_back({how, (int)bytes, {}});
    accesses[count++].at.push_back((const char *)p - memory);
}

#ifdef KERNEL
enum { THREADS = 512 };

static void step() {
    static KERNEL(parts) parts;
#ifndef COPIED /* lane behind lane */
    static KERNEL(fetched) fetched;
    KERNEL(work) w = {};
    w.lds = memory;
    for (int half = 0; half < 2; half++) KERNEL(keep)(&w, &fetched, 0, half);
#endif
    for (int half = 0; half < 2; half++) KERNEL(read)(&parts, memory + half * KERNEL(STAGE), now / 64);
}
#else
enum { THREADS = 256 };

static void step() {
    static attention_fetched fetched;
    static tile_bf16 q[64];
    static float x[32], o[64];
    attention_keep(memory, 0, &fetched);
    attention_scores(x, memory, 0, q);
    attention_values(o, memory, 0, x);
}
#endif

int main() {
    for (int wave = 0; wave < THREADS / 64; wave++) {
        accesses.clear();
        for (int lane = 0; lane < 64; lane++) {
            now = wave * 64 + lane;
            count = 0;
            step();
        }
        for (const Access &a : accesses) {
            printf("%s %d", a.how == TILE_LDS_LOADS ? "load" : "store", a.bytes);
            for (long at : a.at) printf(" %ld", at);
            printf("\n");
        }
    }
}
