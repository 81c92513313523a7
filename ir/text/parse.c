/* parse.c: reads modules in the text form of docs/reference/ir.md, and programs.
   Takes: any bytes. Gives: a verified module, or errors with their places; an item with an error is skipped. */
#include "ir/text/parse.h"
#include "ir/text/print.h"

static int need_tensor(Parser *p) {
    need_punct(p, '%');
    return need_known(p, &p->tensors, "tensor");
}

static void parse_place(Parser *p, Tensor *t, PlaceKind kind, PartOp op) {
    Loc loc = p->tok.loc;
    int axis = need_known(p, &p->axes, "mesh axis");
    if (p->failed) return;
    if (t->place[axis].kind != PLACE_R) parse_fail(p, loc, "the axis has a placement already");
    t->place[axis] = (Place){kind, op};
}

/* 'in' size '..' size */
static void parse_values(Parser *p, Tensor *t) {
    t->checked = true;
    t->least = parse_size(p);
    need_kind(p, TOK_DOTS, "'..'");
    t->past = parse_size(p);
}

static bool parse_attribute(Parser *p, Tensor *t) {
    if (take_word(p, "split"))
        parse_place(p, t, PLACE_S, PART_SUM);
    else if (take_word(p, "sum"))
        parse_place(p, t, PLACE_P, PART_SUM);
    else if (take_word(p, "max"))
        parse_place(p, t, PLACE_P, PART_MAX);
    else if (take_word(p, "varies"))
        parse_place(p, t, PLACE_V, PART_SUM);
    else if (take_word(p, "symmetric"))
        t->symmetric = (int16_t)need_known(p, &p->axes, "mesh axis");
    else if (take_word(p, "packet"))
        t->packet = true;
    else if (take_word(p, "in"))
        parse_values(p, t);
    else
        return false;
    return true;
}

static void parse_slots(Parser *p, Tensor *t) {
    Loc loc = p->tok.loc;
    int64_t n = need_int(p, "a number of slots");
    if (!p->failed && (n < 1 || n > INT16_MAX)) parse_fail(p, loc, "slots are 1 to %d", INT16_MAX);
    t->slots = (int)n;
}

/* tensor := role '%' name ':' elem ['[' sizes ']'] attribute* */
static void parse_tensor(Parser *p, TensorRole role) {
    Tensor t = {.role = role, .symmetric = -1, .slots = 1};
    t.loc = p->tok.loc;
    need_punct(p, '%');
    t.name = need_name(p, "a tensor's name");
    need_punct(p, ':');
    t.elem = parse_elem(p);
    if (take_punct(p, '[')) t.ndim = parse_sizes(p, t.dim);
    for (bool more = true; more && !p->failed;) {
        more = parse_attribute(p, &t);
        if (!more && take_word(p, "slots")) {
            parse_slots(p, &t);
            more = true;
        }
    }
    if (declare(p, &p->tensors, t.name, t.loc, p->g->tensor.n, "tensor")) program_tensor(p->m, p->g, t);
}

static void parse_io(Parser *p) {
    do {
        int t = need_tensor(p);
        if (!p->failed) vec_push(p->m->arena, &p->g->io, t);
    } while (take_punct(p, ','));
}

static int need_number(Parser *p, const char *what, int64_t limit) {
    Loc loc = p->tok.loc;
    int64_t n = need_int(p, what);
    if (!p->failed && (n < 0 || n > limit)) parse_fail(p, loc, "%s is 0 to %lld", what, (long long)limit);
    return p->failed ? 0 : (int)n;
}

/* group := size 'by' INT ['and' size] ('keep' | 'drop' | 'dest' | '/' INT) */
static void parse_group(Parser *p, Flag *f) {
    FlagDim d = {.of = parse_size(p)};
    need_word(p, "by");
    d.size = need_int(p, "a tile size");
    d.ragged = take_word(p, "and");
    if (d.ragged) d.groups = parse_size(p);
    if (take_word(p, "keep"))
        d.group = 1;
    else if (take_word(p, "dest"))
        d.group = GROUP_DEST;
    else if (take_punct(p, '/'))
        d.group = need_int(p, "a divisor");
    else
        need_word(p, "drop");
    if (!p->failed) vec_push(p->m->arena, &f->dim, d);
}

