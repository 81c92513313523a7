/* moves.c: kernels that copy a matrix to every rank, by few workgroups: one lane brings boxes of rows, another one
   sends them on and signals. Takes: a kernel in value form that loads one tile and stores it as it is, whose plan says
   how many workgroups there are. Gives: its roles; or why it stays as it is. */
#include "passes/roles/slice.h"

enum {
    ROWS = 64,           /* of a tile at least: those of a box that is stored (tile_box.h) */
    MORE_ROWS = 128,     /* where blocks have them: 4096 and 8192 rows of AG+GEMM took 753 and 1415 us, by 64 rows 757, 1475 */
    LEAST_TILES = 4,     /* workgroups: 128 rows of 256 in one tile took 117 us of AG+GEMM, and the product alone 49 */
    TILES = 8,           /* where fewer tiles of whole rows are there, parts of rows are tiles: of so many workgroups */
    COLUMNS = 64,        /* of a panel .. */
    PANEL = 128,         /* .. of so many bytes a row */
    SLOTS = 192 * 1024,  /* bytes of a workgroup */
    UNDER_WAY = 12,      /* stores at most that have not read their slots, of two slots of three: 20 gained nothing */
    COPY_REGISTERS = 128 /* of a thread: there is one group, of which two lanes work */
};

static int under_way(int slots) { return 2 * slots / 3 < UNDER_WAY ? 2 * slots / 3 : UNDER_WAY; }

static int slots_of(int64_t rows) { return SLOTS / (PANEL * (int)rows); }

typedef struct {
    const Op *load, *store;
} Transfer;

static bool find(Slice *s, Transfer *m) {
    *m = (Transfer){0};
    for (int i = 0; i < s->op.n; i++) {
        const Op *op = s->op.p[i];
        const Op **to = op->kind == OP_LOAD ? &m->load : op->kind == OP_STORE ? &m->store : NULL;
        bool other = !to && op_info[op->kind].class != CLASS_SYNC && op->res.n && op->res.p[0]->type.nrange;
        other |= op_info[op->kind].class == CLASS_PRINT;
        if (other || (to && *to)) return false;
        if (to) *to = op;
    }
    return m->load && m->store && m->store->arg.p[0] == m->load->res.p[0];
}

static bool is_number(const Slice *s, const Op *access) {
    const Param *p = &s->k->param.p[access->param];
    for (int d = 0; d < p->ndim; d++)
        if (!size_is_number(p->dim[d])) return false;
    return true;
}

/* Rows and columns are tiles of the grid. */
static bool find_tile(Slice *s, const Transfer *m) {
    Type t = m->load->res.p[0]->type;
    if (t.nrange != 2 || elem_bits(t.elem) != 16 || !is_number(s, m->load) || !is_number(s, m->store)) return false;
    s->column = affine_position(&m->load->sub.p[m->load->sub.n - 1].lo);
    if (s->column < 0 || !type_has(t, s->column)) return false;
    s->row = t.range[t.range[0] == s->column];
    const Range *i = &s->k->range.p[s->row], *j = &s->k->range.p[s->column];
    if (!i->grid || !j->grid || i->kind != RANGE_TILE || j->kind != RANGE_TILE || i->owner >= 0) return false;
    return i->of.c % ROWS == 0 && j->of.c % COLUMNS == 0 && i->of.c / ROWS * (j->of.c / COLUMNS) >= LEAST_TILES;
}

/* Of a tile: whole rows, if there are enough of them. */
static int64_t columns_of(int64_t row_tiles, int64_t columns) {
    if (row_tiles >= LEAST_TILES) return columns;
    return ceil_div(ceil_div(columns, ceil_div(TILES, row_tiles)), COLUMNS) * COLUMNS;
}

static bool move_fits(Slice *s, Transfer *m) {
    slice_list(s);
    if (!find(s, m) || m->store->mode != STORE_SET || !find_tile(s, m)) return false;
    return slice_is_symmetric(s, m->store) && box_is_panels(s, m->load) && box_is_panels(s, m->store);
}

static Slice slice_of(PassContext *c, const Kernel *k) {
    Slice s = {.c = c, .m = c->m, .k = k, .target = matrix_target(c->options->target), .scratch = arena_new()};
    s.values = k->nvalue;
    s.token = -1;
    s.scalar = ARENA_ARRAY(s.scratch, Value *, s.values + 1);
    return s;
}

