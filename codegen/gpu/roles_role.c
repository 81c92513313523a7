/* roles_role.c: a role as a function: it loops over the workgroup's tasks, with what the scalars and the role's body
 * say. */
#include "codegen/gpu/roles.h"
#include "codegen/text/step.h"

#include <inttypes.h>
#include <string.h>

static void names_take(Fn *f) {
    static const char *const taken[] = {"call", "maps", "all", "group", "thread",     "number", "task",
                                        "lds",  "reg",  "t",   "ahead", "generation", "lost"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) c_name(&f->names, taken[i]);
    name_params(f);
}

/* Where a task's tiles begin. */
Constants hip_role_task(RolesWriter *w, Fn *f) {
    range_text_grid(f);
    const Constants begins = f->head;
    f->head = (Constants){0};
    for (int i = 0; i < f->k->ngrid; i++)
        if (hip_role_counts(w, i)) fn_constant(f, f->range[i].index->text, fn_text(f, "task.%s", w->task[i]));
    for (int i = 0; i < begins.n; i++) vec_push(f->arena, &f->head, begins.p[i]);
    if (roles_slice(f->k)) hip_share_range(f);
    const Constants all = f->head;
    f->head = (Constants){0};
    return all;
}

/* A scalar of the task that all roles compute alike is a variable also where it costs nothing: expressions count in a
   group's share. A conversion that only a slot reads is done as the slot is written. */
/* What another piece of a loop reads is made where it stands; so is an operand of products in registers. */
static void hold_apart(Fn *f, const Op *op) {
    const Op *loop = op->in->parent;
    for (int i = 0; i < op->arg.n; i++) {
        const Op *def = op->arg.p[i]->def;
        if (!def || !op->arg.p[i]->type.nrange || def->in != op->in || fn_held(f, op->arg.p[i])->hold != HOLD_INLINE)
            continue;
        const bool free = def->kind == OP_CONST || def->kind == OP_POS || def->kind == OP_BROADCAST;
        const bool apart = loop && loop->kind == OP_FOR && loop->turn.n && def->piece != op->piece && !free;
        if (apart || (op->kind == OP_MMA && i == 0 && hip_role_packs(def))) fn_held(f, op->arg.p[i])->hold = HOLD_TILE;
    }
}

void hip_role_plan(Fn *f, const Role *r) {
    hold_values_of(f, (const Region *const[]){f->k->roles->scalars, r->body}, 2);
    for (const Op *op = walk(r->body); op; op = walk_next(op, r->body)) {
        for (int i = 0; i < op->res.n && r->warp >= 0; i++)
            if (op->res.p[i]->type.nrange) fn_held(f, op->res.p[i])->hold = HOLD_INLINE;
        hold_apart(f, op);
        if (r->first >= 0 && hip_role_is_exponent(f, op)) fn_held(f, op->res.p[0])->hold = HOLD_TILE;
        if (r->warp < 0 && hip_role_widens(f, op))
            fn_held(f, op->res.p[0])->hold = HOLD_TILE, fn_held(f, op->arg.p[0])->hold = HOLD_UNUSED;
        if (op->kind != OP_WRITE || !op->arg.p[0]->def || op->arg.p[0]->def->kind != OP_CAST) continue;
        Held *h = fn_held(f, op->arg.p[0]);
        if (h->reader.op == op && !h->shared) h->hold = HOLD_INLINE;
    }
}

static bool has_product(const Region *r) {
    for (const Op *op = walk(r); op; op = walk_next(op, r))
        if (op->kind == OP_MMA) return true;
    return false;
}

/* It fills rings that roles read beside products: it has ended with a task well before they have. */
static bool is_first(const RolesWriter *w, int role) {
    for (int i = 0; i < w->roles->role.n; i++) {
        const Region *body = w->roles->role.p[i].body;
        for (const Op *op = walk(body); op; op = walk_next(op, body))
            if (op->kind == OP_GET && w->facts.ring[op->ring].writer == role && has_product(op->in)) return true;
    }
    return false;
}

