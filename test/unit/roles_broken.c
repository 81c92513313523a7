/* roles_broken.c FILE.tir: what the verifier says of roles that the text form cannot have: the file's first kernel with
   one thing in it changed. Without --verify-each the end of a list of passes says the same. */
#include "base/text.h"
#include "ir/ir.h"
#include "ir/roles.h"
#include "passes/pass.h"

#include <stdio.h>
#include <string.h>

static Module *module_of(Arena *a, const char *path) {
    Diags *diags = diags_new(a);
    Text text = {0};
    if (text_read(&text, path, 1 << 24)) return NULL;
    return module_parse(a, names_new(a), diags, diags_file(diags, path, text_str(&text), text.n));
}

/* The n-th of its kind in the roles, in the order of the text. */
static Op *op_of(const Kernel *k, OpKind kind, int n) {
    for (int i = 0; i < k->roles->role.n; i++)
        for (Op *op = walk(k->roles->role.p[i].body); op; op = walk_next(op, k->roles->role.p[i].body))
            if (op->kind == kind && n-- == 0) return op;
    return NULL;
}

static void no_ring(Module *m, Kernel *k) { (void)m, op_of(k, OP_FREE, 0)->ring = 9; }
static void no_tile(Module *m, Kernel *k) { (void)m, op_of(k, OP_COPY, 0)->slot = 2; }
static void other_type(Module *m, Kernel *k) { (void)m, op_of(k, OP_GET, 0)->res.p[0]->type.elem = ELEM_F16; }
static void region(Module *m, Kernel *k) { op_of(k, OP_FREE, 0)->region[0] = region_new(m, op_of(k, OP_FREE, 0)); }
static void ends(Module *m, Kernel *k) { (void)m, op_of(k, OP_FOR, 0)->ends = 2; }
static void runs(Module *m, Kernel *k) { (void)m, op_of(k, OP_FOR, 0)->runs = 2; }
static void ends_and_runs(Module *m, Kernel *k) { (void)m, op_of(k, OP_FOR, 1)->ends = op_of(k, OP_FOR, 1)->runs = 2; }
static void early(Module *m, Kernel *k) { (void)m, op_of(k, OP_FOR, 1)->turn.p[0].shift = -1; }
static void piece(Module *m, Kernel *k) { (void)m, op_of(k, OP_PUT, 0)->piece = 1; }
static void ranges(Module *m, Kernel *k) { (void)m, k->roles->ring.p[0].tile.p[0].type.range[0] = 99; }
static void slots(Module *m, Kernel *k) { (void)m, k->roles->ring.p[0].slots = 0; }
static void over(Module *m, Kernel *k) { (void)m, k->roles->ring.p[0].over = 1; }
static void rings(Module *m, Kernel *k) { (void)m, k->roles->ring.p[1].name = k->roles->ring.p[0].name; }
static void roles(Module *m, Kernel *k) { (void)m, k->roles->role.p[1].name = k->roles->role.p[0].name; }
static void schedule(Module *m, Kernel *k) {
    k->plan.lowering = LOWER_SCHEDULE;
    k->plan.schedule = name_of(m->names, "product");
}

static const struct {
    void (*change)(Module *, Kernel *);
    const char *words;
} broken[] = {
    {no_ring, "free of a ring that is not there"},
    {no_tile, "copy fills no tile of a slot"},
    {other_type, "get gives bf16<i, p>, not f16<i, p>"},
    {region, "free has a region"},
    {ends, "groups end a loop in turn that has no turns"},
    {runs, "a loop in runs has no turns"},
    {ends_and_runs, "groups end a loop in turn whose turns begin anew after each run"},
    {early, "piece A runs before its iteration begins"},
    {piece, "put is of a piece, and its loop has no turns"},
    {ranges, "tile 'x' has a type that no tile has"},
    {slots, "ring 'ab' has no slot"},
    {over, "ring 'ab' lies over one that does not stand before it"},
    {rings, "there are two rings 'ab'"},
    {roles, "there are two roles 'copy'"},
    {schedule, "it has roles, and its plan another lowering"},
};

static bool is_said(const Diags *d, const char *words) {
    for (int i = 0; i < d->diag.n; i++)
        if (d->diag.p[i].id && strcmp(d->diag.p[i].id, "invalid-ir") == 0 && strstr(d->diag.p[i].message, words))
            return true;
    return false;
}

static bool passes_take(Module *m) {
    const PassOptions options = {.target = "sm_90a", .out = stderr};
    return pipeline_run(&(PassContext){.m = m, .options = &options}, NULL, 0);
}

int main(int argc, char **argv) {
    int wrong = 0;
    if (argc != 2) return 2;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        Arena *a = arena_new();
        Module *m = module_of(a, argv[1]);
        if (!m || !module_verify(m) || !passes_take(m)) return 1;
        broken[i].change(m, m->kernel.p[0]);
        const bool good = i % 2 ? module_verify(m) : passes_take(m), said = is_said(m->diags, broken[i].words);
        if (good || !said) {
            printf("'%s' is not said\n", broken[i].words);
            diags_print(m->diags, stdout, DIAG_TEXT, false);
            wrong++;
        }
        arena_free(a);
    }
    return wrong != 0;
}
