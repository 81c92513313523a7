/* roles.c: the form `roles`: threads, rings and the bodies of roles; then the rules of rings, one after the other.
   Takes a kernel with a valid body. Gives each violation; a rule is asked only where those before it hold. */
#include "ir/verify/roles.h"

/* ---- threads ---- */

static void regs_verify(Verifier *v, const Roles *r) {
    enum { GROUPS = 8 }; /* of 128 threads: a workgroup has 1024 at most */
    if (r->regs.n < 1 || r->regs.n > GROUPS)
        violation(v, v->k->loc, "roles of %d groups of 128 threads; a workgroup has 1 to %d", r->regs.n, GROUPS);
}

static void warps_verify(Verifier *v, const Roles *r, const Role *x, unsigned *taken) {
    enum { GROUP_WARPS = 4, WARP_LANES = 32, LANES = 128 };
    int first = x->warp >= 0 ? x->warp : GROUP_WARPS * x->first;
    int end = x->warp >= 0 ? x->warp + (x->lanes + WARP_LANES - 1) / WARP_LANES : GROUP_WARPS * (x->last + 1);
    bool counts = x->warp >= 0 ? x->lanes >= 1 && x->lanes <= LANES : x->first >= 0 && x->first <= x->last;
    if (!counts || end > GROUP_WARPS * r->regs.n) {
        violation(v, x->loc, "role '%s' has threads that the workgroup does not have", x->name);
        return;
    }
    unsigned own = (unsigned)(((uint64_t)1 << end) - ((uint64_t)1 << first));
    if (own & *taken) violation(v, x->loc, "role '%s' has threads of another role", x->name);
    *taken |= own;
}

static void split_verify(Verifier *v, const Role *x) {
    if (x->split < 0) return;
    if (x->split >= v->k->ngrid || v->k->range.p[x->split].kind == RANGE_POSITION)
        violation(v, x->loc, "role '%s' is split along what is no tile of the grid", x->name);
    else if (x->first < 0 || v->k->range.p[x->split].size % (x->last - x->first + 1))
        violation(v, x->loc, "role '%s' does not split '%s' into equal parts", x->name, v->k->range.p[x->split].name);
}

static void within_verify(Verifier *v, const Roles *r, int i) {
    const Role *x = &r->role.p[i], *host = x->in >= 0 && x->in < i ? &r->role.p[x->in] : NULL;
    bool same = host && host->in < 0 && host->first == x->first && host->last == x->last && host->warp == x->warp &&
                host->lanes == x->lanes && host->split == x->split;
    if (!same) violation(v, x->loc, "role '%s' is in no role that stands before it", x->name);
}

static void threads_verify(Verifier *v, const Roles *r) {
    unsigned taken = 0;
    for (int i = 0; i < r->role.n; i++) {
        const Role *x = &r->role.p[i];
        if (x->in != -1) {
            within_verify(v, r, i);
            continue;
        }
        int before = v->violations;
        warps_verify(v, r, x, &taken);
        if (v->violations == before) split_verify(v, x);
    }
    if (r->tasks == TASKS_TICKET && taken == (unsigned)(((uint64_t)1 << 4 * r->regs.n) - 1))
        violation(v, v->k->loc, "no warp is left that takes tickets");
}

/* ---- the cluster, and rings ---- */

/* Equal parts of a tile of the grid, one for each workgroup. */
static void parts_verify(Verifier *v, const Roles *r) {
    const Range *own = &v->k->range.p[r->cluster_range];
    const int whole = own->part_of - 1;
    bool tile = whole < v->k->ngrid && v->k->range.p[whole].kind == RANGE_TILE && own->kind == RANGE_TILE;
    if (!tile || own->size * r->cluster != v->k->range.p[whole].size || v->k->range.p[whole].starts)
        violation(v, own->loc, "'%s' does not share a tile of the grid out to the %d workgroups of a cluster",
                  own->name, r->cluster);
}

