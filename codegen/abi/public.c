/* public.c: a program's public text: its description for the runtime, the functions that its users call, and their
   header. */
#include "codegen/abi/abi.h"
#include "codegen/text/print.h"
#include "runtime/include/tile.h" /* TILE_ABI */

#include <inttypes.h>

static const char *role_text(const Tensor *t) {
    return t->role == ROLE_OUTPUT ? "TILE_ROLE_OUTPUT" : t->role == ROLE_STATE ? "TILE_ROLE_STATE" : "TILE_ROLE_INPUT";
}

static void list(Text *to, const char *field, const Program *p, const Tensor *t, int which) {
    text_printf(to, ", .%s = {", field);
    for (int d = 0; d < t->ndim; d++) {
        int64_t v = which == 0 ? t->dim[d].c : which == 1 ? program_dim_of(p, t->dim[d].sym) : t->dim[d].axis;
        text_printf(to, "%s%" PRId64, d ? ", " : "", v);
    }
    text_add(to, "}");
}

static void write_args(Text *to, Arena *a, const Program *p) {
    if (p->io.n == 0) return;
    text_printf(to, "static const tile_arg %s_arg[] = {\n", p->name);
    for (int i = 0; i < p->io.n; i++) {
        const Tensor *t = &p->tensor.p[p->io.p[i]];
        text_printf(to, "    {.name = \"%s\", .elem = \"%s\", .role = %s, .ndim = %d", c_string(a, t->name),
                    elem_text(t->elem), role_text(t), t->ndim);
        if (t->ndim) {
            list(to, "dim", p, t, 0);
            list(to, "sym", p, t, 1);
            list(to, "split", p, t, 2);
        }
        if (t->checked)
            text_printf(to, ", .checked = true, .least = {%" PRId64 ", %d}, .past = {%" PRId64 ", %d}", t->least.c,
                        program_dim_of(p, t->least.sym), t->past.c, program_dim_of(p, t->past.sym));
        text_add(to, "},\n");
    }
    text_add(to, "};\n\n");
}

static void write_dims(Text *to, Arena *a, const Module *m, const Program *p) {
    if (p->dim.n == 0) return;
    text_printf(to, "static const tile_dim %s_dim[] = {\n", p->name);
    for (int i = 0; i < p->dim.n; i++) {
        const Symbol *s = &m->symbol.p[p->dim.p[i]];
        text_printf(to, "    {.name = \"%s\", .bound = %" PRId64 "},\n", c_string(a, s->name), s->bound);
    }
    text_add(to, "};\n\n");
}

static const char *node_name(const Program *p, int node) {
    if (node < 0 || node >= p->node.n || p->node.p[node]->kind != NODE_CALL) return "";
    return p->node.p[node]->kernel->name;
}

static void flag_source(Text *to, Arena *a, const char *name, const char *producer, const char *consumer) {
    text_printf(to, "    {.name = \"%s\", .producer = \"%s\", .consumer = \"%s\"},\n", c_string(a, name),
                c_string(a, producer), c_string(a, consumer));
}

/* The node that stores packets of the tensor, or the first that loads them. */
static const char *packets_node(const Program *p, int tensor, bool writes) {
    for (int n = 0; n < p->node.n; n++)
        for (int i = 0; i < p->node.p[n]->arg.n; i++)
            if (p->node.p[n]->arg.p[i].tensor == tensor && p->node.p[n]->kernel->param.p[i].out == writes)
                return node_name(p, n);
    return "";
}

int packets_flag(const Program *p, int tensor) {
    int n = p->flag.n;
    for (int i = 0; i < tensor; i++) n += p->tensor.p[i].packet;
    return n;
}

