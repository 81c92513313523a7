/* gpu.c: the time of a kernel on a GPU: the slowest of memory, L2, and a processor's units, or the rounds of
   tasks that wait for loads and barriers where nothing else runs meanwhile. Takes: counts and facts of a machine.
   Gives: seconds. */
#include "passes/model/count.h"

#include <math.h>
#include <string.h>

/* ---- what a task does ---- */

static void count_elementwise(Count *c, const Op *op, Type t) {
    OpClass class = op_info[op->kind].class;
    if (class == CLASS_CONST || class == CLASS_INDEX || class == CLASS_BROADCAST) return;
    c->cost.gpu.lanes += op_cost(op->kind).lane * count_elements(c, t);
    c->cost.gpu.special += op_cost(op->kind).special * count_elements(c, t);
}

/* Bytes of an element of what is loaded or stored. */
static double memory_bytes(const Count *c, const Op *op) { return elem_bits(c->k->param.p[op->param].elem) / 8.0; }

/* That one access of a thread moves: where neighbours are neighbours in memory, and rows begin at multiples of 16
   bytes, those go in vectors. */
static double access_bytes(const Count *c, const Op *op, Type t) {
    const Param *p = &c->k->param.p[op->param];
    double bytes = memory_bytes(c, op), row = p->ndim ? (double)size_block(c->m, p->dim[p->ndim - 1], c->sym) : 1;
    int along = op->sub.n ? affine_position(&op->sub.p[op->sub.n - 1].lo) : -1;
    if (along < 0 || !type_has(t, along)) return bytes;
    while (bytes < 16 && fmod(row * memory_bytes(c, op), 2 * bytes) == 0) bytes *= 2;
    return bytes;
}

/* Nothing in it stands between the loads of two turns, so that several are under way at once. */
static bool is_open(const Region *r) {
    for (const Op *op = r->first; op; op = op->next)
        if (op->kind == OP_FOR || op->kind == OP_DOT || op->kind == OP_CONVERT ||
            op_info[op->kind].class == CLASS_REDUCE || op_info[op->kind].class == CLASS_PREFIX)
            return false;
    return true;
}

/* Accesses beside each other find in the L1 what one of them has fetched. */
static void count_access(Count *c, const Op *op, Type t) {
    /* Iterations that compilers unroll a loop by, whose loads are then under way at once; chosen: no
       measurement is recorded. */
    enum { UNROLLED = 8 };
    double bytes = count_elements(c, t) * memory_bytes(c, op);
    c->cost.gpu.l2 += fmax(bytes - c->once[op->param], 0);
    c->once[op->param] = fmax(bytes, c->once[op->param]);
    c->cost.gpu.lanes += 8 * bytes / access_bytes(c, op, t); /* a load takes the slots of four; its address */
    bool follows = op->prev && op->prev->kind == OP_LOAD;
    if (op->kind != OP_LOAD || follows) return;
    if (op->pipelined) {
        c->cost.gpu.pipelined += count_times(c);
        c->cost.gpu.loads += count_times(c) / fmax(c->trips[c->open.p[c->open.n - 1]], 1); /* a loop's first */
    } else
        c->cost.gpu.loads += ceil(count_times(c) / (is_open(op->in) ? UNROLLED : 1));
}

/* Bits of a place of its layout, and those of them that change nothing: threads that hold the same. */
static void place_bits(const Count *c, const Value *v, const char *place, int *bits, int *same) {
    int first, at = v->layout ? layout_place(&c->k->layout.p[v->layout - 1], place, &first) : -1;
    const Layout *l = at < 0 ? NULL : &c->k->layout.p[v->layout - 1];
    *bits = l ? l->place[at].bits : 0;
    *same = 0;
    for (int b = 0; b < *bits; b++) *same += l->column[first + b] == 0;
}

static double copies(const Count *c, const Value *v) {
    int bits, lanes, waves;
    place_bits(c, v, "lane", &bits, &lanes);
    place_bits(c, v, "wave", &bits, &waves);
    return exp2(lanes + waves);
}

static double type_bytes(const Count *c, Type t) { return count_elements(c, t) * elem_value_bits(t.elem) / 8; }

/* By the matrix units, or by products and sums of operands from the workgroup's memory. */
static void count_product(Count *c, const Op *op) {
    Type x = op->arg.p[0]->type, y = op->arg.p[1]->type;
    double products = count_elements(c, type_union(x, y));
    const char *e = elem_text(x.elem);
    c->cost.gpu.dot += 2 * products * elem_bits(x.elem) / 16;
    const MatrixOp *o = op->by ? matrix_op(c->machine, op->by, e, e) : NULL;
    if (o) {
        c->cost.gpu.matrix += products / ((double)o->ad->m * o->ad->n * o->ad->k * o->ad->blocks) * o->cycles / 4;
        c->cost.gpu.barriers += count_times(c);
        return;
    }
    c->cost.gpu.lanes += products * (elem_bits(elem_arith(x.elem)) == 64 ? 2 : 1) * 1.5;
    c->cost.gpu.lds += type_bytes(c, x) + type_bytes(c, y);
    c->cost.gpu.barriers += 2 * count_times(c);
}

static double over_steps(const Count *c, const Op *op) {
    double n = 1;
    for (int i = 0; i < op->nover; i++) n *= c->length[op->over[i]];
    return ceil(log2(fmax(n, 1)));
}

