/* rank.c: the executions of a rank, one after the other: each begins when all tasks of the one before are done.
 */
#include "ir/interp/agent.h"

static void rank_next_generation(Agents *a, RankRun *rank) {
    clock_drop(a, rank->start);
    rank->start = rank->finish;
    rank->finish = clock_new(a);
    rank->generation++;
    rank->next = rank->done = 0;
}

void agents_done(Agents *a, int r, int64_t tasks) {
    RankRun *rank = &a->rank[r];
    rank->done += tasks;
    if (rank->done == rank->tickets) rank_next_generation(a, rank);
}
