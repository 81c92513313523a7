/* written.c: which tensors of a program its nodes write. */
#include "ir/ir.h"

static bool param_is_written(const Param *p) { return p->out || p->inout; }

bool *program_written(const Program *p, Arena *arena) {
    bool *written = ARENA_ARRAY(arena, bool, p->tensor.n + 1);
    for (int i = 0; i < p->node.n; i++) {
        const Node *n = p->node.p[i];
        for (int a = 0; n->kind == NODE_CALL && a < n->arg.n; a++)
            if (param_is_written(&n->kernel->param.p[a])) written[n->arg.p[a].tensor] = true;
    }
    return written;
}

bool tensor_is_constant(const Program *p, int tensor) {
    if (p->tensor.p[tensor].role != ROLE_INPUT) return false;
    for (int i = 0; i < p->node.n; i++) {
        const Node *n = p->node.p[i];
        if (n->kind == NODE_COLLECTIVE && n->dst == tensor) return false;
        for (int a = 0; n->kind == NODE_CALL && a < n->arg.n; a++)
            if (n->arg.p[a].tensor == tensor && param_is_written(&n->kernel->param.p[a])) return false;
    }
    return true;
}
