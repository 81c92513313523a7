/* hip_schedule.c: a kernel by the machine's text for its schedule: codegen/schedules/NAME_TARGET.hip with the holes
   filled. A hole is $word; a line that begins with ?word stands only in kernels of that kind. */
#include "codegen/hip.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    const char *name, *text;
} Hole;

typedef struct {
    const Hole *hole;
    int n;
    const char *kind; /* lines of other kinds are left out */
} Holes;

static const ScheduleFile *schedule_find(Arena *a, const char *name, const char *target) {
    const char *path = arena_format(a, "schedules/%s_%s.hip", name, target);
    for (int i = 0; i < schedule_count; i++)
        if (strcmp(schedule_files[i].path, path) == 0) return &schedule_files[i];
    return NULL;
}

/* The hole whose name the text begins with, the longest of them. */
static const Hole *hole_at(const Holes *h, const char *text) {
    const Hole *found = NULL;
    for (int i = 0; i < h->n; i++) {
        size_t n = strlen(h->hole[i].name);
        if (strncmp(text, h->hole[i].name, n) == 0 && (!found || n > strlen(found->name))) found = &h->hole[i];
    }
    return found;
}

static void fill_line(Text *to, const Holes *h, const char *line, const char *end) {
    for (const char *at = line, *mark; at < end;) {
        mark = memchr(at, '$', (size_t)(end - at));
        text_add_n(to, at, (size_t)((mark ? mark : end) - at));
        if (!mark) return;
        const Hole *hole = hole_at(h, mark + 1);
        text_add(to, hole ? hole->text : "$");
        at = mark + 1 + (hole ? strlen(hole->name) : 0);
    }
}

static void fill(Text *to, const Holes *h, const char *text) {
    for (const char *line = text, *end; *line; line = end) {
        end = strchr(line, '\n');
        end = end ? end + 1 : line + strlen(line);
        if (*line != '?') {
            fill_line(to, h, line, end);
            continue;
        }
        size_t kind = strlen(h->kind);
        if (strncmp(line + 1, h->kind, kind) == 0 && line[1 + kind] == ' ') fill_line(to, h, line + 1 + kind, end);
    }
}

/* ---- the product ---- */

static GpuMap map_of(Fn *f, int param, int box) {
    const Arg *arg = &f->node->arg.p[param];
    const Tensor *t = &f->p->tensor.p[arg->tensor];
    const Param *p = &f->k->param.p[param];
    GpuMap m = {.arg = f->memory->arg[t->id], .first = text_bare(f, part_text(f, t, arg)), .box = box};
    m.columns = p->dim[1].c;
    m.rows = p->dim[0].c;
    if (m.arg < 0) {
        const char *bytes = text_mul(f, text_atom(f, m.first), fn_text(f, "%d", elem_bits(t->elem) / 8));
        m.first = text_add_terms(f, fn_text(f, "%" PRId64, f->memory->offset[t->id]), bytes);
    }
    return m;
}

/* b[j, p], its rows along what is summed over, or b[p, j]. */
static bool product_has_rows(const Kernel *k) {
    const Op *loop = k->body->first;
    while (loop->kind != OP_FOR) loop = loop->next;
    const Op *load = loop->region[0]->first;
    while (load->kind != OP_LOAD || load->param != 1) load = load->next;
    return load->sub.p[1].lo.term[0].id == loop->range;
}

bool hip_schedule(GpuText *g, Arena *a, const Program *p, const Memory *memory, const Node *n, GpuLaunch *launch) {
    const Kernel *k = n->kernel;
    const ScheduleFile *file = schedule_find(a, k->schedule, g->target);
    const MatrixSchedule *facts = matrix_schedule(matrix_target(g->target), k->schedule);
    Fn f = fn_new(a, g->m, p, memory);
    f.k = k;
    f.node = n;
    if (!file || !facts) {
        fn_unsupported(&f, k->loc, fn_text(&f, "the schedule '%s' on %s", k->schedule, g->target));
        return false;
    }
    bool rows = product_has_rows(k);
    const char *number[3] = {size_text(&f, k->param.p[2].dim[0]), size_text(&f, k->param.p[2].dim[1]),
                             size_text(&f, k->param.p[0].dim[1])};
    Hole hole[] = {{"kernel", launch->function},
                   {"threads", fn_text(&f, "%d", facts->threads)},
                   {"cluster", fn_text(&f, "%d", facts->cluster)},
                   {"call", arena_format(a, "%s_call", p->name)},
                   {"M", number[0]},
                   {"N", number[1]},
                   {"K", number[2]},
                   {"type", elem_text(k->param.p[0].elem)},
                   {"across", rows ? "0" : "1"}};
    text_printf(&g->text, "/* kernel %s, by the schedule '%s' */\n", c_string(a, k->name), k->schedule);
    text_printf(&g->text, "typedef struct {\n    tile_tensor_map map[3]; /* %s, %s, %s */\n} %s_maps;\n\n",
                k->param.p[0].name, k->param.p[1].name, k->param.p[2].name, launch->function);
    fill(&g->text, &(Holes){.hole = hole, .n = (int)(sizeof hole / sizeof *hole), .kind = rows ? "rows" : "columns"},
         file->text);
    launch->threads = facts->threads;
    launch->lds = facts->lds_bytes;
    launch->cluster = facts->cluster;
    launch->nmap = 3;
    launch->map[0] = map_of(&f, 0, 128);
    launch->map[1] = map_of(&f, 1, rows ? 128 : 64);
    launch->map[2] = map_of(&f, 2, 64);
    return !f.failed;
}