/* What threads exchange. */
static void count_exchange(Count *c, const Op *op) {
    const Type t = op->arg.p[0]->type;
    if (op->kind == OP_CONVERT) {
        c->cost.gpu.lds += type_bytes(c, t) * (1 + copies(c, op->res.p[0]));
        c->cost.gpu.barriers += 2 * count_times(c);
    }
    if (op_info[op->kind].class == CLASS_REDUCE) c->cost.gpu.barriers += 3 * count_times(c);
    bool prefix = op_info[op->kind].class == CLASS_PREFIX;
    if (op_takes_positions(op->kind)) {
        double steps = prefix ? ceil(log2(fmax(c->length[op->range], 1))) : over_steps(c, op);
        c->cost.gpu.lanes += 4 * steps * count_elements(c, t);
        c->cost.gpu.barriers += steps * count_times(c);
    }
}

/* Registers of a thread that hold tiles for long. */
static void count_words(Count *c, const Op *op) {
    int bits, same;
    for (int i = 0; i < op->res.n; i++) {
        place_bits(c, op->res.p[i], "reg", &bits, &same);
        c->cost.gpu.words += ldexp(elem_value_bits(op->res.p[i]->type.elem) / 32.0, bits);
    }
}

void count_on_gpu(Count *c, const Op *op) {
    OpClass class = op_info[op->kind].class;
    bool memory = op->kind == OP_LOAD || op->kind == OP_STORE;
    if (op->kind == OP_FOR || op->kind == OP_LOAD || op->kind == OP_CONVERT) count_words(c, op);
    if (op->kind == OP_DOT) count_product(c, op);
    if (class == CLASS_CONTROL || class == CLASS_DOT || class == CLASS_SYNC || (!op->arg.n && !memory)) return;
    Type v = op->arg.n ? op->arg.p[0]->type : op->res.p[0]->type, t = op->res.n ? type_union(op->res.p[0]->type, v) : v;
    if (memory)
        count_access(c, op, t);
    else if (t.nrange)
        count_elementwise(c, op, t), count_exchange(c, op);
}

/* ---- how long ---- */

static double resident_groups(const GpuFacts *f, const MatrixTarget *t, const Kernel *k, const GpuCost *c) {
    double threads = fmax(k->plan.waves, 1) * t->wave;
    double registers = fmin(f->registers + c->words, t->most_registers);
    double n = fmin(f->threads / threads, floor(t->registers / (threads * registers)));
    return fmax(fmin(n, 32), 1);
}

/* Each unit of a processor at work for itself, in clocks. */
static double busy(const GpuFacts *f, const GpuCost *c) {
    double lanes = fmax(c->lanes / f->lanes, c->special / f->special);
    return fmax(fmax(lanes, c->matrix), fmax(c->lds / f->lds, c->l2 / f->l2));
}

/* One task after the other on a processor, as many beside each other as it holds. */
static double task_clocks(const GpuFacts *f, const MatrixTarget *t, const NodeCost *n) {
    const GpuCost *c = &n->gpu;
    double threads = fmax(n->kernel->plan.waves, 1) * t->wave, share = fmin(f->lanes, threads * f->issue);
    double work = (c->lanes / share + c->matrix * fmax(1, 128 / threads) + c->lds / f->lds) / n->tasks;
    return fmax(work + c->barriers * f->barrier, c->pipelined * f->load) + c->loads * f->load;
}

/* The columns of a schedule's tile: those of two products lie in one. */
static int64_t tile_columns(const Kernel *k) {
    int sums = 0;
    for (const Op *op = walk(k->body); op; op = walk_next(op, k->body)) sums += op->kind == OP_DOT;
    return k->range.p[1].size * sums;
}

/* Times of all processors' work, where the last round of tasks leaves some of them idle. The workgroups of a cluster may
   share a task. */
static double idle_factor(const MatrixTarget *t, const NodeCost *n) {
    const double shares = n->tasks * plan_slices(&n->kernel->plan);
    return ceil(shares / t->processors) * t->processors / shares;
}

/* Tiles of a schedule: steps of 64 positions whose time its row has; others and those of roles at the rate of the largest
   tile's or the machine's, and exp beside them, of which half is hidden. */
static double scheduled(const GpuFacts *f, const MatrixTarget *t, const NodeCost *n) {
    const double tick = 40e-9;
    const Kernel *k = n->kernel;
    const MatrixSchedule *best = matrix_schedule(t, "product", 0),
                         *s = k->plan.schedule ? matrix_schedule(t, k->plan.schedule, tile_columns(k)) : NULL;
    double rate = best ? 2.0 * best->rows * best->columns * 64 / (best->cost * tick) : f->products;
    if (s && !strcmp(s->name, "product")) {
        double tile = n->gpu.dot / n->tasks;
        return ceil(n->tasks / s->resident_groups) * tile / (2.0 * s->rows * s->columns * 64 / (s->cost * tick));
    }
    double rounds = k->plan.lowering == LOWER_ROLES ? idle_factor(t, n) : 1;
    double products = n->gpu.dot / t->processors / rate * rounds,
           special = n->gpu.special / t->processors / f->special / f->clock;
    return fmax(products, special) + fmin(products, special) / 2;
}

double model_gpu_seconds(const GpuFacts *f, const TargetFacts *t, const NodeCost *n) {
    const MatrixTarget *machine = matrix_target(t->name);
    double cores = machine->processors, rounds = ceil(n->tasks / cores);
    double memory =
        n->bytes / (n->gpu.read > t->cache || n->bytes > 2 * t->cache ? t->memory : f->cached) + n->linked / t->link;
    if (plan_is_whole(&n->kernel->plan)) return f->launch + f->fill + fmax(memory, scheduled(f, machine, n));
    double even = busy(f, &n->gpu) / n->tasks * rounds;
    double turns = ceil(n->tasks / (cores * resident_groups(f, machine, n->kernel, &n->gpu)));
    double chain = turns * task_clocks(f, machine, n);
    return f->launch + fmax(memory, fmax(even, chain) / f->clock);
}
