/* table.c: the commands and their options: what parsing, --help, completions and the manual page share. */
#include "driver/options.h"

#include <stddef.h>
#include <string.h>

/* A bit for each command, by its place in the table below. */
enum { COMPILE = 1, RUN = 2, CHECK = 4, EXPLAIN = 8, OPT = 16, TARGETS = 32, FMT = 64, TUNE = 128, COMPRESS = 256,
       REMAP = 512, SOURCE = COMPILE | RUN | CHECK | EXPLAIN | TUNE, ANY = 1023 };

const Command commands[] = {
    {"compile", "FILE.tile", "write C, a header and a manifest for every program of a file", command_compile},
    {"run", "FILE.tile", "compile a program and run it on this machine", command_run},
    {"check", "FILE.tile", "check names, shapes, placements and the synchronisation", command_check},
    {"explain", "FILE.tile", "tell what each pass did and why", command_explain},
    {"opt", "FILE.tir", "run passes on a file of IR", command_opt},
    {"targets", "[NAME]", "list the targets, or tell about one", command_targets},
    {"fmt", "FILE.tile", "print a file in its canonical layout", command_fmt},
    {"tune", "FILE.tile", "measure the sizes that are predicted fastest, and write down the best", command_tune},
    {"compress", "FILE.npy", "write the tensors of a weight format that are nearest to a matrix", command_compress},
    {"remap", "FILE.hip", "order the workgroups of HIP kernels for the caches of chiplets", command_remap},
};
const int ncommand = (int)(sizeof commands / sizeof *commands);

#define AT(field) offsetof(Options, field)