bool is_move(const Kernel *k) { return k->plan.workgroups > 0; }

Planned moves_plan(PassContext *c, const Kernel *k) {
    Planned p = plan_refused("");
    Transfer m;
    if (k->form != KERNEL_VALUE) return p;
    Slice s = slice_of(c, k);
    if (multiplies_aside(s.target) && move_fits(&s, &m)) {
        const int64_t all = k->range.p[s.row].of.c;
        const int rows = all % MORE_ROWS || all / MORE_ROWS < LEAST_TILES ? ROWS : MORE_ROWS;
        p = (Planned){.plan = {.lowering = LOWER_ROLES,
                               .stages = slots_of(rows),
                               .order = order_keep(c->m->arena, &(Order){.own = OWN_RANK})}};
        p.plan.workgroups = k->plan.workgroups;
        planned_tile(&p, s.row, rows);
        planned_tile(&p, s.column, columns_of(all / rows, k->range.p[s.column].of.c));
        vec_push(c->m->arena, &p.plan.regs, COPY_REGISTERS);
        PlanCopy copy = {m.load->param, FILL_BOX};
        vec_push(c->m->arena, &p.plan.copy, copy);
        p.how = arena_format(c->m->arena, "roles, %d workgroups that copy", k->plan.workgroups);
    }
    arena_free(s.scratch);
    return p;
}

/* ---- building ---- */

static int move_ring(Slice *s, const Transfer *m) {
    const Param *p = &s->k->param.p[m->load->param];
    int ring = roles_ring(s->m, s->to, p->name, s->k->plan.stages, m->load->loc);
    ring_tile(s->m, s->to, ring,
              (SlotTile){.name = p->name,
                         .type = panel_type(s, m->load->res.p[0]->type),
                         .panel = PANEL_K128,
                         .fill = FILL_BOX,
                         .param = m->load->param,
                         .share = -1,
                         .loc = m->load->loc});
    return ring;
}

static Cut role_begin(Slice *s, const char *name, int warp) {
    int role = roles_warp(s->m, s->to, name_of(s->m->names, name), warp, 1, s->k->loc);
    return cut_begin(s, s->k->roles->role.p[role].body);
}

static Builder columns_begin(Cut *c, Op **loop) {
    Builder b = c->b;
    panel_loop(&b, c->s);
    *loop = b.at->parent;
    (*loop)->unrolled = false;
    return b;
}

static void move_copy(Slice *s, const Transfer *m, int ring) {
    Op *loop;
    Cut c = role_begin(s, "copy", 1);
    Builder b = columns_begin(&c, &loop);
    b.at = build_put(&b, ring)->region[0];
    build_copy(&b, m->load->param, panel_place(s, m->load), m->load->sub.n, 0);
}

/* What it stores over, others may still read. */
static void wait_all(Cut *c) {
    for (const Op *op = c->s->k->body->first; op; op = op->next)
        if (op->kind == OP_WAIT) cut_op(c, op);
}

static void move_store(Slice *s, const Transfer *m, int ring) {
    Op *loop;
    Cut c = role_begin(s, "store", 0);
    wait_all(&c);
    Builder b = columns_begin(&c, &loop);
    Value *v = build_get(&b, ring)->res.p[0];
    Op *store = build_store(&b, m->store->param, panel_place(s, m->store), m->store->sub.n, v, STORE_SET);
    store->by = name_of(s->m->names, "box");
    build_free(&b, ring)->piece = 1;
    vec_push(s->m->arena, &loop->turn, (Turn){.piece = 0});
    vec_push(s->m->arena, &loop->turn, ((Turn){.piece = 1, .shift = under_way(s->k->plan.stages)}));
    slice_store_signals(s, &c);
}

void slice_move(PassContext *c, Kernel *k) {
    Slice s = slice_of(c, k);
    Transfer m;
    if (move_fits(&s, &m)) {
        s.to = k;
        roles_begin(&s);
        s.panel = panel_range(&s);
        int ring = move_ring(&s, &m);
        move_copy(&s, &m, ring);
        move_store(&s, &m, ring);
    } else {
        diag_error(c->m->diags, k->loc, "unsupported", "not supported yet: roles of '%s', as planned", k->name);
    }
    arena_free(s.scratch);
}
