/* pages.c: whole pages of private memory, zero at first, so that nothing is allocated while programs run. */
#include "runtime.h"

#include <sys/mman.h>
#include <unistd.h>

size_t pages_round(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return bytes ? (bytes + page - 1) / page * page : page;
}

void *pages_map(size_t bytes) {
    void *p = mmap(NULL, pages_round(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    madvise(p, pages_round(bytes), MADV_HUGEPAGE); /* only advice: where there are none, nothing is lost */
    return p;
}

void pages_unmap(void *p, size_t bytes) {
    if (p) munmap(p, pages_round(bytes));
}
