/* abi.h: what the runtime and callers see of a program: descriptions, headers, manifests, tables of launches. */
#ifndef TILEC_CODEGEN_ABI_ABI_H
#define TILEC_CODEGEN_ABI_ABI_H

#include "codegen/text/fn.h"

/* The part that the runtime and callers see: descriptions of arguments, public functions. The hash is of all text so far. */
uint64_t public_source(Text *to, Arena *, const Module *, const Program *, const Memory *, const Targets *);
void public_header(Text *to, Arena *, const Module *, const Program *);
void public_arguments(Text *to, Arena *, const Module *, const Program *); /* NAME_args, and its extents */
/* alone.c: the same of a program that stands alone: NAME_run, and how much memory it takes. false after an error. */
bool alone_source(Text *to, Arena *, const Module *, const Program *, const Memory *);
void alone_header(Text *to, Arena *, const Module *, const Program *, const Memory *);
bool alone_has_floats(const Program *);
const char **public_members(Arena *, const Module *, const Program *); /* of NAME_args: arguments, then sizes */
void manifest_write(Text *to, Arena *, const Module *, const Program *, const Memory *, const Targets *, uint64_t hash);
/* Names for fault records: of n flags, which are the program's, or these and the tensors of packets behind them. */
void flags_source(Text *to, Arena *, const Program *, const char *name, int n);
int packets_flag(const Program *, int tensor); /* of packets; of the number of tensors: how many names there are */
/* taken.c: a condition over dims and scalars without which no task of the kernel stores or signals; NULL: none is known.
   Adds lines that compute it. */
const CExpr *taken_text(Fn *, const Kernel *);
bool taken_may_be_left(const Kernel *); /* such a condition may leave out its launch */
/* clocks.c: lines of a function that predicts the clocks of a kernel in roles with a cost. */
void clocks_lines(Fn *, const Kernel *, const char *target);
/* launch.c. The type of a kernel's argument where the kernel reads fields (codegen/text/share.h). */
void gpu_fields_type(Text *to, const Module *, const Program *, const char *name, const struct Fields *);
/* Writes the tables that launch the kernels of GPU texts; memory: of p. host: how its own functions name sizes and ranks. */
void launch_source(Text *to, Arena *, const Backend *host, const Module *, const Program *, const Memory *, const Targets *);

#endif
