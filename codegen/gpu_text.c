/* gpu_text.c: the GPU text of a program. */
#include "codegen/c.h"

bool gpu_emit(Arena *a, GpuText *g) {
    (void)a;
    diag_error(g->m->diags, g->p->loc, "unsupported", "code for %s is not supported yet", g->target);
    return false;
}
