/* hip_schedule.c: a kernel by the machine's text for its schedule: codegen/schedules/NAME_FAMILY.hip with the holes
   filled. A hole is $word; a line that begins with ?word stands only in kernels of that kind; `?word $include NAME` is
   the text of another file there. */
#include "codegen/abi/abi.h"
#include "codegen/schedules/hip_schedule.h"

#include <inttypes.h>
#include <string.h>

static const ScheduleFile *schedule_find(Arena *a, const char *name, const MatrixTarget *target) {
    const char *path = arena_format(a, "schedules/%s_%s.hip", name, target->family);
    for (int i = 0; i < schedule_count; i++)
        if (strcmp(schedule_files[i].path, path) == 0) return &schedule_files[i];
    return NULL;
}

/* The hole whose name the text begins with, the longest of them. */
static const Hole *hole_at(const Schedule *s, const char *text) {
    const Hole *found = NULL;
    for (int i = 0; i < s->hole.n; i++) {
        const Hole *h = &s->hole.p[i];
        size_t n = strlen(h->name);
        if (strncmp(text, h->name, n) == 0 && (!found || n > strlen(found->name))) found = h;
    }
    return found;
}

static void fill_line(Text *to, const Schedule *s, const char *line, const char *end) {
    for (const char *at = line, *mark; at < end;) {
        mark = memchr(at, '$', (size_t)(end - at));
        text_add_n(to, at, (size_t)((mark ? mark : end) - at));
        if (!mark) return;
        const Hole *hole = hole_at(s, mark + 1);
        text_add(to, hole ? hole->text : "$");
        at = mark + 1 + (hole ? strlen(hole->name) : 0);
    }
}

static bool kind_is(const Schedule *s, const char *word, size_t n) {
    for (int i = 0; i < s->kind.n; i++)
        if (strncmp(s->kind.p[i], word, n) == 0 && !s->kind.p[i][n]) return true;
    return false;
}

#define INCLUDE "$include "

static void fill(Text *to, const Schedule *s, const char *text);

static void include(Text *to, const Schedule *s, const char *name, const char *end) {
    const char *part = arena_format(s->f.arena, "%.*s", (int)(end - name), name);
    const ScheduleFile *file = schedule_find(s->f.arena, part, s->f.hip->target);
    if (file) fill(to, s, file->text);
}

static void fill(Text *to, const Schedule *s, const char *text) {
    for (const char *line = text, *end; *line; line = end) {
        end = strchr(line, '\n');
        end = end ? end + 1 : line + strlen(line);
        if (*line != '?') {
            fill_line(to, s, line, end);
            continue;
        }
        const char *rest = line + strcspn(line, " \n");
        if (!kind_is(s, line + 1, (size_t)(rest - line - 1))) continue;
        rest += *rest == ' ';
        if (strncmp(rest, INCLUDE, strlen(INCLUDE)) == 0)
            include(to, s, rest + strlen(INCLUDE), end - 1);
        else
            fill_line(to, s, rest, end);
    }
}

/* ---- what all schedules have in common ---- */

void schedule_hole(Schedule *s, const char *name, const char *text) {
    vec_push(s->f.arena, &s->hole, ((Hole){name, text}));
}

void schedule_kind(Schedule *s, const char *kind) { vec_push(s->f.arena, &s->kind, kind); }

void schedule_number(Schedule *s, const char *name, int64_t n) { schedule_hole(s, name, cexpr_number(&s->f, n)->text); }

void schedule_softmax(Schedule *s, const Attention *a) {
    schedule_hole(s, "type", elem_text(s->f.k->param.p[a->q].elem));
    schedule_hole(s, "scale", fn_text(&s->f, "%.9gf", a->scale * 1.4426950408889634));
}

/* Boxes of so many rows, in panels of 128 bytes. */
GpuMap schedule_map(Schedule *s, int param, int box) {
    enum { PANEL = 128 };
    GpuMap m = hip_map(&s->f, param, 2, 0);
    m.swizzle = PANEL;
    m.box[m.ndim - 1] = PANEL * 8 / elem_bits(m.elem);
    m.box[m.ndim - 2] = box;
    return m;
}

