/* stats.h: how many of the random programs use what of the language, told from their text alone. */
#ifndef TILEC_TEST_GEN_STATS_H
#define TILEC_TEST_GEN_STATS_H

#include "base/text.h"

#include <regex.h>
#include <stdio.h>

typedef struct {
    const char *name, *pattern; /* an extended regular expression over the text */
    regex_t match;
    int programs;
} Feature;

#define USES(what, how)                                                                                                \
    { .name = what, .pattern = how }
#define ELEMENT(t)                                                                                                     \
    { .name = "element type " t, .pattern = ": " t "[[,)]" }

static Feature features[] = {
    USES("run-time dimension", "dim N[0-9] <="),
    USES("extent 1", "dim N[0-9] <?= 1;"),
    USES("extent beside a tile's size", "dim N[0-9] <?= (3|5|7|9|15|17|31|33|63|65);"),
    USES("extent of a tile's size", "dim N[0-9] <?= (4|8|16|32|64);"),
    USES("mesh of one axis or more", "mesh tp"),
    USES("mesh of two axes or more", "mesh dp"),
    USES("mesh of three axes", "mesh pp"),
    USES("split tensor", " @ (tp|dp|pp)[],]"),
    USES("run-time dimension on a mesh", "dim N[0-9] <=.*mesh"),
    USES("split run-time dimension", "dim (N[0-9]) <=.*\\1 @"),
    USES("all_gather", "all_gather\\("),
    USES("reduce_scatter", "reduce_scatter\\("),
    USES("all_reduce", "all_reduce\\("),
    USES("all_to_all", "all_to_all\\("),
    USES("permute", "permute\\("),
    USES("broadcast", "broadcast\\("),
    USES("stack", "stack\\("),
    USES("local", "local\\("),
    USES("one value in several collectives",
         "(all_gather|reduce_scatter|all_reduce|all_to_all|permute|broadcast|stack)\\(([a-z.]*[0-9]+).*"
         "(all_gather|reduce_scatter|all_reduce|all_to_all|permute|broadcast|stack)\\(\\2[,)]"),
    USES("state", "state [sz]"),
    USES("record", "record "),
    USES("record of states", "record memory"),
    USES("part of a tensor", "[(,= ][wxzs.]+[0-9]+\\[[0-9l]"),
    USES("repeat", "repeat l"),
    USES("repeat inside a repeat", "repeat j"),
    USES("view", "view\\("),
    USES("whole-tensor expression", "= [^;\n]*(0\\.5|2|a) \\*|\\) \\* 2;"),
    USES("conversion in a whole-tensor expression", "= (i64|i32|i16|i8|f64|f32|bf16)\\([a-z.0-9]+\\) [+-] (2 \\* )?[if]"),
    USES("scalar parameter of a program", "(a: f32|b: i32)(, b: i32)?\\) ->"),
    USES("part of a result", "  y[0-9]+\\[[l(]"),
    USES("six dimensions or more", "\\[(N[0-9][^],\n]*, ){5,7}N[0-9]"),
    USES("partial sum of 16 bits", "-> \\(o0: bf16.*acc[^\n]*\n.*o0\\[[^\n]* = acc[0-9]+ \\* "),
    USES("part at a run-time place", "\\[b[] ]"),
    USES("if of a program at run time", "  if [ab] "),
    USES("inout parameter", "inout p"),
    USES("inout written under a condition", "if [^\n]*\\{ p0\\["),
    USES("unique scatter", "unique p"),
    USES("groups of rows", "ascending q"),
    USES("constant parameter", "const [cm]"),
    USES("scalar parameter of a kernel", "s: f32[,)]"),
    USES("two results", "-> \\(o0: [^)]*o1:"),
    USES("result read by the kernel itself", "o([0-9])\\[[^]\n]*\\] = [^\n]*o\\1\\["),
    USES("positions of a tile in order", "for r[0-9]+ in i"),
    USES("if of a program", "  if [N0-9l]"),
    USES("call of a program", "program sub"),
    USES("weight in a format", "\\] as "),
    USES("weight in a format in a record", "record weights [^}]* as "),
    USES("kernel of the library", "= "
                                  "(softmax|rmsnorm|add|mul|swiglu|transpose|sum_|mean_|max_|cum[a-z]*_|arg[a-z]*_|"
                                  "matmul|linear_?[a-z]*\\([^W]*\\);)"),
    USES("sum into computed places", "(o0|p0)\\[[^\n]*\\^[^\n]* [-+]= "),
    USES("sum into an inout parameter", "p0\\[[^\n]*\\^[^\n]*\\] [-+]= "),
    USES("partial sum into computed places",
         "o0\\[[^\n]*\\^[^\n]* [-+]= .*all_reduce|o0\\[[^\n]*\\^[^\n]* [-+]= .*reduce_scatter"),
    USES("choice", "choose \\{"),
    USES("choice by a tree", "choose by"),
    USES("input of declared values", " in 0 \\.\\. 8"),
    USES("tasks on a level", " on (wave|group|chiplet|device)"),
    USES("one position a task", "(each|,) [iw][0-9]+ of"),
    USES("auto tile", ": auto of"),
    USES("loop", "for q"),
    USES("run-time bounds of a loop", "for q[^\n]* in (p[0-9]+\\[|0 \\.\\. min|pos)"),
    USES("merge", "merge \\("),
    USES("contraction", " @ [a-z(]"),
    USES("if on a run-time value", "if [^c]"),
    USES("gather", "p[0-9]+\\[[^]\n]*p[0-9]+\\["),
    USES("shifted or strided read", "p[0-9]+\\[[^]\n]*(i[0-9]+ [-+] [0-9]|[23] \\* [iq]|- 1 - [iq])"),
    USES("mask", "where\\("),
    USES("reduction", "(sum|max|min|any|all)\\([^\n]*, [iqw][0-9]+\\)"),
    USES("argmax, argmin", "arg(max|min)(_rows)?\\("),
    USES("three ranges of the grid", "each i[^\n]*, i[^\n]*, i"),
    USES("cumsum, cummax", "cum(sum|max)\\("),
    ELEMENT("f64"),
    ELEMENT("bf16"),
    ELEMENT("f16"),
    ELEMENT("f8e4m3"),
    ELEMENT("f8e5m2"),
    ELEMENT("f8e4m3fnuz"),
    ELEMENT("i64"),
    ELEMENT("i32"),
    ELEMENT("i16"),
    ELEMENT("i8"),
    ELEMENT("u8"),
    ELEMENT("i4"),
    ELEMENT("t2"),
    ELEMENT("bool"),
};

enum { FEATURES = sizeof features / sizeof *features };

static void features_open(void) {
    for (int i = 0; i < FEATURES; i++)
        if (regcomp(&features[i].match, features[i].pattern, REG_EXTENDED))
            printf("not a pattern: %s\n", features[i].pattern);
}

static void features_count(const char *text) {
    for (int i = 0; i < FEATURES; i++) features[i].programs += regexec(&features[i].match, text, 0, NULL, 0) == 0;
}

static void features_print(int programs) {
    for (int i = 0; i < FEATURES; i++) {
        printf("%-34s %5d of %d\n", features[i].name, features[i].programs, programs);
        regfree(&features[i].match);
    }
}

#endif