static void cluster_verify(Verifier *v, const Roles *r) {
    enum { CLUSTER = 8 }; /* workgroups of the largest portable one (CUDA programming guide, thread block clusters) */
    bool none = r->cluster == 1 && r->cluster_range == -1;
    if (roles_slice(v->k) && r->cluster > 1 && r->cluster <= CLUSTER) {
        parts_verify(v, r);
        return;
    }
    bool some = r->cluster > 1 && r->cluster <= CLUSTER && r->cluster_range >= 0 && r->cluster_range < v->k->ngrid &&
                v->k->range.p[r->cluster_range].kind == RANGE_TILE;
    if (!none && !some)
        violation(v, v->k->loc, "a cluster of %d workgroups along what is no tile of the grid, or of 1 or more than %d",
                  r->cluster, CLUSTER);
}

/* Ranges of a slot's tile need not be in scope where the ring stands. */
static bool slot_type_verify(Verifier *v, const SlotTile *t) {
    bool good = t->type.elem < ELEM_COUNT && t->type.nrange >= 0 && t->type.nrange <= MAX_RANGES;
    for (int i = 0; good && i < t->type.nrange; i++) {
        int r = t->type.range[i];
        good = r >= 0 && r < v->k->range.n && v->k->range.p[r].kind != RANGE_POSITION &&
               (i == 0 || t->type.range[i - 1] < r);
    }
    if (!good) violation(v, t->loc, "tile '%s' has a type that no tile has", t->name);
    return good;
}

static void share_verify(Verifier *v, const Roles *r, const SlotTile *t) {
    if (t->share == -1) return;
    if (r->cluster == 1 || t->share != r->cluster_range)
        violation(v, t->loc, "tile '%s' is shared along what is not the cluster's range", t->name);
    else if (t->fill != FILL_BOX && t->fill != FILL_PIXELS)
        violation(v, t->loc, "tile '%s' is shared, and no box", t->name);
    else if (type_has(t->type, t->share))
        violation(v, t->loc, "tile '%s' is shared along '%s', and each workgroup has another", t->name,
                  v->k->range.p[t->share].name);
}

/* Each workgroup of the cluster writes the whole tile, and reads its part of the sum. */
static void sum_verify(Verifier *v, const Roles *r, const Ring *x, const SlotTile *t) {
    if (t->sum != x->tile.p[0].sum)
        violation(v, t->loc, "ring '%s' has tiles that a cluster sums, and others", x->name);
    if (!t->sum) return;
    if (!roles_slice(v->k) || !type_has(t->type, v->k->range.p[r->cluster_range].part_of - 1))
        violation(v, t->loc, "tile '%s' is summed by a cluster whose workgroups have no parts of it", t->name);
    else if (t->fill != FILL_THREADS || x->per < 0 || x->slots != 1 || elem_bits(t->type.elem) != 32)
        violation(v, t->loc, "tile '%s' is summed by a cluster, and no tile of 32 bits in one slot of each group",
                  t->name);
}

static void slot_tile_verify(Verifier *v, const Roles *r, const SlotTile *t) {
    if ((unsigned)t->panel >= PANEL_COUNT || (unsigned)t->fill >= FILL_COUNT || !slot_type_verify(v, t)) return;
    bool copied = t->fill != FILL_THREADS;
    if (copied && (t->param < 0 || t->param >= v->k->param.n))
        violation(v, t->loc, "tile '%s' is copied from no parameter", t->name);
    else if (!copied && t->param != -1)
        violation(v, t->loc, "tile '%s' is written by threads, and has a parameter", t->name);
    else if (copied && v->k->param.p[t->param].elem != t->type.elem)
        violation(v, t->loc, "tile '%s' is %s, copied from %s", t->name, elem_text(t->type.elem),
                  elem_text(v->k->param.p[t->param].elem));
    if (t->panel == PANEL_LINE && (t->type.nrange != 1 || t->fill != FILL_BOX || t->share != -1))
        violation(v, t->loc, "tile '%s' is a line, and no box of one range for a workgroup alone", t->name);
    share_verify(v, r, t);
}