void schedule_maps(Schedule *s, const GpuMap *map, const int *param, int n) {
    Text *to = s->text;
    text_printf(to, "typedef struct {\n    tile_tensor_map map[%d]; /* ", n);
    for (int i = 0; i < n; i++) {
        text_printf(to, "%s%s", i ? ", " : "", s->f.k->param.p[param[i]].name);
        s->launch->map[i] = map[i];
    }
    text_printf(to, " */\n} %s_maps;\n\n", s->launch->function);
    s->launch->nmap = n;
}

/* ---- the order of tasks ---- */

OrderTiles schedule_tiles(Schedule *s) {
    Fn *f = &s->f;
    OrderTiles t = {.n = f->k->ngrid};
    for (int r = 0; r < t.n; r++) {
        t.tiles[r] = range_tasks(f, f->k, r);
        if (f->k->range.p[r].kind != RANGE_WHOLE)
            t.name[r] = c_name(&f->names, fn_text(f, "%s_tile", f->k->range.p[r].name));
    }
    return t;
}

static Order row_major(const OrderTiles *t) {
    int16_t range[MAX_RANGES];
    int n = 0;
    for (int r = 0; r < t->n; r++)
        if (t->name[r]) range[n++] = (int16_t)r;
    return order_of_ranges(range, n);
}

void schedule_order(Schedule *s, const OrderTiles *t) {
    Fn *f = &s->f;
    const Order plain = row_major(t), *o = f->k->plan.order ? f->k->plan.order : &plain;
    const CExpr *tasks = cexpr_number(f, 1);
    Text lines = {0};
    for (int r = 0; r < t->n; r++) tasks = cexpr_mul(f, tasks, cexpr_operand(f, t->tiles[r]));
    fn_constant(f, "group", order_deal_text(f, o, "tile_group()", tasks));
    order_write(f, o, t, "group");
    for (int r = 0; r < t->n; r++)
        if (t->name[r]) text_printf(&f->body, "%s\n", t->name[r]);
    fn_head_print(f, &lines);
    schedule_hole(s, "order", fn_text(f, "%s", text_str(&lines)));
    text_free(&f->body);
    text_free(&lines);
}

bool schedule_follows(const Schedule *s) { return s->launch->dependent && !gpu_looks_at_values(s->f.p); }

/* Before what is a schedule's own. */
void schedule_begin(Schedule *s, const MatrixSchedule *facts) {
    s->facts = facts;
    schedule_hole(s, "kernel", s->launch->function);
    schedule_number(s, "threads", facts->threads);
    schedule_number(s, "cluster", facts->cluster);
    schedule_number(s, "lds", facts->lds_bytes);
    schedule_hole(s, "refuse", hip_refusals(&s->f, s->launch));
    schedule_hole(s, "call", s->f.hip->call);
    if (schedule_follows(s)) schedule_kind(s, "dependent");
    s->launch->threads = facts->threads;
    s->launch->lds = facts->lds_bytes;
    s->launch->cluster = facts->cluster;
}

static const struct {
    const char *name;
    bool (*prepare)(Schedule *);
} schedules[] = {{"product", product_prepare},
                 {"skinny", skinny_prepare},
                 {"narrow", narrow_prepare},
                 {"attention", attention_prepare},
                 {"decode", decode_prepare}};

/* Names of the schedules' own functions. */
static void names_take(Fn *f) {
    static const char *const taken[] = {"call", "lds", "x", "i", "j"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) c_name(&f->names, taken[i]);
    name_params(f);
}

static bool prepare(Schedule *s) {
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++)
        if (strcmp(schedules[i].name, s->f.k->plan.schedule) == 0) return schedules[i].prepare(s);
    return false;
}

bool hip_schedule(GpuText *g, Arena *a, const Program *p, const Memory *memory, const Node *n, GpuLaunch *launch) {
    const Kernel *k = n->kernel;
    const ScheduleFile *file = schedule_find(a, k->plan.schedule, matrix_target(g->target));
    Hip hip = {.target = matrix_target(g->target), .member = public_members(a, g->m, p), .call = launch->call};
    Schedule s = {.f = fn_new(&hip_backend, a, g->m, p, memory), .text = &g->text, .launch = launch};
    s.f.hip = &hip;
    s.f.k = k;
    s.f.node = n;
    s.f.fields = launch->fields;
    names_take(&s.f);
    if (!file || region_synchronises(k->body) || !prepare(&s)) {
        fn_unsupported(&s.f, k->loc, fn_text(&s.f, "the schedule '%s' on %s", k->plan.schedule, g->target));
        return false;
    }
    fill(s.text, &s, file->text);
    return !s.f.failed;
}
