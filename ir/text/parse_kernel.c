/* parse_kernel.c: reads heads of kernels: parameters, the grid, layouts. */
#include "ir/text/parse.h"
#include "ir/text/print.h"

/* param := ['out' | 'inout'] ['packet'] '%' name ':' elem ['[' [axis ';'] sizes ']'] */
static void parse_param(Parser *p) {
    Param a = {.ranks = -1};
    a.out = take_word(p, "out");
    a.inout = !a.out && take_word(p, "inout");
    a.packet = take_word(p, "packet");
    a.loc = p->tok.loc;
    need_punct(p, '%');
    a.name = need_name(p, "a parameter's name");
    need_punct(p, ':');
    a.elem = parse_elem(p);
    if (take_punct(p, '[')) {
        const char *after = p->at;
        while (after < p->end && *after == ' ') after++;
        if (p->tok.kind == TOK_WORD && after < p->end && *after == ';') {
            a.ranks = (int16_t)need_known(p, &p->axes, "mesh axis");
            need_punct(p, ';');
        }
        a.ndim = parse_sizes(p, a.dim);
    }
    if (p->k->param.n == INT16_MAX) parse_fail(p, a.loc, "more than %d parameters", INT16_MAX);
    if (declare(p, &p->params, a.name, a.loc, p->k->param.n, "parameter")) kernel_param(p->m, p->k, a);
}

/* each := name form 'of' size ['in' range] ['groups' '%' param] ['aligned' INT] */
static void parse_grid_range(Parser *p) {
    Range r = {.grid = true, .owner = -1, .loc = p->tok.loc};
    r.name = need_name(p, "a range");
    parse_range_form(p, &r);
    need_word(p, "of");
    r.of = parse_size(p);
    if (take_word(p, "in")) r.owner = (int16_t)need_known(p, &p->ranges, "range");
    if (take_word(p, "groups")) {
        need_punct(p, '%');
        r.starts = (int16_t)(1 + need_known(p, &p->params, "parameter"));
    }
    int64_t aligned = take_word(p, "aligned") ? need_int(p, "a number of elements") : 0;
    r.aligned = aligned < 0 || aligned > INT16_MAX ? -1 : (int)aligned;
    parse_range_declare(p, r);
}

static void parse_list(Parser *p, void (*item)(Parser *)) {
    need_punct(p, '(');
    if (take_punct(p, ')')) return;
    do item(p);
    while (take_punct(p, ','));
    need_punct(p, ')');
}

/* layouts := ['plan' plan] ['form' 'layout'] ('layout' '#' INT '"' layout '"')*, numbered from 0 */
static void parse_layouts(Parser *p) {
    if (take_word(p, "plan")) parse_plan(p, &p->k->plan);
    if (take_word(p, "form")) {
        need_word(p, "layout");
        p->k->form = KERNEL_LAYOUT;
    }
    while (take_word(p, "layout")) {
        need_punct(p, '#');
        Loc loc = p->tok.loc;
        if (need_int(p, "a layout's number") != p->k->layout.n) parse_fail(p, loc, "layouts are numbered in order");
        Layout l;
        int at;
        loc = p->tok.loc;
        Name text = need_name(p, "a layout in quotes");
        const char *wrong = p->failed ? NULL : layout_parse(p->m->arena, &l, text, &at);
        if (wrong) parse_fail(p, loc, "%s, before '%s'", wrong, text + at);
        if (p->failed) return;
        for (int i = 0; i < l.nindex; i++) l.index[i].name = name_of(p->m->names, l.index[i].name);
        for (int i = 0; i < l.nplace; i++) l.place[i].name = name_of(p->m->names, l.place[i].name);
        vec_push(p->m->arena, &p->k->layout, l);
    }
}

static void kernel_begin(Parser *p, Kernel *k) {
    p->k = k;
    p->value.n = 0;
    p->hidden_from = p->hidden_to = p->piece = 0;
    p->params = p->ranges = p->values = p->numbered = (NameMap){.arena = p->scratch};
}

/* kernel := 'kernel' '@' name params 'each' ranges 'on' level layouts [roles] region */
void parse_kernel(Parser *p) {
    need_punct(p, '@');
    Loc loc = p->tok.loc;
    Name name = need_name(p, "a kernel's name");
    if (!declare(p, &p->kernels, name, loc, p->m->kernel.n, "kernel")) return;
    kernel_begin(p, kernel_new(p->m, name, loc));
    parse_list(p, parse_param);
    need_word(p, "each");
    parse_list(p, parse_grid_range);
    need_word(p, "on");
    p->k->level = (Level)need_choice(p, text_level, TEXT_LEVELS, "a level");
    parse_layouts(p);
    if (take_word(p, "roles")) parse_roles(p);
    parse_region(p, p->k->body);
}