const Option options[] = {
    {"-o", "DIR", "write outputs or tiles to DIR (default: .); remap: the file to write",
     COMPILE | RUN | COMPRESS | REMAP, TEXT, AT(outdir)},
    {"--as", "FORMAT", "weights' format and its tensors' shapes, as behind a program's \"as\"", COMPRESS, TEXT, AT(as)},
    {"-D", "NAME=N", "give dimension NAME the value N; remap: a kernel's parameter", SOURCE | REMAP, DEFINE,
     AT(define)},
    {"--size", "NAME=N", "value of a run-time dimension (default: from the inputs, else its bound)", RUN | CHECK | TUNE,
     DEFINE, AT(size)},
    {"--tuned", "FILE", "sizes measured by tilec tune, which writes them there, or by hand", SOURCE, TEXT, AT(tuned)},
    {"-I", "DIR", "search DIR for imports, or headers", SOURCE | REMAP, LIST, AT(root)},
    {"-MD", NULL, "write a Make dependency file beside each output", COMPILE, FLAG, AT(depfiles)},
    {"-MF", "FILE", "name of the dependency file", COMPILE, TEXT, AT(depfile)},
    {"--target", "NAME,..", "host (default), a GPU; for run also interp, emu:GPU; see tilec targets", SOURCE | OPT,
     TEXT, AT(target)},
    {"--emit", "KIND", "src (default), ir, deps, obj, lib, or programs: their names", COMPILE, TEXT, AT(emit)},
    {"--program", "NAME", "only this program", SOURCE, TEXT, AT(program)},
    {"--name", "NAME", "another name for the program, its files and its symbols", COMPILE, TEXT, AT(name)},
    {"--ranks", "N", "ranks of the mesh", SOURCE, SOME, AT(ranks)},
    {"--comm", "[NAME=]FORM", "of all or of NAME: auto (default), unfused, pull, staged, push, packet", SOURCE | OPT,
     LIST, AT(comm)},
    {"--split", "N", "cut long loops into N parts (default: as a GPU needs it; 1: never)", SOURCE | OPT, SOME,
     AT(split)},
    {"--off", "PASS", "leave out a pass", SOURCE | OPT, LIST, AT(off)},
    {"--passes", "A,B,..", "run these passes instead of the target's; none: no passes", COMPILE | RUN | EXPLAIN | OPT,
     LIST, AT(pass)},
    {"--print-after", "PASS", "print the IR after a pass, or after all", COMPILE | OPT, TEXT, AT(print_after)},
    {"--relaxed", NULL, "sums into shared places in any order: not the same run to run", SOURCE, FLAG, AT(relaxed)},
    {"--freestanding", NULL, "host: C without the runtime, in one thread and in memory of the caller", COMPILE, FLAG, AT(freestanding)},
    {"--verify-each", NULL, "verify the IR after every pass", SOURCE | OPT, FLAG, AT(verify_each)},
    {"--time-passes", NULL, "print how long each pass took", SOURCE | OPT, FLAG, AT(time_passes)},
    {"--in", "NAME=FILE.npy", "an input, .safetensors too; a scalar by its number (default: by the seed)", RUN | TUNE,
     BINDING, AT(in)},
    {"--out", "NAME=FILE.npy", "write an output", RUN, BINDING, AT(out)},
    {"--expect", "NAME=FILE.npy", "compare an output with this file", RUN, BINDING, AT(expect)},
    {"--tolerance", "T", "a float of --expect may differ by T (1 + |x|) (default: by its type)", RUN, REAL,
     AT(tolerance)},
    {"--seed", "N", "seed of inputs that are not given, and of interp's schedule", RUN | CHECK | TUNE, NUMBER,
     AT(seed)},
    {"--check", NULL, "run: compare outputs with the interpreter; fmt: only compare", RUN | FMT, FLAG, AT(check)},
    {"--allow-nan", NULL, "NaN and infinities that both sides have agree", RUN, FLAG, AT(allow_nan)},
    {"--stop-at", "KERNEL[:TASK]", "interpret up to the end of a task (default: 0), and write its tiles", RUN, TEXT,
     AT(stop_at)},
    {"--laws", NULL, "test every merge on random inputs: the loop whole and in parts", CHECK, FLAG, AT(laws)},
    {"--write", NULL, "rewrite the file instead of printing", FMT | REMAP, FLAG, AT(write)},
    {"--time", "N", "run N times more and print the median time; tune: runs of each turn", RUN | TUNE, COUNT, AT(time)},
    {"--variants", "N", "how many of a kernel's variants are measured (default: 8)", TUNE, SOME, AT(variants)},
    {"--train", "FOLDER", "make a choice's decision tree, by a folder of inputs or a table", TUNE, TEXT, AT(train)},
    {"--html", "FILE", "write what is explained as a page with pictures, whole in one file", EXPLAIN, TEXT, AT(html)},
    {"--svg", "FOLDER", "write the pictures of that page, a file each", EXPLAIN, TEXT, AT(svg)},
    {"--cache-sim", NULL, "simulate the caches of a GPU's chiplets", EXPLAIN | REMAP, FLAG, AT(cache_sim)},
    {"--arch", "NAME", "the machine: gfx942 (default), gfx950 or gfx90a", REMAP, TEXT, AT(arch)},
    {"--chiplets", "N", "chiplets (default: the machine's)", REMAP, SOME, AT(chiplets)},
    {"--grid", "X,Y,Z", "workgroups (default: of a launch in the file)", REMAP, TEXT, AT(grid)},
    {"--block", "X,Y,Z", "threads of a workgroup (default: of a launch in the file)", REMAP, TEXT, AT(block)},
    {"--cflags", "FLAGS", "flags of the compiler, with spaces between", REMAP, TEXT, AT(cflags)},
    {"--report", NULL, "print what is known of each kernel's accesses", REMAP, FLAG, AT(report)},
    {"--verify", NULL, "run the kernels before and after in the emulator, and compare", REMAP, FLAG, AT(verify)},
    {"--trace", "FILE", "write a Chrome trace of the run; explain: show this one in the page", RUN | EXPLAIN, TEXT,
     AT(trace)},
    {"--processes", NULL, "ranks are processes instead of threads", RUN | TUNE, FLAG, AT(processes)},
    {"--workers", "N", "worker threads of each rank (default: cores / ranks)", RUN | TUNE, SOME, AT(workers)},
    {"--timeout", "MS", "deadline of every wait (default: 30000)", RUN | TUNE, COUNT, AT(timeout_ms)},
    {"--flags", NULL, "print what the C compiler of a target is given", TARGETS, FLAG, AT(flags)},
    {"--diagnostics", "STYLE", "text (default), json or sarif", SOURCE | OPT | FMT, TEXT, AT(diagnostics)},
    {"-W", "[no-]NAME", "switch warnings: performance, all or an id; error makes them errors", SOURCE | OPT, LIST,
     AT(warn)},
    {"--explain", "ID", "tell what a message means, by the id in its brackets, and exit", ANY, TEXT, AT(explain)},
    {"--help", NULL, "print this and exit", ANY, FLAG, AT(help)},
    {"--completion", "SHELL", "print the completion for bash, zsh or fish, and exit", ANY, TEXT, AT(completion)},
    {"--manual", NULL, "print the manual page and exit", ANY, FLAG, AT(manual)},
    {"--version", NULL, "print the version and exit", ANY, FLAG, AT(version)},
};

const int noption = (int)(sizeof options / sizeof *options);

int command_bit(const char *name) {
    for (int i = 0; i < ncommand; i++)
        if (name && strcmp(name, commands[i].name) == 0) return 1 << i;
    return 0;
}
