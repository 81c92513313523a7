/* kernel.c: libFuzzer target: what the parser understands is checked and lowered without a crash, and what is lowered
   without errors is IR that the verifier accepts. */
#include "frontend/sema/instance.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { MOST_PARAMS = 16 };

/* Every name of an extent is 32; name + 1 is 33. */
static ActualArg argument_of(const ParamDecl *p) {
    ActualArg a = {
        .is_const = p->is_const, .number = {.is_integer = true, .i = 1}, .ndim = p->type.shape.n, .loc = p->loc};
    if (!elem_parse(p->type.elem, &a.elem)) a.elem = ELEM_BF16;
    for (int d = 0; d < a.ndim && d < MAX_DIMS; d++) {
        const Expr *e = p->type.shape.p[d];
        bool shifted = e->kind == EXPR_BINARY && e->op == AST_ADD && e->rhs->kind == EXPR_INT;
        a.dim[d] = size_number(32 + (shifted ? e->rhs->i & 0xffff : 0));
    }
    return a;
}

static void kernel_try(Lower *lw, const Decl *d) {
    ActualArg arg[MOST_PARAMS];
    if (d->kind != DECL_KERNEL || d->params.n > MOST_PARAMS) return;
    for (int i = 0; i < d->params.n; i++) arg[i] = argument_of(&d->params.p[i]);
    kernel_check(lw, d);
    kernel_instantiate(lw, d, arg, d->params.n, NULL, 0, d->loc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    Arena *a = arena_new();
    Diags *diags = diags_new(a);
    Names *names = names_new(a);
    LowerOptions options = {0};
    Unit *unit = parse_source(a, names, diags, diags_file(diags, "fuzz.tile", (const char *)data, n));
    Lower lw = {.m = module_new(a, names, diags), .options = &options};
    for (int i = 0; i < unit->decls.n; i++) vec_push(a, &lw.decl, unit->decls.p[i]);
    for (int i = 0; diags->errors == 0 && i < lw.decl.n; i++) kernel_try(&lw, lw.decl.p[i]);
    if (diags->errors == 0 && !module_verify(lw.m)) {
        diags_print(diags, stderr, DIAG_TEXT, false);
        abort();
    }
    arena_free(a);
    return 0;
}