static void ring_verify(Verifier *v, const Roles *r, int i) {
    const Ring *x = &r->ring.p[i];
    if (x->slots < 1) violation(v, x->loc, "ring '%s' has no slot", x->name);
    if (x->per < -1 || x->per >= r->role.n || (x->per >= 0 && r->role.p[x->per].first < 0))
        violation(v, x->loc, "ring '%s' is one for each group of a role that has none", x->name);
    if (x->over < -1 || x->over >= i)
        violation(v, x->loc, "ring '%s' lies over one that does not stand before it", x->name);
    for (int t = 0; t < x->tile.n; t++) slot_tile_verify(v, r, &x->tile.p[t]), sum_verify(v, r, x, &x->tile.p[t]);
}

static void names_verify(Verifier *v, const Roles *r) {
    for (int i = 0; i < r->ring.n; i++)
        for (int j = 0; j < i; j++)
            if (r->ring.p[i].name == r->ring.p[j].name)
                violation(v, r->ring.p[i].loc, "there are two rings '%s'", r->ring.p[i].name);
    for (int i = 0; i < r->role.n; i++)
        for (int j = 0; j < i; j++)
            if (r->role.p[i].name == r->role.p[j].name)
                violation(v, r->role.p[i].loc, "there are two roles '%s'", r->role.p[i].name);
}

/* ---- bodies ---- */

static void scalars_show(Verifier *v, const Region *r, bool yes) {
    for (const Op *op = r->first; op; op = op->next)
        for (int i = 0; i < op->res.n; i++) v->visible[op->res.p[i]->id] = yes;
}

static void scalars_verify(Verifier *v, const Region *r) {
    region_verify(v, r, NULL);
    for (const Op *op = walk(r); op; op = walk_next(op, r)) {
        bool scalar = op->res.n == 1 && op->res.p[0]->type.nrange == 0 && !op->region[0];
        if (!scalar) violation(v, op->loc, "%s stands among the scalars of a task", op_info[op->kind].text);
    }
}

/* Scalars find the tiles of ragged ranges anew. */
static void ragged_open(Verifier *v, bool yes) {
    for (int i = 0; i < v->k->ngrid; i++) {
        const Range *x = &v->k->range.p[i];
        if (!x->starts) continue;
        if (yes && !v->range_open[i]) violation(v, x->loc, "no scalar of the roles finds the tiles of '%s'", x->name);
        v->range_open[i] = yes;
    }
}

static void bodies_verify(Verifier *v, const Roles *r) {
    int before = v->violations;
    const int part = roles_slice(v->k) ? r->cluster_range : -1;
    if (part >= 0) v->range_open[part] = true; /* the workgroup's own one, in all tasks */
    ragged_open(v, false);
    scalars_verify(v, r->scalars);
    ragged_open(v, true);
    if (v->violations != before) return;
    scalars_show(v, r->scalars, true);
    for (int i = 0; i < r->role.n; i++) {
        v->role = &r->role.p[i];
        region_verify(v, v->role->body, NULL);
    }
    v->role = NULL;
    scalars_show(v, r->scalars, false);
    if (part >= 0) v->range_open[part] = false;
}

void roles_verify(Verifier *v, const Kernel *k) {
    const Roles *r = k->roles;
    int before = v->violations;
    if (k->level != LEVEL_GROUP) violation(v, k->loc, "it has roles, and its tasks are not of a workgroup");
    regs_verify(v, r);
    cluster_verify(v, r);
    names_verify(v, r);
    if (v->violations == before) threads_verify(v, r);
    for (int i = 0; i < r->ring.n; i++) ring_verify(v, r, i);
    if (v->violations == before) bodies_verify(v, r);
    if (v->violations == before) ring_skeletons_verify(v, k);
    for (int i = 0; i < r->role.n && v->violations == before; i++) {
        role_turns_verify(v, &r->role.p[i]);
        role_late_verify(v, &r->role.p[i]);
        role_sums_verify(v, &r->role.p[i]);
        role_slices_verify(v, &r->role.p[i]);
    }
    if (v->violations == before) role_budget_verify(v, k);
    if (v->violations == before) role_runs_verify(v, k);
    if (v->violations == before) roles_early_verify(v, k);
}
