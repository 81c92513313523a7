/* laws.h: tilec check --laws: merge regions against the loops that they belong to, on random inputs. */
#ifndef TILEC_DRIVER_LAWS_H
#define TILEC_DRIVER_LAWS_H

#include "driver/session.h"

/* Takes a lowered module. Every loop with a merge that a program runs, whole and in parts: differences are errors. */
bool laws_check(Session *);

#endif