void flags_source(Text *to, Arena *a, const Program *p, const char *name, int n) {
    if (n == 0) return;
    text_printf(to, "static const tile_flag_info %s[] = {\n", name);
    for (int i = 0; i < p->flag.n; i++) {
        const Flag *f = &p->flag.p[i];
        flag_source(to, a, f->name ? f->name : "", node_name(p, f->producer), node_name(p, f->consumer));
    }
    for (int i = 0; i < p->tensor.n && n > p->flag.n; i++)
        if (p->tensor.p[i].packet)
            flag_source(to, a, p->tensor.p[i].name, packets_node(p, i, true), packets_node(p, i, false));
    text_add(to, "};\n\n");
}

static void write_host(Text *to, const char *name, const Memory *l, int workers) {
    text_printf(to,
                "    .local_bytes = %" PRId64 ", .symmetric_bytes = %" PRId64 ", .words = %" PRId64
                ", .counts = %" PRId64 ",\n",
                l->local, l->symmetric, l->words, l->counts);
    text_printf(to, "    .scratch_bytes = %" PRId64 ",\n", l->scratch);
    if (workers) text_printf(to, "    .workers = %d,\n", workers);
    text_printf(to, "    .tasks = %s_tasks, .task = %s_task, .task_name = %s_task_name,\n", name, name, name);
}

static void write_gpus(Text *to, const char *name, int n, bool task) {
    text_printf(to, "    .nimages = %d, .image = %s_image,\n", n, name);
    text_printf(to, "    .call_bytes = sizeof(%s_call), .local_at = offsetof(%s_call, local),\n", name, name);
    if (task) text_printf(to, "    .task_at = offsetof(%s_call, task),\n", name);
    text_printf(to, "    .arg_at = %s_arg_at, .dim_at = %s_dim_at,\n", name, name);
}

static void write_prints(Text *to, Arena *a, const Program *p) {
    const Sites site = print_sites(a, p);
    if (!site.n) return;
    text_printf(to, "static const char *const %s_print[] = {\n", p->name);
    for (int i = 0; i < site.n; i++) text_printf(to, "    \"%s\",\n", c_string(a, site.p[i]->by));
    text_add(to, "};\n\n");
}

static void write_program(Text *to, const Module *m, const Program *p, const Memory *l, const Targets *t,
                          uint64_t hash) {
    const char *name = p->name;
    const int nprints = print_count(p);
    text_printf(
        to, "const tile_program %s_program = {\n    .abi = %d, .name = \"%s\", .hash = UINT64_C(0x%016" PRIx64 "),\n",
        name, TILE_ABI, name, hash);
    text_printf(to, "    .naxes = %d, .axis = {", m->axis.n);
    for (int i = 0; i < 3; i++) text_printf(to, "%s%" PRId64, i ? ", " : "", i < m->axis.n ? m->axis.p[i].ranks : 1);
    text_add(to, "},\n");
    if (p->io.n) text_printf(to, "    .nargs = %d, .arg = %s_arg,\n", p->io.n, name);
    if (p->dim.n) text_printf(to, "    .ndims = %d, .dim = %s_dim,\n", p->dim.n, name);
    if (t->host && p->flag.n) text_printf(to, "    .nflags = %d, .flag = %s_flag,\n", p->flag.n, name);
    if (t->host) write_host(to, name, l, t->workers);
    if (t->ngpu) write_gpus(to, name, t->ngpu, gpu_has_task(m, p));
    if (nprints) text_printf(to, "    .nprints = %d, .print = %s_print,\n", nprints, name);
    text_add(to, "};\n\n");
}

/* Members of the struct of arguments: tensors and scalars, then run-time sizes. */
const char **public_members(Arena *a, const Module *m, const Program *p) {
    CNames names = {.arena = a};
    const char **member = ARENA_ARRAY(a, const char *, p->io.n + p->dim.n + 1);
    for (int i = 0; i < p->io.n; i++) member[i] = c_name(&names, p->tensor.p[p->io.p[i]].name);
    for (int i = 0; i < p->dim.n; i++) member[p->io.n + i] = c_name(&names, m->symbol.p[p->dim.p[i]].name);
    return member;
}

