/* fiber.c: threads of a workgroup as fibers on stacks of their own, which are kept. */
#include "emu.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK = 256 * 1024 }; /* bytes, of a lane; a page beyond it faults. Chosen: no measurement is recorded */

static Fiber *idle; /* the last one used first: its stack is in the caches */

static Fiber *fiber_make(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    Fiber *f = calloc(1, sizeof *f);
    char *p = mmap(NULL, STACK + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!f || p == MAP_FAILED) return free(f), NULL;
    mprotect(p, page, PROT_NONE); /* a stack that overflows is a crash, not silence */
    f->stack = p;
    return f;
}

Fiber *fiber_take(void) {
    Fiber *f = idle;
    if (!f) return fiber_make();
    idle = f->next;
    return f;
}

void fiber_give(Fiber *f) {
    f->next = idle;
    idle = f;
}

static char *stack_end(const Fiber *f) { return f->stack + STACK + (size_t)sysconf(_SC_PAGESIZE); }

#if defined __x86_64__

/* Saves what a function must keep, swaps stacks, returns on the other one. */
void fiber_swap(void **from, void *to);
__asm__(".text\n"
        ".type fiber_swap, @function\n"
        "fiber_swap:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size fiber_swap, .-fiber_swap\n");

void fiber_begin(Fiber *f, void (*run)(void)) {
    void **top = (void **)stack_end(f) - 2; /* at run's entry the stack is 8 bytes off a multiple of 16 */
    top[0] = (void *)run;
    top[1] = NULL;
    memset(top - 6, 0, 6 * sizeof *top);
    f->context = top - 6;
}

void fiber_switch(Fiber *from, Fiber *to) { fiber_swap(&from->context, to->context); }

#else
#include <ucontext.h>

static ucontext_t *context_of(const Fiber *f) {
    static _Thread_local ucontext_t main;
    return f->stack ? (ucontext_t *)(f->stack + sysconf(_SC_PAGESIZE)) : &main;
}

void fiber_begin(Fiber *f, void (*run)(void)) {
    ucontext_t *c = context_of(f);
    getcontext(c);
    c->uc_stack.ss_sp = c + 1;
    c->uc_stack.ss_size = (size_t)(stack_end(f) - (char *)(c + 1));
    makecontext(c, run, 0);
}

void fiber_switch(Fiber *from, Fiber *to) { swapcontext(context_of(from), context_of(to)); }
#endif
