/* roles_finish.c: the function that finishes a part of a tile while the next task's products run (roles_beside.c).
   Takes: a role with a late loop. Gives: a struct of what is kept from task to task, and the function. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

#include <inttypes.h>
#include <string.h>

static bool is_own(const RolesWriter *w, int ring) { return w->facts.ring[ring].copies > 1; }

static void write_struct(RolesWriter *w, Fn *f, const LateText *t, int role) {
    Text *to = &w->functions;
    text_printf(to, "/* What role %s keeps of a task, whose results it finishes while it multiplies the next one. */\n",
                w->roles->role.p[role].name);
    text_printf(to, "typedef struct {\n    %s task;\n    bool kept;\n", hip_role_name(w, "task"));
    for (int i = 0; i < w->roles->ring.n; i++) {
        const char *name = w->facts.ring[i].member;
        if (!hip_late_uses(t->loop, i)) continue;
        if (is_own(w, i)) text_printf(to, "    tile_ring own_%s; /* of this group */\n", name);
        text_printf(to, "    tile_ring_end %s_end;\n", name);
        if (t->cuts > 1) text_printf(to, "    uint32_t %s; /* the slot in hand */\n", name);
    }
    const Value *v;
    for (int i = 0; (v = hip_kept_value(t->loop, i)); i++)
        text_printf(to, "    uint32_t %s[%" PRId64 "]; /* 16 bits each */\n", hip_kept_name(f, i),
                    hip_kept_words(f, v));
    text_printf(to, "} %s;\n\n", t->name);
}

static void late_rings(RolesWriter *w, RoleText *r, const Op *loop) {
    for (int i = 0; i < w->roles->ring.n; i++) {
        const char *name = w->facts.ring[i].member;
        if (!hip_late_uses(loop, i)) continue;
        r->end[i] = arena_format(w->arena, "late->%s_end", name);
        r->ring[i] = arena_format(w->arena, is_own(w, i) ? "&late->own_%s" : "&all->%s", name);
    }
}

/* Registers of a part that a turn finishes. */
static int64_t cut_registers(Fn *f, const LateText *t) {
    const Value *v = hip_kept_value(t->loop, 0);
    return v ? 2 * hip_kept_words(f, v) / t->parts / t->cuts : 0;
}

static void write_part(RolesWriter *w, Fn *f, int role) {
    const LateText *t = f->hip->role->late;
    Text *to = &w->functions, head = {0};
    const char *at = c_name(&f->names, fn_text(f, "%s0", w->k->range.p[t->loop->range].name));
    const Constants of_task = hip_role_task(w, f);
    f->indent = 1;
    f->hip->cut = t->cuts;
    hip_role_plan(f, &w->roles->role.p[role]);
    hip_role_kept(f, t, true);
    late_rings(w, f->hip->role, t->loop);
    for (int i = 0; i < w->k->ngrid; i++) f->range[i].missing = false; /* such a task has not been multiplied */
    emit_region(f, w->roles->scalars);
    hip_role_part_of(f, t->loop, cexpr_name(f, at));
    hip_arguments(f);
    for (int i = 0; i < of_task.n; i++) vec_push(f->arena, &f->head, of_task.p[i]);
    fn_head_print(f, &head);
    write_struct(w, f, t, role);
    text_printf(to, "TILE_FN void %s_part(const %s call, ", t->name, w->launch->call);
    if (w->launch->nmap) text_printf(to, "const %s *maps, ", hip_role_name(w, "maps"));
    text_printf(to, "const %s *all, %s *late, int %s, ", hip_role_name(w, "all"), t->name, at);
    text_printf(to, "%sint group, int thread) {\n", t->cuts > 1 ? "const int turn, " : "");
    text_printf(to, "    const %s task = late->task;\n", hip_role_name(w, "task"));
    if (t->cuts > 1) text_printf(to, "    const int first = %" PRId64 " * turn;\n", cut_registers(f, t));
    text_printf(to, "%s%s}\n\n", text_str(&head), text_str(&f->body));
    w->late_stores |= strstr(text_str(&f->body), "tile_box_store") != NULL;
    text_free(&head), text_free(&f->body);
    w->failed |= f->failed;
}

void hip_role_late_function(RolesWriter *w, int role) {
    Hip hip;
    RoleText text;
    Fn f = hip_role_function_new(w, role, &hip, &text);
    text.late = text.beside;
    if (text.late) write_part(w, &f, role);
}