static void tasks_head(RolesWriter *w, Fn *f) {
    const Role *r = &w->roles->role.p[f->hip->role->number];
    if (w->facts.take.full < 0) {
        fn_line(f, "for (int number = all->cluster; number < all->tasks; number += all->clusters) {");
        return;
    }
    const char *end = c_name(&f->names, fn_text(f, "%s_end", w->facts.take.member));
    fn_line(f, "tile_ring_end %s = tile_ring_reader();", end);
    const char *ring = w->facts.take.member, *warp = r->lanes == 1 ? "false" : "true";
    if (is_first(w, f->hip->role->number))
        fn_line(f,
                "for (int number; (number = tile_ticket_look(&all->%s, &%s, %s)) >= 0; tile_ticket_done(&all->%s, &%s, "
                "%s)) {",
                ring, end, warp, ring, end, warp);
    else
        fn_line(f, "for (int number; (number = tile_ticket_next(&all->%s, &%s, %s)) >= 0;) {", ring, end, warp);
}

static void task_line(RolesWriter *w, Fn *f, const char *number, const char *constants, const char *body) {
    if (text_has_word(constants, "task") || text_has_word(body, "task"))
        fn_line(f, "const %s task = %s(all, %s);", hip_role_name(w, "task"), hip_role_name(w, "place"), number);
}

static void tasks_loop(RolesWriter *w, Fn *f, const char *constants, const char *body) {
    tasks_head(w, f);
    f->indent++;
    task_line(w, f, "number", constants, body);
    f->indent--;
    text_add(&f->body, constants);
    text_add(&f->body, body);
    fn_line(f, "}");
}

/* The first task, or none. */
static void first_task(RolesWriter *w, Fn *f, const char *constants, const char *body) {
    fn_line(f, "int ahead = 0;");
    fn_line(f, "if (all->cluster >= all->tasks) return 0;");
    task_line(w, f, "all->cluster", constants, body);
    text_add(&f->body, constants);
    text_add(&f->body, body);
    fn_line(f, "return ahead;");
}

/* The first ones are named in the loop over tasks: what lies before it names its own. */
static void sizes_leave(Fn *f, int first) {
    const int n = f->size.n - first;
    for (int i = 0; i < n; i++) f->size.p[i] = f->size.p[i + first];
    f->size.n = n;
}

static void role_body(RolesWriter *w, Fn *f, const Role *r) {
    const bool before = f->hip->role->before;
    const Constants of_task = hip_role_task(w, f);
    const int sizes = f->size.n;
    f->indent = before ? 1 : 2;
    hip_role_plan(f, r);
    if (f->hip->role->beside) hip_role_kept(f, f->hip->role->beside, false);
    skip_missing_tasks(f);
    emit_region(f, f->k->roles->scalars);
    hip_role_own(f, r);
    emit_region(f, r->body);
    const Constants own = f->head;
    Text head = {0};
    f->head = of_task;
    fn_head_print(f, &head);
    Text inside = f->body;
    f->head = own;
    f->body = (Text){0};
    f->indent = 1;
    (before ? first_task : tasks_loop)(w, f, text_str(&head), text_str(&inside));
    text_free(&head), text_free(&inside);
    sizes_leave(f, sizes);
}

/* Rings of groups that the role serves from beside, and its ends of them. */
static void groups_ends(RolesWriter *w, const RoleText *r, int ring, Text *to) {
    const RingFacts *x = &w->facts.ring[ring];
    const char *name = arena_text(w->arena, r->ring[ring] + 1, strcspn(r->ring[ring] + 1, "["));
    text_printf(to, "    const tile_ring %s[%d] = {", name, x->copies);
    for (int g = 0; g < x->copies; g++) text_printf(to, "%stile_ring_of(&all->%s, %d)", g ? ", " : "", x->member, g);
    text_printf(to, "}; /* of each group */\n    tile_ring_end %s[%d] = {", r->end[ring], x->copies);
    for (int g = 0; g < x->copies; g++) text_printf(to, "%stile_ring_reader()", g ? ", " : "");
    text_add(to, "};\n");
}

