/* diag_print.h: what the ways of printing diagnostics share. */
#ifndef TILEC_BASE_DIAG_PRINT_H
#define TILEC_BASE_DIAG_PRINT_H

#include "base/diag.h"

void diags_print_json(const Diags *, FILE *);
void diags_print_sarif(const Diags *, FILE *);

#endif
