/* kernel_ir.c: prints the IR of kernels instantiated as the source's own comments say.
   usage: kernel_ir FILE.tile; each line `//! NAME ARG .. [-> ELEM ..]` is one call: f32[256,S,64@tp] is a tensor, f32 a
   run-time scalar, =0.5, =7 and =true are constants. Prints how many kernels the calls made, then the module. */
#include "frontend/sema/instance.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    Lower lw;
    ActualArg arg[16];
    ExpectedResult result[4];
    int narg, nresult;
    Loc loc;
} Call;

static const Decl *kernel_named(const Lower *lw, const char *name) {
    for (int i = 0; i < lw->decl.n; i++)
        if (lw->decl.p[i]->kind == DECL_KERNEL && strcmp(lw->decl.p[i]->name, name) == 0) return lw->decl.p[i];
    fprintf(stderr, "no kernel %s\n", name);
    exit(2);
}

static Size extent_of(Call *c, char *text) {
    Size s = size_number(0);
    char *at = strchr(text, '@');
    if (at) *at = 0;
    if (text[0] >= '0' && text[0] <= '9')
        s = size_number(strtoll(text, NULL, 10));
    else if (!dim_size(&c->lw, name_of(c->lw.m->names, text), &s))
        exit(2);
    if (at) s.axis = 0;
    return s;
}

static Elem elem_of(const char *text) {
    Elem e;
    if (elem_parse(text, &e)) return e;
    fprintf(stderr, "no element type %s\n", text);
    exit(2);
}

static ActualArg argument_of(Call *c, char *word) {
    ActualArg a = {.loc = c->loc};
    if (word[0] == '=') {
        bool truth = strcmp(word, "=true") == 0, falsehood = strcmp(word, "=false") == 0;
        a.is_const = true;
        const bool whole = truth || falsehood || !strchr(word, '.');
        a.number = whole ? number_integer(truth       ? 1
                                          : falsehood ? 0
                                                      : strtoll(word + 1, NULL, 10))
                         : number_float(strtod(word + 1, NULL));
        return a;
    }
    char *open = strchr(word, '[');
    if (open) *open++ = 0;
    a.elem = elem_of(word);
    for (char *save, *d = open ? strtok_r(open, ",]", &save) : NULL; d; d = strtok_r(NULL, ",]", &save))
        a.dim[a.ndim++] = extent_of(c, d);
    return a;
}

static void call_run(Call *c, char *line) {
    char *save, *word = strtok_r(line, " ", &save);
    const Decl *d = kernel_named(&c->lw, word);
    bool results = false;
    c->narg = c->nresult = 0;
    while ((word = strtok_r(NULL, " ", &save))) {
        if (c->narg == 16 || c->nresult == 4) exit(2);
        if (strcmp(word, "->") == 0)
            results = true;
        else if (results)
            c->result[c->nresult++] = (ExpectedResult){.elem = elem_of(word), .has_elem = true};
        else
            c->arg[c->narg++] = argument_of(c, word);
    }
    kernel_instantiate(&c->lw, d, c->arg, c->narg, c->result, c->nresult, c->loc);
}

static void calls_run(Call *c, const char *text, int file) {
    for (const char *p = strstr(text, "//! "); p; p = strstr(p + 1, "//! ")) {
        size_t n = strcspn(p, "\n");
        c->loc = (Loc){file, (uint32_t)(p - text), (uint32_t)(p - text + (long)n)};
        call_run(c, arena_text(c->lw.m->arena, p + 4, n - 4));
    }
}

int main(int argc, char **argv) {
    Text text = {0};
    if (argc != 2 || text_read(&text, argv[1], SYNTAX_BYTES)) return 2;
    Arena *a = arena_new();
    Diags *diags = diags_new(a);
    LowerOptions options = {0};
    Call c = {.lw = {.m = module_new(a, names_new(a), diags), .options = &options}};
    int file = diags_file(diags, "in", text.p, text.n);
    Unit *unit = parse_source(a, c.lw.m->names, diags, file);
    vec_push(a, &c.lw.m->axis, ((Axis){.name = name_of(c.lw.m->names, "tp"), .ranks = 4}));
    for (int i = 0; i < unit->decls.n; i++) vec_push(a, &c.lw.decl, unit->decls.p[i]);
    calls_run(&c, text.p, file);
    bool good = diags->errors == 0 && module_verify(c.lw.m);
    printf("%d kernels\n", c.lw.m->kernel.n);
    if (good) module_print(c.lw.m, stdout);
    diags_print(diags, stdout, DIAG_TEXT, false);
    arena_free(a);
    text_free(&text);
    return good ? 0 : 1;
}
