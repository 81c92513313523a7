/* print_roles.c: the rings and roles of a kernel as text. */
#include "ir/roles.h"
#include "ir/text/print.h"

const char *const text_tasks[] = {"static", "ticket", "list"};

static void print_role_name(Printer *p, int role) {
    const Roles *r = p->k->roles;
    print_name(p, role >= 0 && role < r->role.n ? r->role.p[role].name : NULL);
}

/* ---- rings ---- */

static void print_tile(Printer *p, const SlotTile *t) {
    print_line(p);
    text_add(&p->out, "%");
    print_name(p, t->name);
    text_add(&p->out, ": ");
    print_type(p, t->type);
    text_printf(&p->out, " #%s %s", panel_info[t->panel].text, fill_text[t->fill]);
    if (t->param >= 0) {
        text_add(&p->out, " ");
        print_param_name(p, t->param);
    }
    if (t->early) text_add(&p->out, " early");
    if (t->sum) text_add(&p->out, " sum");
    if (t->share < 0) return;
    text_add(&p->out, " share ");
    print_range_name(p, t->share);
}

static void print_ring(Printer *p, const Ring *r) {
    print_line(p);
    text_add(&p->out, "ring $");
    print_name(p, r->name);
    text_printf(&p->out, " %d", r->slots);
    if (r->per >= 0) {
        text_add(&p->out, " per ");
        print_role_name(p, r->per);
    }
    if (r->over >= 0) {
        text_add(&p->out, " over");
        print_ring_name(p, r->over);
    }
    text_add(&p->out, " {");
    p->depth++;
    for (int i = 0; i < r->tile.n; i++) print_tile(p, &r->tile.p[i]);
    p->depth--;
    print_line(p);
    text_add(&p->out, "}");
}

/* ---- ranges that roles use, before their first use ---- */

static void use_type(bool *used, const Kernel *k, Type t) {
    for (int i = 0; i < t.nrange; i++)
        if (t.range[i] >= 0 && t.range[i] < k->range.n) used[t.range[i]] = true;
}

static void use_ranges(bool *used, const Kernel *k) {
    if (k->roles->cluster_range >= 0) used[k->roles->cluster_range] = true;
    for (int i = 0; i < k->roles->ring.n; i++)
        for (int t = 0; t < k->roles->ring.p[i].tile.n; t++) use_type(used, k, k->roles->ring.p[i].tile.p[t].type);
    for (int i = 1; i < kernel_regions(k); i++)
        for (const Op *op = walk(kernel_region(k, i)); op; op = walk_next(op, kernel_region(k, i)))
            if (op->kind == OP_FOR || op->kind == OP_PART)
                use_type(used, k, type_with(type_scalar(ELEM_I64), op->range));
}

static void print_role_ranges(Printer *p) {
    bool *used = ARENA_ARRAY(p->scratch, bool, p->k->range.n + 1);
    use_ranges(used, p->k);
    for (int i = p->k->ngrid; i < p->k->range.n; i++) {
        if (!used[i]) continue;
        print_line(p);
        text_add(&p->out, "range ");
        print_range_name(p, i);
        print_range_form(p, &p->k->range.p[i]);
        if (i == p->k->roles->cluster_range) text_printf(&p->out, " each of %d", p->k->roles->cluster);
    }
}

/* ---- roles ---- */

static void print_threads(Printer *p, const Role *r) {
    if (r->in >= 0) {
        text_add(&p->out, " in ");
        print_role_name(p, r->in);
    } else if (r->warp >= 0) {
        text_printf(&p->out, " warp %d lanes %d", r->warp, r->lanes);
    } else {
        text_printf(&p->out, " groups %d .. %d", r->first, r->last);
    }
    if (r->in >= 0 || r->split < 0) return;
    text_add(&p->out, " split ");
    print_range_name(p, r->split);
}

static void print_role(Printer *p, const Role *r) {
    print_line(p);
    text_add(&p->out, "role ");
    print_name(p, r->name);
    print_threads(p, r);
    print_region(p, r->body);
}

/* Names begin anew in each role, behind those of parameters and of the scalars that all roles have. */
static void print_scope(Printer *p, const Region *scalars) {
    p->taken = (NameMap){.arena = p->scratch};
    for (int i = 0; i < p->k->param.n; i++) name_claim(&p->taken, p->m->names, p->param[i]);
    for (const Op *op = walk(scalars); op; op = walk_next(op, scalars))
        for (int i = 0; i < op->res.n; i++)
            if (op->res.p[i]->name) name_claim(&p->taken, p->m->names, p->value[op->res.p[i]->id]);
}

static void print_tasks(Printer *p, const Roles *r) {
    print_line(p);
    text_printf(&p->out, "tasks %s {", text_tasks[r->tasks]);
    p->depth++;
    print_ops(p, r->scalars);
    for (int i = 0; i < r->role.n; i++) {
        print_scope(p, r->scalars);
        print_role(p, &r->role.p[i]);
    }
    print_scope(p, NULL);
    p->depth--;
    print_line(p);
    text_add(&p->out, "}");
}

static void print_roles_head(Printer *p, const Roles *r) {
    p->depth++;
    print_line(p);
    p->depth--;
    text_add(&p->out, "roles");
    if (r->cluster_range >= 0 && !roles_slice(p->k)) {
        text_add(&p->out, " cluster ");
        print_range_name(p, r->cluster_range);
        text_printf(&p->out, " %d", r->cluster);
    }
    if (r->order) {
        text_add(&p->out, " order ");
        print_order(p, r->order);
    }
    if (r->resident > 1) text_printf(&p->out, " resident %d", r->resident);
    text_add(&p->out, " regs");
    for (int i = 0; i < r->regs.n; i++) text_printf(&p->out, " %d", r->regs.p[i]);
}

/* What stands before the body, with its `spec`. */
void print_roles(Printer *p, const Roles *r) {
    print_roles_head(p, r);
    text_add(&p->out, " {");
    p->depth++;
    print_role_ranges(p);
    for (int i = 0; i < r->ring.n; i++) print_ring(p, &r->ring.p[i]);
    print_tasks(p, r);
    p->depth--;
    print_line(p);
    text_add(&p->out, "} spec");
}