static void role_ends(RolesWriter *w, Fn *f, Text *to) {
    for (int i = 0; i < w->roles->ring.n; i++) {
        const RoleText *r = f->hip->role;
        const RingFacts *x = &w->facts.ring[i];
        const int per = w->roles->ring.p[i].per;
        const bool beside = per >= 0 && per != r->number;
        if (r->ring[i] && beside) {
            groups_ends(w, r, i, to);
            continue;
        }
        if (r->ring[i] && x->copies > 1) {
            const char *name = r->ring[i] + 1, *ring = x->member;
            text_printf(to, "    tile_ring %s = all->%s; /* of this group */\n", name, ring);
            text_printf(to, "    %s.slot += %d * %s * group;\n", name, w->roles->ring.p[i].slots, x->bytes_name);
            if (x->full >= 0)
                text_printf(to, "    %s.full += TILE_RING_BARRIERS(%d) * group;\n", name, w->roles->ring.p[i].slots);
        }
        if (r->end[i])
            text_printf(to, "    tile_ring_end %s = tile_ring_%s();\n", r->end[i],
                        x->writer == r->number && !ring_sums(&w->roles->ring.p[i]) ? "writer" : "reader");
    }
    if (hip_role_has_brackets(&w->roles->role.p[f->hip->role->number]))
        text_printf(to, "    if (group == %d) tile_bar_arrive(%d, %d); /* group 0 begins */\n", f->hip->groups - 1,
                    hip_role_turn_barrier(w->k, f->hip->role->number), TURN_THREADS);
    if (f->hip->role->clears)
        text_printf(to, "    if (group == 1) tile_bar_arrive(%d, %d); /* no zeros are waited for */\n",
                    hip_role_past_barrier(w->k, f->hip->role->number), TURN_THREADS);
    if (f->hip->role->turn)
        text_printf(to, "    tile_ring_end %s = group ? tile_ring_reader() : tile_ring_writer();\n",
                    f->hip->role->turn);
}

/* It copies what roles multiply. */
static bool copies_boxes(const RolesWriter *w, int role) {
    for (int i = 0; i < w->roles->ring.n; i++)
        if (w->facts.ring[i].writer == role && (w->facts.ring[i].boxed || hip_ring_has_rows(&w->roles->ring.p[i])))
            return true;
    return false;
}

/* Behind the last task: the next launch may begin; nobody leaves while others of the cluster copy to it or arrive here,
   or while its own copies are under way; stores are done. */
static void role_end_lines(RolesWriter *w, Fn *f) {
    if (w->launch->dependent && copies_boxes(w, f->hip->role->number)) fn_line(f, "tile_let_go();");
    for (int i = 0; i < w->roles->ring.n; i++) {
        const RingFacts *x = &w->facts.ring[i];
        if (x->writer != f->hip->role->number) continue;
        if (x->full >= 0 && ((x->sharers > 1 && x->boxed) || hip_ring_has_rows(&w->roles->ring.p[i])))
            fn_line(f, "tile_ring_drain(%s, &%s);", f->hip->role->ring[i], f->hip->role->end[i]);
        const bool late = f->hip->role->beside && w->late_stores;
        if (x->full < 0 && (late || strstr(text_str(&f->body), "tile_box_store")))
            fn_line(f, "if (thread == 0) tile_tma_wait();");
    }
}

static void lost_line(Fn *f, Text *to) {
    if (text_has_word(text_str(&f->body), "lost")) text_add(to, "    bool lost = false; /* it has waited in vain */\n");
}

/* Roles beside it wait for no barrier of the whole workgroup. */
static void check_alone(Fn *f) {
    if (text_has_word(text_str(&f->body), "tile_sync") || text_has_word(text_str(&f->body), "lds"))
        fn_unsupported(f, f->k->loc, "what goes through workgroup memory, in a role");
}

/* A function's name; that of the one that it calls before it waits has a word behind. */
static void role_head(RolesWriter *w, Fn *f, const Role *r, Text *to) {
    const char *who = r->first >= 0 ? ", int group, int thread" : r->lanes > 1 ? ", int thread" : "";
    const bool before = f->hip->role->before;
    text_printf(to, "TILE_FN %s %s%s(const %s call, ", before ? "int" : "void", w->role[f->hip->role->number],
                before ? "_ahead" : "", w->launch->call);
    const bool maps = w->launch->nmap && (r->lanes <= 1 || text_has_word(text_str(&f->body), "maps"));
    w->maps[f->hip->role->number] = maps;
    if (maps) text_printf(to, "const %s *maps, ", hip_role_name(w, "maps"));
    text_printf(to, "const %s *all%s) {\n", hip_role_name(w, "all"), who);
}

