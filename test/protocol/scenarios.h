/* scenarios.h: the table of what is checked. */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include "check.h"

extern const Scenario scenarios[];
extern const int nscenarios;

#endif
