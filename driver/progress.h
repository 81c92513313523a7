/* progress.h: progress of a command, shown on a terminal when the command takes longer than a second. */
#ifndef TILEC_DRIVER_PROGRESS_H
#define TILEC_DRIVER_PROGRESS_H

#include "base/arena.h"

typedef struct Progress Progress;

/* NULL, which is no progress at all, when standard error is not a terminal. what: must live until the end. */
Progress *progress_begin(Arena *, const char *what);
void progress_end(Progress *);

#endif
