/* run_print.c: what `print` and assertions leave in the interpreter, as lines: those of the runtime (runtime/src/print.c),
   in the same order. */
#include "codegen/text/print.h"
#include "device/tile_print_text.h"
#include "driver/run.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    int rank;
    tile_print_record record;
} Kept;

typedef struct {
    InterpPrints take;
    const Run *r;
    VEC(Kept) kept;
} Prints;

static void record_keep(void *context, const InterpPrint *p) {
    Prints *all = context;
    Kept fresh = {p->rank, {.site = (uint64_t)print_site(all->r->p, p->node, p->op), .value = p->value}};
    memcpy(fresh.record.place, p->place, sizeof p->place);
    vec_push(all->r->s.arena, &all->kept, fresh);
}

const InterpPrints *run_prints(const Run *r) {
    Prints *all = ARENA_NEW(r->s.arena, Prints);
    all->take = (InterpPrints){record_keep, all};
    all->r = r;
    return print_count(r->p) ? &all->take : NULL;
}

static int kept_compare(const void *a, const void *b) {
    const Kept *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : tile_print_compare(&x->record, &y->record);
}

/* The first assertion that fails on a rank. */
typedef struct {
    int rank, failed;
    const char *text;
} Failure;
typedef VEC(Failure) Failures;

static void failure_add(Arena *a, Failures *list, int rank, const char *text) {
    if (list->n && vec_last(list).rank == rank)
        vec_last(list).failed++;
    else
        vec_push(a, list, ((Failure){rank, 1, arena_text(a, text, strlen(text))}));
}

bool run_prints_show(const InterpPrints *prints) {
    const Prints *all = prints->context;
    Arena *a = all->r->s.arena;
    const Sites site = print_sites(a, all->r->p);
    Failures failures = {0};
    char text[4096];
    if (all->kept.n) qsort(all->kept.p, (size_t)all->kept.n, sizeof *all->kept.p, kept_compare);
    for (int i = 0; i < all->kept.n; i++) {
        const Kept *k = &all->kept.p[i];
        const char *of = site.p[k->record.site]->by;
        tile_print_text(of, &k->record, text, sizeof text);
        if (mesh_ranks(all->r->s.m) > 1) printf("rank %d: ", k->rank);
        printf("%s\n", text);
        if (tile_print_fails(of)) failure_add(a, &failures, k->rank, text);
    }
    fflush(stdout);
    for (int i = 0; i < failures.n; i++)
        fprintf(stderr, "tilec: error: rank %d: %s: %s%s\n", failures.p[i].rank, tile_error_name(TILE_E_ASSERT), failures.p[i].text,
                failures.p[i].failed > 1 ? ", and others" : "");
    return failures.n == 0;
}