static void write_run(Text *to, Arena *a, const Module *m, const Program *p) {
    const char **member = public_members(a, m, p);
    text_printf(to, "int %s_run(%s *instance, const %s_args *args, tile_stream stream) {\n", p->name, p->name, p->name);
    text_add(to, "    void *const arg[] = {");
    for (int i = 0; i < p->io.n; i++)
        text_printf(to, "(void *)%sargs->%s, ", p->tensor.p[p->io.p[i]].ndim ? "" : "&", member[i]);
    text_add(to, "NULL};\n    const int64_t dim[] = {");
    for (int i = 0; i < p->dim.n; i++) text_printf(to, "args->%s, ", member[p->io.n + i]);
    text_add(to, "0};\n    return tile_instance_run((tile_instance *)instance, arg, dim, stream);\n}\n\n");
}

/* What an instance takes where it takes the most. */
static int64_t most_local(const Memory *l, const Targets *t) {
    int64_t most = t->host ? l->local : 0;
    for (int i = 0; i < t->ngpu; i++) most = t->gpu[i].local > most ? t->gpu[i].local : most;
    return most;
}

static int64_t most_symmetric(const Memory *l, const Targets *t) {
    int64_t most = t->host ? l->symmetric : 0;
    for (int i = 0; i < t->ngpu; i++) most = t->gpu[i].symmetric > most ? t->gpu[i].symmetric : most;
    return most;
}

uint64_t public_source(Text *to, Arena *a, const Module *m, const Program *p, const Memory *l, const Targets *t) {
    const char *n = p->name;
    write_args(to, a, p);
    write_dims(to, a, m, p);
    write_prints(to, a, p);
    if (t->host) flags_source(to, a, p, arena_format(a, "%s_flag", p->name), p->flag.n);
    uint64_t hash = text_hash(to->p, to->n);
    for (int i = 0; i < t->ngpu; i++) hash ^= text_hash(t->gpu[i].text.p, t->gpu[i].text.n);
    write_program(to, m, p, l, t, hash);
    text_printf(
        to, "int %s_workspace(const %s_config *config, size_t *local, size_t *symmetric) {\n    (void)config;\n", n, n);
    text_printf(to,
                "    *local = %" PRId64 ";\n    *symmetric = %" PRId64 ";\n    return TILE_OK;\n}\n\n",
                most_local(l, t), most_symmetric(l, t));
    text_printf(to, "int %s_open(tile_mesh *mesh, const %s_config *config, %s **instance) {\n    (void)config;\n", n, n,
                n);
    text_printf(to, "    return tile_instance_open(mesh, &%s_program, (tile_instance **)instance);\n}\n\n", n);
    write_run(to, a, m, p);
    text_printf(to, "void %s_close(%s *instance) { tile_instance_close((tile_instance *)instance); }\n", n, n);
    return hash;
}

/* ---- the header ---- */

static const char *public_type(Elem e) {
    if (e == ELEM_F32) return "float";
    if (e == ELEM_F64) return "double";
    if (elem_is_packed(e)) return "uint8_t";
    return elem_is_float(e) ? elem_bits(e) == 16 ? "uint16_t" : "uint8_t" : elem_c(e);
}

static void write_extent(Text *to, Arena *a, const Module *m, Size s) {
    const char *symbol = s.sym < 0 ? "" : c_identifier(a, m->symbol.p[s.sym].name);
    if (s.sym < 0)
        text_printf(to, "%" PRId64, s.c);
    else if (s.c)
        text_printf(to, "%s %c %" PRId64, symbol, s.c < 0 ? '-' : '+', s.c < 0 ? -s.c : s.c);
    else
        text_add(to, symbol);
    for (int axes = s.axis; axes >= 0; axes = axes_rest(axes))
        text_printf(to, "%s%s", axes == s.axis ? " @ " : ", ", c_identifier(a, m->axis.p[axes_first(axes)].name));
}

