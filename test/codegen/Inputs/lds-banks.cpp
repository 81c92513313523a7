// lds-banks.cpp: what the threads of a workgroup touch of its memory in one step of a schedule of attention: a line for each access,
// "load|store BYTES ADDRESS..", the addresses of all threads. TEXT is the emitted kernel.
#include <cstdio>
#include <vector>

#include TEXT

enum { THREADS = 256 };
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
bool tile_emu_begin(const void *, size_t, int, const tile_emu_machine *) { return false; }

void tile_emu_check(const void *p, size_t bytes, int how, const void *) {
    if (count == accesses.size()) accesses.push_back({how, (int)bytes, {}});
    accesses[count++].at.push_back((const char *)p - memory);
}

int main() {
    for (now = 0; now < THREADS; now++) {
        static attention_fetched fetched;
        static tile_bf16 q[64];
        static float x[32], o[64];
        count = 0;
        attention_keep(memory, 0, &fetched);
        attention_scores(x, memory, 0, q);
        attention_values(o, memory, 0, x);
    }
    for (const Access &a : accesses) {
        printf("%s %d", a.how == TILE_LDS_LOADS ? "load" : "store", a.bytes);
        for (long at : a.at) printf(" %ld", at);
        printf("\n");
    }
}
