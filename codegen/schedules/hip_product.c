/* hip_product.c: what the schedules of products of two matrices want to know of a kernel. */
#include "codegen/schedules/hip_schedule.h"
#include "codegen/schedules/match.h"
#include "codegen/schedules/skinny.h"

#include <inttypes.h>

/* Results of 16 bits go through workgroup memory, in tiles where their rows are multiples of 16 bytes, others straight
   from registers. */
bool product_stores_tiles(const Param *c) { return elem_bits(c->elem) == 16 && c->dim[1].c % 8 == 0; }

/* Positions that some threads have beyond the end must not be read: `clamp(x, end)` where there are such. */
void product_fill_clamp(Schedule *s, char range, int64_t extent, int64_t tile) {
    Fn *f = &s->f;
    bool past = extent % tile != 0;
    schedule_hole(s, fn_text(f, "clamp_%c", range), past ? "tile_min_i32(" : "");
    schedule_hole(s, fn_text(f, "end_%c", range), past ? fn_text(f, ", %" PRId64 ")", extent - 1) : "");
}

/* What is stored, as one type for several results: integers that floats do not hold stay integers. */
static Elem result_elem(const Param *c) { return c->elem == ELEM_I32 ? ELEM_I32 : ELEM_F32; }

/* What is stored for each sum; of two results which one is said. */
static const char *epilogues(Schedule *s, const Product *p) {
    Fn *f = &s->f;
    const char *name = fn_text(f, "%s_result", s->launch->function), *call = f->hip->call;
    Elem to = result_elem(&f->k->param.p[p->c[0]]);
    if (p->stores == 1) return epilogue_text(s, p->store[0]->arg.p[0], to, p->loop, name);
    const char *text = "";
    for (int i = 0; i < p->stores; i++)
        text = fn_text(f, "%s%s", text, epilogue_text(s, p->store[i]->arg.p[0], to, p->loop, fn_text(f, "%s_%d", name, i)));
    const char *sum = elem_c(p->loop->res.p[0]->type.elem), *given = p->sums > 1 ? "x, y" : "x", *result = elem_c(to);
    const char *sums = p->sums > 1 ? fn_text(f, "%s x, %s y", sum, sum) : fn_text(f, "%s x", sum);
    return fn_text(f,
                   "%sTILE_FN %s %s(%s call, int c, %s, int i, int j) {\n"
                   "    return c ? %s_1(call, %s, i, j) : %s_0(call, %s, i, j);\n}\n",
                   text, result, name, call, sums, name, given, name, given);
}

/* What is common to the schedules of products: the type of the results, and what is stored for a sum. */
void product_fill_result(Schedule *s, const Product *p) {
    Fn *f = &s->f;
    const Param *c = &f->k->param.p[p->c[0]];
    const char *kind = p->plain ? "plain" : "result";
    schedule_hole(s, "out", elem_text(c->elem));
    schedule_hole(s, "elem", elem_c(c->elem));
    const char *narrow = fn_text(f, "tile_%s_of_f32", elem_text(c->elem));
    schedule_hole(s, "narrow", elem_bits(c->elem) == 32 ? "" : c->elem == ELEM_I8 ? "(int8_t)" : narrow);
    schedule_hole(s, "c", hip_argument(f, p->c[0])->text);
    schedule_hole(s, "sum", p->sums > 1 ? "sums x and y" : "a sum x");
    schedule_kind(s, kind);
    if (!p->plain) schedule_hole(s, "epilogue", epilogues(s, p));
    if (p->stores == 1) return;
    schedule_hole(s, "second", hip_argument(f, p->c[1])->text);
    schedule_kind(s, "both");
    schedule_kind(s, fn_text(f, "%s_both", kind));
}

/* As the machine's instructions call it. */
static const char *type_text(Elem e) { return e == ELEM_F8E4M3 ? "e4m3" : e == ELEM_F8E5M2 ? "e5m2" : elem_text(e); }

void product_fill_sizes(Schedule *s, const Product *p) {
    const Kernel *k = s->f.k;
    const char *runs = p->b_is_kn ? "columns" : "rows", *sums = p->sums > 1 ? "two" : "one";
    schedule_kind(s, runs);
    schedule_kind(s, sums);
    schedule_kind(s, fn_text(&s->f, "%s_%s", runs, sums));
    schedule_hole(s, "across", p->b_is_kn ? "1" : "0");
    schedule_number(s, "M", k->range.p[p->row].of.c);
    schedule_number(s, "N", k->range.p[p->row + 1].of.c);
    schedule_number(s, "K", p->depth);
    schedule_hole(s, "type", type_text(k->param.p[p->a].elem));
}

void product_maps_add(ProductMaps *to, Schedule *s, const int *param, int n, int box) {
    for (int i = 0; i < n; i++) {
        to->map[to->n] = schedule_map(s, param[i], box);
        to->param[to->n++] = param[i];
    }
}
