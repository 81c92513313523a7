/* roles_ragged.c: kernels in roles over ragged ranges: a workgroup looks at the starts of groups once, before its roles
   begin; who takes tickets passes on those whose tile has positions. */
#include "codegen/gpu/roles.h"
#include "codegen/text/share.h"
#include "codegen/text/size.h"

#include <inttypes.h>

static int ragged_range(const Kernel *k) {
    for (int i = 0; i < k->ngrid; i++)
        if (range_is_ragged(k, i)) return i;
    return -1;
}

static Fn function_new(RolesWriter *w, Hip *hip) {
    static const char *const taken[] = {"call", "all", "lds", "number", "counter", "end", "wrong"};
    Fn f = hip_role_fn(w, hip);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) c_name(&f.names, taken[i]);
    name_params(&f);
    return f;
}

static void function_print(RolesWriter *w, Fn *f, const char *head) {
    Text text = {0};
    hip_arguments(f);
    fn_head_print(f, &text);
    text_printf(&w->g->text, "%s {\n%s%s}\n\n", head, text_str(&text), text_str(&f->body));
    text_free(&text), text_free(&f->body);
    w->failed |= f->failed;
}

/* All threads: is a start wrong? Then no task stores. */
static void write_refused(RolesWriter *w, int range) {
    Hip hip;
    Fn f = function_new(w, &hip);
    const Range *r = &w->k->range.p[range];
    const int param = r->starts - 1;
    const char *elem = elem_text(w->k->param.p[param].elem), *start = f.param[param];
    fn_line(&f, "const int64_t wrong = tile_starts_wrong_%s(%s, %s, %s, number, %s, tile_thread(), %d);", elem, start,
            size_text(&f, range_groups(w->k, range))->text, size_text(&f, r->of)->text,
            ragged_is_whole(w->k, range) ? "true" : "false", w->facts.threads);
    fn_line(&f, "return tile_refuse_starts(lds, call.task, %s, %s, wrong, wrong < 0 ? 0 : tile_load_%s(&%s[wrong]));",
            field_number(&f, "starts", f.memory->arg[f.node->arg.p[param].tensor])->text,
            hip_seen_by(w->g->m, NULL), elem, start);
    function_print(w, &f,
                   arena_format(w->arena, "TILE_FN bool %s(const %s call, char *lds, int number)",
                                hip_role_name(w, "refused"), w->launch->call));
}

/* Tasks of each tile of the range. */
static const char *tasks_beside(const RolesWriter *w, int range) {
    const char *text = "";
    for (int i = 0; i < w->k->ngrid; i++)
        if (i != range && hip_role_counts(w, i)) text = arena_format(w->arena, "%s * all->%s", text, w->tiles[i]);
    return text;
}

/* `all`, as if only tiles with positions were numbered. */
static void write_some(RolesWriter *w, int range) {
    Hip hip;
    Fn f = function_new(w, &hip);
    const Range *r = &w->k->range.p[range];
    fn_line(&f, "%s some = *all;", hip_role_name(w, "all"));
    fn_line(&f, "some.%s = tile_ragged_tiles_%s(%s, %s, %s, %" PRId64 ", all->%s);", w->tiles[range],
            elem_text(w->k->param.p[r->starts - 1].elem), f.param[r->starts - 1],
            size_text(&f, range_groups(w->k, range))->text, size_text(&f, r->of)->text, r->size, w->tiles[range]);
    fn_line(&f, "some.tasks = some.%s%s;", w->tiles[range], tasks_beside(w, range));
    fn_line(&f, "return some;");
    function_print(
        w, &f,
        arena_format(w->arena,
                     "/* By a warp: only tiles with positions count. */\nTILE_FN %s %s(const %s call, const %s *all)",
                     hip_role_name(w, "all"), hip_role_name(w, "some"), w->launch->call, hip_role_name(w, "all")));
}

/* Among all tasks, of one of these. */
static void write_among(RolesWriter *w, int range) {
    Hip hip;
    Fn f = function_new(w, &hip);
    const Range *r = &w->k->range.p[range];
    const bool pair = w->roles->cluster > 1 && range == w->roles->cluster_range;
    if (pair) fn_unsupported(&f, w->k->loc, "a cluster along a ragged range");
    fn_line(&f, "%s task = %s(some, ticket);", hip_role_name(w, "task"), hip_role_name(w, "place"));
    fn_line(&f, "task.%s = tile_ragged_number_%s(%s, %s, %s, %" PRId64 ", task.%s, walk);", w->task[range],
            elem_text(w->k->param.p[r->starts - 1].elem), f.param[r->starts - 1],
            size_text(&f, range_groups(w->k, range))->text, size_text(&f, r->of)->text, r->size, w->task[range]);
    fn_line(&f, "return %s(all, task);", hip_role_name(w, "number"));
    function_print(w, &f,
                   arena_format(w->arena,
                                "TILE_FN int %s(const %s call, const %s *all, const %s *some, int ticket, "
                                "tile_ragged_walk *walk)",
                                hip_role_name(w, "among"), w->launch->call, hip_role_name(w, "all"),
                                hip_role_name(w, "all")));
}

static void write_take(RolesWriter *w) {
    Text *to = &w->g->text;
    const char *ring = w->facts.take.member, *all = hip_role_name(w, "all");
    text_printf(to, "TILE_FN void %s(const %s call, const %s *all, uint64_t *counter) {\n",
                hip_role_name(w, "take_some"), w->launch->call, all);
    text_printf(to, "    const %s some = %s(call, all);\n", all, hip_role_name(w, "some"));
    text_add(to, "    tile_ring_end end = tile_ring_writer();\n    tile_ragged_walk walk = {};\n    int number;\n");
    text_printf(to, "    do {\n        tile_ticket_open(&all->%s, &end);\n", ring);
    text_add(to, "        number = tile_ticket_number_all(counter, some.tasks, all->clusters);\n");
    text_printf(to, "        if (number >= 0) number = %s(call, all, &some, number, &walk);\n",
                hip_role_name(w, "among"));
    text_printf(to, "        tile_ticket_pass_all(&all->%s, &end, number, %d);\n", ring, w->roles->cluster);
    text_printf(to, "    } while (number >= 0);\n    tile_ring_drain(&all->%s, &end);\n}\n\n", ring);
}

void hip_role_ragged(RolesWriter *w) {
    const int range = ragged_range(w->k);
    if (range < 0) return;
    write_refused(w, range);
    if (w->facts.take.full < 0) return;
    hip_role_number(w);
    write_some(w, range);
    write_among(w, range);
    write_take(w);
}

/* Behind the rings lie the bytes by which threads agree. Who refuses takes its numbers, for the counter's next launch. */
void hip_role_refusal(RolesWriter *w, const char *counter) {
    if (ragged_range(w->k) < 0) return;
    text_printf(&w->g->text, "    if (%s(call, lds + %" PRId64 ", all.cluster)) {\n", hip_role_name(w, "refused"),
                w->facts.bytes + ROLE_SLACK);
    if (counter)
        text_printf(&w->g->text,
                    "        if (tile_thread() < TILE_LANES%s) tile_ticket_leave(%s, %s(call, &all).tasks, "
                    "all.clusters);\n",
                    w->roles->cluster > 1 ? " && all.rank == 0" : "", counter, hip_role_name(w, "some"));
    text_printf(&w->g->text, "        %s\n    }\n", hip_leave(w->arena, w->p, w->launch));
}
