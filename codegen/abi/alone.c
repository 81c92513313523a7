/* alone.c: the public text of a program that stands alone: one function that runs it in memory of the caller, and its
   header. No runtime, no threads, no allocation; without floats where the program has none. */
#include "codegen/abi/abi.h"
#include "codegen/text/size.h"

#include <inttypes.h>

enum { ALIGNMENT = 64 }; /* of the arena: what temporaries and scratch memory have (codegen/host/memory.c) */

static bool kernel_has_floats(const Kernel *k) {
    for (int i = 0; i < k->param.n; i++)
        if (elem_is_float(k->param.p[i].elem)) return true;
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body))
        for (int i = 0; i < op->res.n; i++)
            if (elem_is_float(op->res.p[i]->type.elem)) return true;
    return false;
}

bool alone_has_floats(const Program *p) {
    for (int i = 0; i < p->node.n; i++)
        if (p->node.p[i]->kind == NODE_CALL && kernel_has_floats(p->node.p[i]->kernel)) return true;
    return false;
}

static int64_t scratch_at(const Memory *l) { return (l->local + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static const char *bound_text(Arena *a, const Module *m, const Program *p, Size s) {
    const char **member = public_members(a, m, p);
    if (s.sym < 0) return arena_format(a, "%" PRId64, s.c);
    return arena_format(a, "args->%s + %" PRId64, member[p->io.n + program_dim_of(p, s.sym)], s.c);
}

/* Run-time sizes within their bounds: temporaries have room for no more. */
static void write_size_checks(Text *to, Arena *a, const Module *m, const Program *p) {
    const char **member = public_members(a, m, p);
    for (int i = 0; i < p->dim.n; i++) {
        const char *size = member[p->io.n + i];
        text_printf(to, "    if (args->%s < 0 || args->%s > %" PRId64 ") return TILE_E_ARG;\n", size, size,
                    m->symbol.p[p->dim.p[i]].bound);
    }
}

/* An input with a declared range: the run begins with a look at it. In 64 bits, so that compilers find no comparison that
   the element's type decides. */
static void write_range_check(Text *to, Arena *a, const Module *m, const Program *p, int i) {
    const Tensor *t = &p->tensor.p[p->io.p[i]];
    const char *x = public_members(a, m, p)[i], *n = "1";
    for (int d = 0; d < t->ndim; d++)
        n = d ? arena_format(a, "%s * (%s)", n, bound_text(a, m, p, t->dim[d])) : bound_text(a, m, p, t->dim[d]);
    text_printf(to, "    for (int64_t i = 0; i < %s; i++) {\n", n);
    text_printf(to, "        const int64_t x = args->%s%s;\n", x, t->ndim ? "[i]" : "");
    text_printf(to, "        if (x < %s || x >= %s) return TILE_E_RANGE;\n    }\n", bound_text(a, m, p, t->least),
                bound_text(a, m, p, t->past));
}

static void write_checks(Text *to, Arena *a, const Module *m, const Program *p) {
    write_size_checks(to, a, m, p);
    for (int i = 0; i < p->io.n; i++)
        if (p->tensor.p[p->io.p[i]].checked) write_range_check(to, a, m, p, i);
}

/* A program of one rank: nothing else has a place in one function. */
static bool has_ranks(const Module *m, const Program *p) {
    for (int i = 0; i < m->axis.n; i++) {
        if (m->axis.p[i].ranks == 1) continue;
        diag_error(m->diags, p->loc, "unsupported", "a program that stands alone has one rank, and '%s' has %" PRId64,
                   m->axis.p[i].name, m->axis.p[i].ranks);
        return true;
    }
    return false;
}

bool alone_source(Text *to, Arena *a, const Module *m, const Program *p, const Memory *l) {
    const char *n = p->name, **member = public_members(a, m, p);
    if (has_ranks(m, p)) return false;
    text_printf(to, "int %s_run(const %s_args *args, void *arena) {\n", n, n);
    write_checks(to, a, m, p);
    text_add(to, "    void *const arg[] = {");
    for (int i = 0; i < p->io.n; i++)
        text_printf(to, "(void *)%sargs->%s, ", p->tensor.p[p->io.p[i]].ndim || p->tensor.p[p->io.p[i]].role != ROLE_INPUT ? "" : "&", member[i]);
    text_add(to, "NULL};\n    const int64_t dim[] = {");
    for (int i = 0; i < p->dim.n; i++) text_printf(to, "args->%s, ", member[p->io.n + i]);
    text_printf(to, "0};\n    const tile_task t = {.arg = arg, .dim = dim, .local = arena, .scratch = tile_at(arena, %" PRId64 ")};\n",
                scratch_at(l));
    text_printf(to, "    const int64_t tasks = %s_tasks(&t);\n    int error = TILE_OK;\n", n);
    text_printf(to, "    for (int64_t ticket = 0; ticket < tasks && !error; ticket++) error = %s_task(&t, ticket);\n", n);
    text_add(to, "    return error;\n}\n");
    return true;
}

void alone_header(Text *to, Arena *a, const Module *m, const Program *p, const Memory *l) {
    const char *n = p->name;
    text_printf(to, "/* %s.h: the program %s, made by tilec to stand alone: no runtime, no threads, no allocation. */\n", n, n);
    text_printf(to, "#ifndef TILE_PROGRAM_%s_H\n#define TILE_PROGRAM_%s_H\n\n#include <stdint.h>\n\n", n, n);
    text_add(to, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n/* Tensors are dense and row-major. */\n");
    public_arguments(to, a, m, p);
    text_add(to, "/* Bytes of memory that a run takes, and their alignment. They keep nothing from one run to the next. */\n");
    text_printf(to, "#define %s_ARENA_BYTES %" PRId64 "\n#define %s_ARENA_ALIGNMENT %d\n\n", n, scratch_at(l) + l->scratch, n, ALIGNMENT);
    text_add(to, "/* Runs to the end. 0; -1: a size is negative or above its bound, and nothing was written; or -9: an input lies\n"
                 "   outside of its declared range and nothing was written, or starts of groups are wrong. */\n");
    text_printf(to, "int %s_run(const %s_args *, void *arena);\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n", n, n);
}
