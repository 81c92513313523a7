/* roles_name.c: names in the text of a kernel in the form roles. */
#include "codegen/gpu/roles.h"

Fn hip_role_fn(RolesWriter *w, Hip *hip) {
    Fn f = fn_new(&w->back, w->arena, w->g->m, w->p, w->memory);
    *hip = (Hip){.target = w->target,
                 .call = w->launch->call,
                 .member = w->member,
                 .ticket = -1,
                 .lanes = w->target->wave,
                 .waves = 4,
                 .threads = 128};
    f.hip = hip;
    f.k = w->k;
    f.node = w->node;
    f.fields = w->launch->fields;
    return f;
}

const char *hip_role_name(const RolesWriter *w, const char *what) {
    return arena_format(w->arena, "%s_%s", w->launch->function, what);
}

bool hip_role_counts(const RolesWriter *w, int range) { return w->k->range.p[range].kind != RANGE_WHOLE; }

static const char *file_name(RolesWriter *w, const char *what) {
    return c_function_name(w->names, hip_role_name(w, what));
}

static void ring_names(RolesWriter *w, RingFacts *f, const Ring *r, CNames *members) {
    const char *name = f->member = c_name(members, r->name);
    f->at_name = file_name(w, name);
    f->bytes_name = file_name(w, arena_format(w->arena, "%s_bytes", name));
    f->full_name = file_name(w, arena_format(w->arena, "%s_full", name));
    f->tile_name = ARENA_ARRAY(w->arena, const char *, r->tile.n + 1);
    for (int i = 0; i < r->tile.n; i++)
        f->tile_name[i] = file_name(w, arena_format(w->arena, "%s_%s", name, r->tile.p[i].name));
}

static void turn_names(RolesWriter *w, RingFacts *f, const Role *r, CNames *members) {
    if (f->full < 0) return;
    f->member = c_name(members, arena_format(w->arena, "%s_turn", r->name));
    f->full_name = file_name(w, arena_format(w->arena, "%s_full", f->member));
}

void hip_role_names(RolesWriter *w) {
    static const char *const taken[] = {"rank", "cluster", "clusters", "tasks"};
    CNames members = {.arena = w->arena}, task = members;
    c_name(&task, "number");
    w->task = ARENA_ARRAY(w->arena, const char *, w->k->ngrid + 1);
    for (int i = 0; i < w->k->ngrid; i++) w->task[i] = c_name(&task, w->k->range.p[i].name);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) c_name(&members, taken[i]);
    w->tiles = ARENA_ARRAY(w->arena, const char *, w->k->ngrid + 1);
    for (int i = 0; i < w->k->ngrid; i++)
        w->tiles[i] = c_name(&members, arena_format(w->arena, "%s_tiles", w->k->range.p[i].name));
    for (int i = 0; i < w->roles->ring.n; i++) ring_names(w, &w->facts.ring[i], &w->roles->ring.p[i], &members);
    for (int i = 0; i < w->roles->role.n; i++) turn_names(w, &w->facts.turn[i], &w->roles->role.p[i], &members);
    w->facts.take.member = c_name(&members, "take");
    w->facts.take.at_name = file_name(w, w->facts.take.member);
    w->facts.take.full_name = file_name(w, arena_format(w->arena, "%s_full", w->facts.take.member));
    w->role = ARENA_ARRAY(w->arena, const char *, w->roles->role.n + 1);
    w->maps = ARENA_ARRAY(w->arena, bool, w->roles->role.n + 1);
    for (int i = 0; i < w->roles->role.n; i++) w->role[i] = file_name(w, w->roles->role.p[i].name);
}
