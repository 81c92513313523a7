/* ir_limits.c: limits of the text form, at N and at N + 1, and modules that no text can make. */
#include "base/text.h"
#include "ir/ir.h"
#include "test/unit/check.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    Arena *arena;
    Diags *diags;
    Module *m;
} Parsed;

static Parsed parse(const char *text, size_t len) {
    Parsed p = {.arena = arena_new()};
    p.diags = diags_new(p.arena);
    p.m = module_parse(p.arena, names_new(p.arena), p.diags, diags_file(p.diags, "t.tir", text, len));
    return p;
}

static bool parses(const char *text, size_t len) {
    Parsed p = parse(text, len);
    bool good = p.m && p.diags->errors == 0;
    arena_free(p.arena);
    return good;
}

static bool text_parses(Text *t) {
    bool good = parses(text_str(t), t->n);
    text_free(t);
    return good;
}

static void repeat(Text *t, const char *s, int n) {
    for (int i = 0; i < n; i++) text_add(t, s);
}

/* The kernel's body is a region too. */
static bool nested(int ifs) {
    Text t = {0};
    text_add(&t, "kernel @k() each () on group { %c = const true : bool ");
    repeat(&t, "if %c { ", ifs);
    repeat(&t, "} ", ifs + 1);
    return text_parses(&t);
}

static bool source_of(size_t bytes) {
    char *s = malloc(bytes);
    memset(s, ' ', bytes);
    bool good = parses(s, bytes);
    free(s);
    return good;
}

static bool dims(int n) {
    Text t = {0};
    text_add(&t, "kernel @k(%a: f32[1");
    repeat(&t, ", 1", n - 1);
    text_add(&t, "]) each () on group {}");
    return text_parses(&t);
}

static bool terms(int n) {
    Text t = {0};
    text_add(&t, "kernel @k(%a: f32[9]) each (i of 9) on group { %x = load %a[#i");
    for (int i = 1; i < n; i++) text_printf(&t, " + i / %d", i);
    text_add(&t, "] : f32 }");
    return text_parses(&t);
}

static bool ranges(int n) {
    Text t = {0};
    text_add(&t, "kernel @k() each (i of 9");
    for (int i = 1; i < n; i++) text_printf(&t, ", i%d of 9", i);
    text_add(&t, ") on group {}");
    return text_parses(&t);
}

static bool axes(int n) {
    Text t = {0};
    for (int i = 0; i < n; i++) text_printf(&t, "mesh a%d = 2\n", i);
    return text_parses(&t);
}

static int test_limits(void) {
    int failures = 0;
    CHECK(nested(255) && !nested(256));
    CHECK(!nested(100000));
    CHECK(source_of(16 << 20) && !source_of((16 << 20) + 1));
    CHECK(dims(MAX_DIMS) && !dims(MAX_DIMS + 1));
    CHECK(terms(MAX_TERMS) && !terms(MAX_TERMS + 1));
    CHECK(ranges(MAX_RANGES) && !ranges(MAX_RANGES + 1));
    CHECK(axes(MAX_AXES) && !axes(MAX_AXES + 1));
    return failures;
}

static const char sample[] = "kernel @k(%a: f32[9], out %b: f32[9]) each (i: 4 of 9) on group {\n"
                             "%x = load %a[i] : f32<i>\n%y = exp %x : f32<i>\nstore %y, %b[i]\n}\n"
                             "program @p {\ninput %A: f32[9]\noutput %B: f32[9]\nio %A, %B\n0: call @k(%A, %B)\n}\n";

static void break_list(Module *m) { m->kernel.p[0]->body->first->next->prev = NULL; }
static void break_id(Module *m) { m->kernel.p[0]->body->first->res.p[0]->id = 1; }
static void break_def(Module *m) { m->kernel.p[0]->body->first->res.p[0]->def = NULL; }
static void break_parent(Module *m) { m->kernel.p[0]->body->parent = m->kernel.p[0]->body->first; }
static void break_range(Module *m) { m->kernel.p[0]->body->first->res.p[0]->type.range[0] = 7; }
static void break_kind(Module *m) { m->kernel.p[0]->body->first->kind = OP_COUNT; }
static void break_param(Module *m) { m->kernel.p[0]->body->first->param = -1; }
static void break_size(Module *m) { m->kernel.p[0]->range.p[0].of.sym = 3; }
static void break_kernel_id(Module *m) { m->kernel.p[0]->id = 5; }
static void break_callee(Module *m) { m->program.p[0]->node.p[0]->kernel = NULL; }
static void break_tensor(Module *m) { m->program.p[0]->node.p[0]->arg.p[0].tensor = 2; }
static void break_node(Module *m) { m->program.p[0]->node.p[0]->id = 2; }
static void break_grid(Module *m) { m->kernel.p[0]->ngrid = 0; }
static void break_order(Module *m) { op_insert_before(m->kernel.p[0]->body->first, op_new(m, OP_YIELD, (Loc){0})); }

/* What only a pass can get wrong: reported, and printed without a crash. */
static int test_broken(void) {
    void (*const break_it[])(Module *) = {break_list,   break_id,    break_def,  break_parent,    break_range,
                                          break_kind,   break_param, break_size, break_kernel_id, break_callee,
                                          break_tensor, break_node,  break_grid, break_order};
    int failures = 0;
    for (size_t i = 0; i < sizeof break_it / sizeof *break_it; i++) {
        Parsed p = parse(sample, sizeof sample - 1);
        CHECK(p.m && module_verify(p.m));
        Module *copy = module_clone(p.m, p.arena);
        break_it[i](copy);
        CHECK(!module_verify(copy) && p.diags->errors > 0);
        if (break_it[i] != break_kind) CHECK(module_text(copy, p.arena) != NULL);
        CHECK(module_verify(p.m));
        arena_free(p.arena);
    }
    return failures;
}

int main(void) { return test_limits() + test_broken() != 0; }