/* flag := '!' INT name ':' INT '->' INT scope ['over' axis] ['(' groups ')'] ['arrivals' INT] */
static void parse_flag(Parser *p) {
    Flag f = {.id = p->g->flag.n, .axis = -1};
    Loc loc = p->tok.loc;
    need_punct(p, '!');
    int id = need_number(p, "a flag's number", INT32_MAX);
    if (!p->failed && id != f.id) parse_fail(p, loc, "flag %d comes next", f.id);
    f.name = need_name(p, "a flag's name");
    need_punct(p, ':');
    f.producer = need_number(p, "a node's number", INT32_MAX);
    need_kind(p, TOK_ARROW, "'->'");
    f.consumer = need_number(p, "a node's number", INT32_MAX);
    f.scope = (SyncScope)need_choice(p, text_scope, TEXT_SCOPES, "a scope");
    if (take_word(p, "over")) f.axis = (int16_t)need_known(p, &p->axes, "mesh axis");
    if (take_punct(p, '(')) {
        do parse_group(p, &f);
        while (take_punct(p, ','));
        need_punct(p, ')');
    }
    if (take_word(p, "arrivals")) f.arrivals = need_int(p, "a number of arrivals");
    if (!p->failed) vec_push(p->m->arena, &p->g->flag, f);
}

/* One dimension of an argument: fixed (only behind others that are), whole, or this rank's block. */
static void parse_arg_dim(Parser *p, Arg *a, int d) {
    if (d == a->lead && p->tok.kind == TOK_INT)
        a->at[a->lead++] = need_int(p, "a place");
    else if (!take_punct(p, '*'))
        a->slice[d] = (int16_t)parse_axes(p);
}

/* arg := ['view'] '%' name ['[' (INT | '*' | axis) (',' ..)* ']'] */
static void parse_arg(Parser *p, Node *n) {
    Arg a = {0};
    for (int i = 0; i < MAX_DIMS; i++) a.slice[i] = -1;
    a.view = take_word(p, "view");
    a.tensor = need_tensor(p);
    if (take_punct(p, '[')) {
        int ndim = p->failed ? 0 : p->g->tensor.p[a.tensor].ndim;
        for (int i = 0; i < ndim && !p->failed; i++) {
            if (i) need_punct(p, ',');
            parse_arg_dim(p, &a, i);
        }
        need_punct(p, ']');
    }
    if (!p->failed) vec_push(p->m->arena, &n->arg, a);
}

static Kernel *parse_kernel_name(Parser *p) {
    need_punct(p, '@');
    int k = need_known(p, &p->kernels, "kernel");
    return p->failed ? NULL : p->m->kernel.p[k];
}

static void parse_args(Parser *p, Node *n) {
    need_punct(p, '(');
    if (take_punct(p, ')')) return;
    do parse_arg(p, n);
    while (take_punct(p, ','));
    need_punct(p, ')');
}

static void parse_call(Parser *p, Node *n) {
    n->kind = NODE_CALL;
    n->kernel = parse_kernel_name(p);
    if (!p->failed) parse_args(p, n);
    while (!p->failed && take_word(p, "or")) vec_push(p->m->arena, &n->otherwise, parse_kernel_name(p));
}

/* collective := word '%' src '->' '%' dst 'along' axis 'dim' INT ['to' INT] ['shift' INT | 'root' INT] */
static void parse_collective(Parser *p, Node *n) {
    n->kind = NODE_COLLECTIVE;
    n->coll = (Coll)need_choice(p, text_coll, COLL_COUNT, "a call or a collective");
    n->src = need_tensor(p);
    need_kind(p, TOK_ARROW, "'->'");
    n->dst = need_tensor(p);
    need_word(p, "along");
    n->axis = need_known(p, &p->axes, "mesh axis");
    need_word(p, "dim");
    n->dim = need_number(p, "a dimension", MAX_DIMS - 1);
    const CollInfo *info = &coll_info[n->coll];
    if (info->gathers && info->splits) {
        need_word(p, "to");
        n->dim2 = need_number(p, "a dimension", MAX_DIMS - 1);
    }
    if (info->argument) {
        need_word(p, coll_argument_text[info->argument]);
        n->shift = need_int(p, "a number of ranks");
    }
}

/* node := INT ':' ('call' '@' name '(' args ')' ('or' '@' name)* | collective) ['when' '%' name] ['form' word] */
static void parse_node(Parser *p) {
    Node n = {.loc = p->tok.loc};
    int id = need_number(p, "a node's number", INT32_MAX);
    if (!p->failed && id != p->g->node.n) parse_fail(p, n.loc, "node %d comes next", p->g->node.n);
    need_punct(p, ':');
    n.loc = p->tok.loc;
    if (take_word(p, "call"))
        parse_call(p, &n);
    else
        parse_collective(p, &n);
    if (take_word(p, "when")) n.when = 1 + need_tensor(p);
    if (take_word(p, "form")) n.form = (CommForm)need_choice(p, text_form, TEXT_FORMS, "a form");
    if (!p->failed) program_node(p->m, p->g, n);
}