static void write_member(Text *to, Arena *a, const Module *m, const Tensor *t, const char *name) {
    const char *type = public_type(t->elem);
    if (t->ndim == 0 && t->role == ROLE_INPUT)
        text_printf(to, "    %s %s; /* %s */\n", type, name, elem_text(t->elem));
    else {
        text_printf(to, "    %s%s *%s; /* %s[", t->role == ROLE_INPUT ? "const " : "", type, name, elem_text(t->elem));
        for (int d = 0; d < t->ndim; d++) {
            if (d) text_add(to, ", ");
            write_extent(to, a, m, t->dim[d]);
        }
        text_printf(to, "], %s */\n", t->role == ROLE_OUTPUT ? "output" : t->role == ROLE_STATE ? "state" : "input");
    }
}

/* Extents that are numbers, for arrays and checks: enum { gemm_args_A_0 = 512 }. */
static void write_extents(Text *to, const Program *p, const char **member) {
    int n = 0;
    for (int i = 0; i < p->io.n; i++) {
        const Tensor *t = &p->tensor.p[p->io.p[i]];
        for (int d = 0; d < t->ndim; d++) {
            if (!size_is_number(size_whole(t->dim[d])) || t->dim[d].c > INT32_MAX) continue;
            const char *begin = n++ ? "    " : "/* Extents of all ranks together, where they are numbers. */\nenum {\n    ";
            text_printf(to, "%s%s_args_%s_%d = %" PRId64 ",\n", begin, p->name, member[i], d, t->dim[d].c);
        }
    }
    if (n) text_add(to, "};\n\n");
}

static void write_functions(Text *to, const char *n) {
    text_add(to, "/* Bytes of private and of peer-visible memory that an instance takes. */\n");
    text_printf(to, "int %s_workspace(const %s_config *, size_t *local, size_t *symmetric);\n", n, n);
    text_add(
        to,
        "/* Collective over the ranks of the mesh; config may be NULL. The instance is the caller's to close. */\n");
    text_printf(to, "int %s_open(tile_mesh *, const %s_config *, %s **);\n", n, n, n);
    text_add(to, "/* Only enqueues; tensors stay the caller's and must live until the stream is synchronised. */\n");
    text_printf(to, "int %s_run(%s *, const %s_args *, tile_stream);\nvoid %s_close(%s *);\n", n, n, n, n, n);
}

void public_arguments(Text *to, Arena *a, const Module *m, const Program *p) {
    const char **member = public_members(a, m, p);
    text_add(to, "typedef struct {\n");
    for (int i = 0; i < p->io.n; i++) write_member(to, a, m, &p->tensor.p[p->io.p[i]], member[i]);
    for (int i = 0; i < p->dim.n; i++)
        text_printf(to, "    int64_t %s; /* at most %" PRId64 " */\n", member[p->io.n + i],
                    m->symbol.p[p->dim.p[i]].bound);
    if (p->io.n + p->dim.n == 0) text_add(to, "    char unused;\n");
    text_printf(to, "} %s_args;\n\n", p->name);
    write_extents(to, p, member);
}

void public_header(Text *to, Arena *a, const Module *m, const Program *p) {
    const char *n = p->name;
    text_printf(to, "/* %s.h: the program %s, made by tilec. Errors: negative TILE_E_ codes, see tile.h. */\n", n, n);
    text_printf(to, "#ifndef TILE_PROGRAM_%s_H\n#define TILE_PROGRAM_%s_H\n\n#include \"tile_program.h\"\n\n", n, n);
    text_add(to, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    text_printf(to,
                "typedef struct %s %s;\n\ntypedef struct {\n    size_t size; /* sizeof(%s_config) */\n} %s_config;\n\n",
                n, n, n, n);
    text_add(to, "/* Tensors are dense and row-major; of a dimension `n @ axis` they hold this rank's block of ceil(n "
                 "/ ranks). */\n");
    public_arguments(to, a, m, p);
    write_functions(to, n);
    text_printf(to, "extern const tile_program %s_program;\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n", n);
}