/* Each role waits by itself where one does something before. */
static void role_waits(RolesWriter *w, const RoleText *r, Text *to) {
    if (!w->ahead || r->before) return;
    const char *maps = w->launch->nmap ? "maps, " : "";
    if (r->ahead) text_printf(to, "    int ahead = %s_ahead(call, %sall);\n", w->role[r->number], maps);
    text_add(to, "    tile_follow();\n");
}

/* Names that a late loop takes, in the role and in the function that finishes. */
static void late_names(Fn *f, const LateText *t) {
    static const char *const taken[] = {"late", "turn", "first"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken && t; i++) c_name(&f->names, taken[i]);
}

Fn hip_role_function_new(RolesWriter *w, int number, Hip *hip, RoleText *text) {
    const Role *r = &w->roles->role.p[number];
    Fn f = hip_role_fn(w, hip);
    *text = (RoleText){.facts = &w->facts,
                       .launch = w->launch,
                       .number = number,
                       .of = number,
                       .map = w->map,
                       .program = w->p,
                       .beside = hip_role_late_text(w, number),
                       .quads = hip_role_quads(w->g->m, w->k, number)};
    text->end = ARENA_ARRAY(w->arena, const char *, w->roles->ring.n + 1);
    text->ring = ARENA_ARRAY(w->arena, const char *, w->roles->ring.n + 1);
    text->got = ARENA_ARRAY(w->arena, const char *, w->roles->ring.n + 1);
    text->words = ARENA_ARRAY(w->arena, const char *, w->k->nvalue + 1);
    text->small = ARENA_ARRAY(w->arena, const char *, w->k->nvalue + 1);
    text->own = ARENA_ARRAY(w->arena, const char *, w->k->param.n + 1);
    text->last = ARENA_ARRAY(w->arena, const CExpr *, w->k->range.n + 1);
    text->part_at = ARENA_ARRAY(w->arena, const CExpr *, w->k->range.n + 1);
    text->part_from = ARENA_ARRAY(w->arena, const CExpr *, w->k->range.n + 1);
    hip->role = text;
    hip->groups = hip_role_groups(w->k, number);
    if (!hip->groups) hip->threads = r->lanes;
    hip->split = r->split + 1;
    if (hip->split) hip->share = hip_role_extent(w->g->m, w->k, number, r->split);
    hip_role_waits(w->arena, r, &text->waits);
    names_take(&f);
    late_names(&f, text->beside);
    return f;
}

static void write_function(RolesWriter *w, int number, bool before) {
    const Role *r = &w->roles->role.p[number];
    Hip hip;
    RoleText text;
    Fn f = hip_role_function_new(w, number, &hip, &text);
    text.before = before;
    if (w->ahead && hip_role_of(w->roles, w->ahead) == number) text.ahead = w->ahead;
    w->back.leave = before ? "return 0;" : "continue;";
    role_body(w, &f, r);
    if (text.beside) hip_role_finish(&f, text.beside);
    if (!before) hip_role_constants(&f);
    if (!before) role_end_lines(w, &f);
    check_alone(&f);
    hip_arguments(&f);
    Text *to = &w->functions, head = {0};
    fn_head_print(&f, &head);
    text_printf(to, "/* role %s%s */\n", c_string(w->arena, r->name), before ? ", while the launch before ends" : "");
    role_head(w, &f, r, to);
    role_ends(w, &f, to);
    if (text.beside) hip_role_late_begin(w, &text, to);
    role_waits(w, &text, to);
    lost_line(&f, to);
    text_add(to, text_str(&head));
    text_printf(to, "%s}\n\n", text_str(&f.body));
    text_free(&head), text_free(&f.body);
    w->failed |= f.failed;
}

void hip_role_function(RolesWriter *w, int number) {
    if (w->ahead && hip_role_of(w->roles, w->ahead) == number) write_function(w, number, true);
    write_function(w, number, false);
}
