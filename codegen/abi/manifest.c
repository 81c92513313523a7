/* manifest.c: the manifest: a program's arguments, sizes, mesh and workspace, as JSON for other programs. */
#include "codegen/abi/abi.h"
#include "runtime/include/tile.h" /* TILE_ABI */

#include <inttypes.h>

enum { GPU_ALIGNMENT = 16 }; /* bytes, of a tensor */

static void quote(Text *to, const char *s) {
    text_add(to, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            text_printf(to, "\\%c", *s);
        else if ((unsigned char)*s < 32)
            text_printf(to, "\\u%04x", *s);
        else
            text_add_n(to, s, 1);
    }
    text_add(to, "\"");
}

static void member(Text *to, const char *name, const char *value) {
    text_printf(to, "\"%s\": ", name);
    quote(to, value);
}

static void write_size(Text *to, const Module *m, Size s) {
    text_printf(to, "{\"constant\": %" PRId64, s.c);
    if (s.sym >= 0) {
        text_add(to, ", ");
        member(to, "dim", m->symbol.p[s.sym].name);
    }
    for (int a = s.axis; a >= 0; a = axes_rest(a)) {
        text_add(to, a == s.axis ? ", \"split\": [" : ", ");
        quote(to, m->axis.p[axes_first(a)].name);
    }
    if (s.axis >= 0) text_add(to, "]");
    text_add(to, "}");
}

static int alignment(const Tensor *t, bool gpu) {
    if (gpu && t->ndim) return GPU_ALIGNMENT;
    return elem_is_packed(t->elem) ? 1 : elem_bits(t->elem) / 8;
}

static void write_arg(Text *to, const Module *m, const Tensor *t, bool gpu) {
    static const char *const role[] = {"input", "state", "output", "temporary"};
    text_add(to, "    {");
    member(to, "name", t->name);
    text_add(to, ", ");
    member(to, "elem", elem_text(t->elem));
    text_add(to, ", ");
    member(to, "role", role[t->role]);
    text_printf(to, ", \"alignment\": %d, \"shape\": [", alignment(t, gpu));
    for (int d = 0; d < t->ndim; d++) {
        if (d) text_add(to, ", ");
        write_size(to, m, t->dim[d]);
    }
    text_add(to, "]");
    if (t->checked) {
        text_add(to, ", \"least\": ");
        write_size(to, m, t->least);
        text_add(to, ", \"past\": ");
        write_size(to, m, t->past);
    }
    text_add(to, "}");
}

static void write_list(Text *to, const char *name, int n) { text_printf(to, "  \"%s\": [%s", name, n ? "\n" : ""); }

static void end_item(Text *to, int i, int n) { text_add(to, i + 1 < n ? ",\n" : "\n  "); }

static void write_number(Text *to, const char *key, const char *name, const char *what, int64_t n) {
    text_add(to, "    {");
    member(to, key, name);
    text_printf(to, ", \"%s\": %" PRId64 "}", what, n);
}

static void write_flag(Text *to, const Module *m, const Flag *f) {
    text_add(to, "    {");
    member(to, "name", f->name ? f->name : "");
    text_printf(to, ", \"producer\": %d, \"consumer\": %d", f->producer, f->consumer);
    if (f->axis >= 0) {
        text_add(to, ", ");
        member(to, "axis", m->axis.p[f->axis].name);
    }
    text_add(to, "}");
}

/* "target" is the first, for readers that know of one only. */
static void write_targets(Text *to, const Targets *t) {
    member(to, "target", t->host ? "host" : t->gpu[0].target);
    text_add(to, ",\n  \"targets\": [");
    if (t->host) quote(to, "host");
    for (int i = 0; i < t->ngpu; i++) {
        if (t->host || i) text_add(to, ", ");
        quote(to, t->gpu[i].target);
    }
    text_add(to, "]");
}

void manifest_write(Text *to, Arena *a, const Module *m, const Program *p, const Memory *l, const Targets *t,
                    uint64_t hash) {
    text_printf(to, "{\n  \"version\": 1,\n  \"abi\": %d,\n  ", TILE_ABI);
    member(to, "program", p->name);
    text_add(to, ",\n  ");
    write_targets(to, t);
    text_add(to, ",\n  ");
    member(to, "hash", arena_format(a, "%016" PRIx64, hash));
    text_add(to, ",\n");
    write_list(to, "mesh", m->axis.n);
    for (int i = 0; i < m->axis.n; i++)
        write_number(to, "axis", m->axis.p[i].name, "ranks", m->axis.p[i].ranks), end_item(to, i, m->axis.n);
    text_add(to, "],\n");
    write_list(to, "dims", p->dim.n);
    for (int i = 0; i < p->dim.n; i++) {
        const Symbol *s = &m->symbol.p[p->dim.p[i]];
        write_number(to, "name", s->name, "bound", s->bound), end_item(to, i, p->dim.n);
    }
    text_add(to, "],\n");
    write_list(to, "args", p->io.n);
    for (int i = 0; i < p->io.n; i++) {
        write_arg(to, m, &p->tensor.p[p->io.p[i]], t->ngpu > 0);
        end_item(to, i, p->io.n);
    }
    text_add(to, "],\n");
    write_list(to, "flags", p->flag.n);
    for (int i = 0; i < p->flag.n; i++) {
        write_flag(to, m, &p->flag.p[i]);
        end_item(to, i, p->flag.n);
    }
    text_printf(
        to, "],\n  \"workspace\": {\"local\": %" PRId64 ", \"symmetric\": %" PRId64 ", \"words\": %" PRId64 "}\n}\n",
        l->local, l->symmetric, l->words);
}
