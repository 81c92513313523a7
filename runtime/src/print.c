/* print.c: lines of what runs have left as records (device/tile_print.h), sorted, so that they are the same whichever task
   came first. Takes: the records of a rank's instances. Gives: a line each, and the first assertion that fails. */
#include "gpu.h"

#include "device/tile_print_text.h"

#include <stdlib.h>

enum { ROOM = 16384, LINE = 4096 }; /* records of an instance; bytes of a line, which cut longer ones */

size_t prints_bytes(const tile_program *p, uint64_t *room) {
    const char *wanted = getenv("TILE_PRINTS");
    char *end = NULL;
    const unsigned long long n = wanted ? strtoull(wanted, &end, 10) : 0;
    *room = wanted && end != wanted && !*end && n && n <= UINT32_MAX ? n : ROOM;
    return p->nprints ? sizeof(tile_prints) + *room * sizeof(tile_print_record) : 0;
}

static void line_give(const tile_mesh *m, const char *text) {
    char line[LINE + 32];
    if (m->nranks > 1) snprintf(line, sizeof line, "rank %d: %s", m->rank, text);
    else snprintf(line, sizeof line, "%s", text);
    if (m->print) m->print(m->print_context, line);
    else fprintf(stderr, "%s\n", line);
}

/* Sets the thread's sentence to the first one that fails. */
static void records_tell(const tile_instance *p, tile_prints *all, bool *failed) {
    const uint64_t n = all->count < all->room ? all->count : all->room;
    const tile_program *g = p->program;
    char text[LINE];
    qsort(all->record, n, sizeof *all->record, tile_print_compare);
    for (uint64_t i = 0; i < n; i++) {
        const tile_print_record *r = &all->record[i];
        const char *of = r->site < (uint64_t)g->nprints ? g->print[r->site] : "a statement that is none of the program's";
        tile_print_text(of, r, text, sizeof text);
        line_give(p->mesh, text);
        if (*failed || !tile_print_fails(of)) continue;
        tile_fail(TILE_E_ASSERT, "%s%s", text, all->failed > 1 ? ", and others" : "");
        *failed = true;
    }
    if (all->count > n) {
        snprintf(text, sizeof text, "%llu more elements did not fit: TILE_PRINTS=%llu keeps them", (unsigned long long)(all->count - n),
                 (unsigned long long)all->count);
        line_give(p->mesh, text);
    }
    if (!all->failed || *failed) return;
    tile_fail(TILE_E_ASSERT, "program '%s': assertions of %llu elements fail, of which none was kept", g->name, (unsigned long long)all->failed);
    *failed = true;
}

static int instance_prints_take(tile_instance *p, bool *failed) {
    tile_prints *taken = p->prints;
    if (p->gpu) {
        const int code = gpu_prints_take(p, &taken);
        if (code) return free(taken), code;
    }
    if (!taken || !taken->count) return TILE_OK;
    records_tell(p, taken, failed);
    taken->count = taken->failed = 0;
    if (p->gpu) free(taken);
    return TILE_OK;
}

static int instances_take(tile_instance *p, bool *failed) {
    if (!p) return TILE_OK;
    const int earlier = instances_take(p->next, failed), own = instance_prints_take(p, failed);
    return earlier ? earlier : own;
}

int prints_take(tile_mesh *m) {
    bool failed = false;
    const int code = instances_take(m->instances, &failed);
    return code ? code : failed ? TILE_E_ASSERT : TILE_OK;
}

void tile_mesh_print(tile_mesh *m, tile_print_line *line, void *context) {
    m->print = line;
    m->print_context = context;
}