static void parse_line(Parser *p) {
    for (int i = 0; i < TEXT_ROLES; i++) {
        if (!take_word(p, text_role[i])) continue;
        parse_tensor(p, (TensorRole)i);
        return;
    }
    if (take_word(p, "io"))
        parse_io(p);
    else if (take_word(p, "flag"))
        parse_flag(p);
    else
        parse_node(p);
}

/* program := 'program' '@' name '{' line* '}' */
static void parse_program(Parser *p) {
    need_punct(p, '@');
    Loc loc = p->tok.loc;
    Name name = need_name(p, "a program's name");
    if (!declare(p, &p->programs, name, loc, p->m->program.n, "program")) return;
    p->g = program_new(p->m, name, loc);
    p->tensors = (NameMap){.arena = p->scratch};
    need_punct(p, '{');
    while (!p->failed && !take_punct(p, '}')) parse_line(p);
}

/* 'dim' NAME '<=' INT */
static void parse_dim(Parser *p) {
    Symbol s = {.loc = p->tok.loc};
    s.name = need_name(p, "a dim's name");
    need_kind(p, TOK_ATMOST, "'<='");
    s.bound = need_int(p, "a bound");
    if (p->m->symbol.n == INT16_MAX) parse_fail(p, s.loc, "more than %d dims", INT16_MAX);
    if (declare(p, &p->symbols, s.name, s.loc, p->m->symbol.n, "dim")) vec_push(p->m->arena, &p->m->symbol, s);
}

/* 'mesh' NAME '=' INT */
static void parse_mesh(Parser *p) {
    Axis a = {.loc = p->tok.loc};
    a.name = need_name(p, "a mesh axis");
    need_punct(p, '=');
    a.ranks = need_int(p, "a number of ranks");
    if (p->m->axis.n == MAX_AXES) parse_fail(p, a.loc, "more than %d mesh axes", MAX_AXES);
    if (declare(p, &p->axes, a.name, a.loc, p->m->axis.n, "mesh axis")) vec_push(p->m->arena, &p->m->axis, a);
}

static void parse_form(Parser *p) {
    static const char *const form[] = {"flags", "launches"};
    p->m->form |= 1 << need_choice(p, form, 2, "'flags' or 'launches'");
}

static void parse_item(Parser *p) {
    if (take_word(p, "kernel"))
        parse_kernel(p);
    else if (take_word(p, "program"))
        parse_program(p);
    else if (take_word(p, "dim"))
        parse_dim(p);
    else if (take_word(p, "mesh"))
        parse_mesh(p);
    else if (take_word(p, "form"))
        parse_form(p);
    else
        parse_fail(p, p->tok.loc, "expected form, dim, mesh, kernel or program");
}

static void parse_items(Parser *p) {
    parse_next(p);
    while (p->failed || p->tok.kind != TOK_END) {
        if (p->failed) parse_resync(p);
        if (p->tok.kind != TOK_END) parse_item(p);
    }
}

Module *module_read(Arena *a, Names *names, Diags *diags, int file) {
    const SourceFile *source = &diags->file.p[file - 1];
    int errors = diags->errors;
    if (source->len > PARSE_SOURCE) {
        diag_error(diags, (Loc){file, 0, 0}, "ir-syntax", "the file is larger than %d MiB", PARSE_SOURCE >> 20);
        return NULL;
    }
    Arena *scratch = arena_new();
    Parser p = {.text = source->text, .at = source->text, .end = source->text + source->len, .file = file};
    p.m = module_new(a, names, diags);
    p.scratch = scratch;
    p.symbols = p.axes = p.kernels = p.programs = (NameMap){.arena = scratch};
    parse_items(&p);
    arena_free(scratch);
    return diags->errors == errors ? p.m : NULL;
}

Module *module_parse(Arena *a, Names *names, Diags *diags, int file) {
    Module *m = module_read(a, names, diags, file);
    if (!m || !module_verify(m)) return NULL;
    for (int i = 0; i < m->program.n; i++) program_dims(m, m->program.p[i]);
    return m;
}
