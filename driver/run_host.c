/* run_host.c: a program that was compiled and loaded, run by all ranks. */
#include "driver/run.h"
#include "driver/shard.h"
#include "passes/model/model.h"
#include "target/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool make_parts(Run *r, int runs) {
    Arena *a = r->s.arena;
    int n = r->p->io.n, coord[MAX_AXES];
    size_t result = sizeof(RankResult) + sizeof(double) * (size_t)runs;
    r->part = ARENA_ARRAY(a, void *const *, r->nranks);
    r->bytes = ARENA_ARRAY(a, size_t *, r->nranks);
    r->result = ARENA_ARRAY(a, RankResult *, r->nranks);
    for (int k = 0; k < r->nranks; k++) {
        void **part = ARENA_ARRAY(a, void *, n);
        mesh_coord(r->s.m, k, coord);
        r->bytes[k] = ARENA_ARRAY(a, size_t, n + 1);
        for (int i = 0; i < n; i++) {
            int64_t dim[MAX_DIMS];
            const Tensor *t = run_tensor(r, i);
            size_t bytes = shard_bytes(t->elem, shard_shape(r->s.m, t, r->sym, coord, dim));
            if (t->ndim) r->bytes[k][i] = bytes;
            if (!(part[i] = shared_memory(bytes))) return false;
        }
        r->part[k] = part;
        if (!(r->result[k] = shared_memory(result))) return false;
    }
    return true;
}

void run_fill(const Run *r, const Array *io) {
    int coord[MAX_AXES];
    for (int k = 0; k < r->nranks; k++) {
        mesh_coord(r->s.m, k, coord);
        for (int i = 0; i < r->p->io.n; i++)
            shard_copy(r->s.m, run_tensor(r, i), r->sym, coord, &io[i], r->part[k][i], false);
    }
}

/* Bytes that the ranks take on the host, with their parts of the arguments. */
static double bytes_needed(const Run *r) {
    const tile_program *g = r->program;
    double bytes = (double)g->local_bytes + (double)g->symmetric_bytes + 64.0 * (double)g->words;
    int coord[MAX_AXES];
    int64_t dim[MAX_DIMS];
    bytes = (bytes + (double)g->scratch_bytes * (double)(r->s.o->workers + 1)) * r->nranks;
    for (int k = 0; k < r->nranks; k++) {
        mesh_coord(r->s.m, k, coord);
        for (int i = 0; i < r->p->io.n; i++) {
            const Tensor *t = run_tensor(r, i);
            bytes += (double)shard_bytes(t->elem, shard_shape(r->s.m, t, r->sym, coord, dim));
        }
    }
    return bytes;
}

/* More than the machine has would page for hours, or end some process. */
static bool machine_holds(const Run *r) {
    enum { MOST_THREADS = 8192 }; /* of one process; chosen: no measurement is recorded */
    double memory = machine_bytes(), needed = bytes_needed(r);
    int64_t threads = r->nranks * (r->s.o->workers + 1);
    if (threads > MOST_THREADS)
        fprintf(stderr, "tilec: error: %d ranks of %lld workers are %lld threads; at most %d are started\n", r->nranks,
                (long long)r->s.o->workers, (long long)threads, MOST_THREADS);
    if (needed > memory && !r->s.target.gpu)
        fprintf(stderr, "tilec: error: %d rank%s of '%s' need %.3g GB of memory, this machine has %.3g GB\n",
                r->nranks, r->nranks == 1 ? "" : "s", r->p->name, needed * 1e-9, memory * 1e-9);
    return threads <= MOST_THREADS && (needed <= memory || r->s.target.gpu);
}

bool run_parts(Run *r, int runs) {
    if (!machine_holds(r)) return false;
    if (!make_parts(r, runs)) return fprintf(stderr, "tilec: error: out of memory\n"), false;
    run_fill(r, r->io);
    return true;
}

/* Rank 0 last: what is replicated is taken from it. */
void run_take(const Run *r) {
    int coord[MAX_AXES];
    for (int k = r->nranks - 1; k >= 0; k--) {
        mesh_coord(r->s.m, k, coord);
        for (int i = 0; i < r->p->io.n; i++)
            if (run_tensor(r, i)->role != ROLE_INPUT)
                shard_copy(r->s.m, run_tensor(r, i), r->sym, coord, &r->io[i], r->part[k][i], true);
    }
}

static bool report_failure(const RankJob *j) {
    enum { TOLD = 8 }; /* ranks whose failures are printed, so that a screen holds them */
    int failed = 0;
    for (int k = 0; k < j->nranks; k++)
        if (j->result[k]->code && failed++ < TOLD)
            fprintf(stderr, "tilec: error: rank %d: %s: %s\n", k, tile_error_name(j->result[k]->code),
                    j->result[k]->text);
    if (failed > TOLD) fprintf(stderr, "tilec: note: %d more ranks failed\n", failed - TOLD);
    return false;
}

/* Ranks share those of the host. */
double run_cores(const Run *r) {
    if (r->s.target.gpu) return matrix_target(r->s.target.machine)->processors;
    double cores = r->s.o->workers > 0 ? (double)r->s.o->workers : (double)sysconf(_SC_NPROCESSORS_ONLN) / r->nranks;
    int workers = r->p->workers ? r->p->workers : model_workers(target_facts("host"), r->s.m, r->p);
    return workers ? fmin(cores, workers) : cores;
}

double run_predicted(const Run *r) {
    return model_program(target_facts(r->s.target.machine), r->s.m, r->p, r->sym, run_cores(r));
}

/* Values of the run-time dimensions that the program takes. */
static const int64_t *taken_sizes(const Run *r) {
    int64_t *dim = ARENA_ARRAY(r->s.arena, int64_t, r->p->dim.n + 1);
    for (int i = 0; i < r->p->dim.n; i++) dim[i] = r->sym[r->p->dim.p[i]];
    return dim;
}

static RankJob job_of(const Run *r, const Options *o, int runs) {
    const char *target = r->s.target.emulated ? "emu" : r->s.target.gpu ? "gpu" : "host";
    return (RankJob){o, r->program, r->nranks, runs, taken_sizes(r), target, r->bytes, r->part, r->result};
}

bool run_ranks(const Run *r, const Options *o, int runs) {
    RankJob job = job_of(r, o, runs);
    return ranks_run(&job) || report_failure(&job);
}

RanksTime run_time(const Run *r, int runs) {
    RankJob job = job_of(r, r->s.o, runs);
    return ranks_time(&job, 1);
}
