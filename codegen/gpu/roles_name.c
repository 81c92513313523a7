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

/* ---- rings, in the role that is being written ---- */

int hip_role_served(const Fn *f, int ring) {
    const int per = f->k->roles->ring.p[ring].per;
    return per >= 0 && f->hip->role->number != per ? per : -1;
}

const char *hip_role_end(Fn *f, int ring) {
    RoleText *r = f->hip->role;
    if (!r->end[ring]) r->end[ring] = c_name(&f->names, fn_text(f, "%s_end", f->k->roles->ring.p[ring].name));
    return hip_role_served(f, ring) < 0 ? r->end[ring] : fn_text(f, "%s[group]", r->end[ring]);
}

const char *hip_role_ring(Fn *f, int ring) {
    RoleText *r = f->hip->role;
    const char *name = f->hip->role->facts->ring[ring].member;
    if (r->ring[ring]) return r->ring[ring];
    if (hip_role_served(f, ring) >= 0) return r->ring[ring] = fn_text(f, "&%s[group]", c_name(&f->names, name));
    if (f->hip->role->facts->ring[ring].copies == 1) return r->ring[ring] = fn_text(f, "&all->%s", name);
    return r->ring[ring] = fn_text(f, "&%s", c_name(&f->names, fn_text(f, "own_%s", name)));
}

const char *hip_role_slot_before(Fn *f, int ring) {
    return fn_text(f, "tile_own_before(%s, &%s)", hip_role_ring(f, ring), hip_role_end(f, ring));
}

void hip_role_name_slot(Fn *f, const Op *get, const char *slot) {
    const RingFacts *r = &f->hip->role->facts->ring[get->ring];
    f->hip->role->got[get->ring] = slot;
    for (int i = 0; i < get->res.n; i++) {
        const char *tile =
            r->tile[i] ? fn_text(f, "%s + %s", slot, r->tile_name[i]) : slot;
        fn_held(f, get->res.p[i])->tile = (Tile){.name = tile};
    }
}
