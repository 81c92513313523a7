/* help.c: texts about the command line: --help, and the manual page in roff. Takes the tables of table.c. */
#include "driver/options.h"

#include <stdio.h>
#include <string.h>

static const char *joint(const Option *o) { return !o->value ? "" : o->name[1] == '-' ? "=" : " "; }

static const struct {
    int code;
    const char *meaning;
} exits[] = {
    {EXIT_OK, ""},
    {EXIT_WRONG, "the program is wrong"},
    {EXIT_USAGE, "usage"},
    {EXIT_RUN, "the run failed"},
    {EXIT_DIFFERS, "--check differs"},
};
enum { NEXIT = sizeof exits / sizeof *exits };

/* ---- --help ---- */

static void help_line(const Option *o) {
    char left[40];
    snprintf(left, sizeof left, "%s%s%s", o->name, joint(o), o->value ? o->value : "");
    printf("  %-24s %s\n", left, o->help);
}

static void help_head(int bit) {
    for (int i = 0; i < ncommand; i++)
        if (bit == 1 << i)
            printf("usage: tilec %s [options] %s\n%s\n\noptions:\n", commands[i].name, commands[i].operand,
                   commands[i].help);
    if (bit) return;
    printf("usage: tilec COMMAND [options] FILE\n\ncommands:\n");
    for (int i = 0; i < ncommand; i++)
        printf("  %-10s %-12s %s\n", commands[i].name, commands[i].operand, commands[i].help);
    printf("\noptions (tilec COMMAND --help lists those of one command):\n");
}

void help_print(const char *command) {
    int bit = command_bit(command);
    help_head(bit);
    for (int i = 0; i < noption; i++)
        if (!bit || options[i].commands & bit) help_line(&options[i]);
    printf("\nexit codes:");
    for (int i = 0; i < NEXIT; i++)
        printf(*exits[i].meaning ? "%s %d (%s)" : "%s %d", i ? "," : "", exits[i].code, exits[i].meaning);
    printf("\n");
}

/* ---- the manual page ---- */

/* Text of the tables: roff takes a leading dot or quote for a request, and hyphens for line breaks. */
static void roff(const char *s) {
    if (*s == '.' || *s == '\'') fputs("\\&", stdout);
    for (; *s; s++) {
        if (*s == '\\')
            fputs("\\e", stdout);
        else if (*s == '-')
            fputs("\\-", stdout);
        else
            putchar(*s);
    }
}

static void roff_section(const char *name) { printf(".SH %s\n", name); }

/* .TP, then the tag with its name in bold and its operand in italics, then the text. */
static void roff_item(const char *name, const char *join, const char *operand, const char *text) {
    printf(".TP\n\\fB");
    roff(name);
    printf("\\fR%s\\fI", join);
    roff(operand ? operand : "");
    printf("\\fR\n");
    roff(text);
    printf("\n");
}

static void roff_commands(void) {
    roff_section("COMMANDS");
    for (int i = 0; i < ncommand; i++) roff_item(commands[i].name, " ", commands[i].operand, commands[i].help);
}

static void roff_takers(const Option *o) {
    if (o->commands == (1 << ncommand) - 1) return;
    printf(".br\nTaken by");
    for (int i = 0; i < ncommand; i++)
        if (o->commands & 1 << i) printf(" %s", commands[i].name);
    printf(".\n");
}

static void roff_options(void) {
    roff_section("OPTIONS");
    for (int i = 0; i < noption; i++) {
        roff_item(options[i].name, joint(&options[i]), options[i].value, options[i].help);
        roff_takers(&options[i]);
    }
}

static void roff_exits(void) {
    roff_section("EXIT STATUS");
    for (int i = 0; i < NEXIT; i++) {
        char code[16];
        snprintf(code, sizeof code, "%d", exits[i].code);
        roff_item(code, "", NULL, *exits[i].meaning ? exits[i].meaning : "success");
    }
}

static void roff_environment(void) {
    static const char *const of[][2] = {
        {"CC", "the C compiler of run and of --emit=obj and lib (default: cc)"},
        {"TILEC_HIP, TILEC_NVCC", "the compilers of GPU code for AMD (default: clang-22) and NVIDIA (nvcc)"},
        {"TILEC_CLANGXX", "the compiler of GPU code for the emulator (default: clang++-22, clang++-14, clang++, g++)"},
        {"TILEC_RUNTIME", "the folder of the runtime's headers, where it is not beside the command"},
        {"TMPDIR", "where run keeps its files (default: /tmp)"},
        {"TILE_TARGET", "the target that a mesh is opened for, where a program does not say"},
        {"TILE_TRACE", "1: a mesh keeps a trace of its tasks"},
        {"TILE_GROUP", "the name under which ranks of one host meet"},
        {"RANK, WORLD_SIZE", "of a rank that is a process of its own"},
    };
    roff_section("ENVIRONMENT");
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) roff_item(of[i][0], "", NULL, of[i][1]);
}

void manual_print(void) {
    printf(".TH TILEC 1 \"\" \"tilec %s\" \"User Commands\"\n", TILEC_VERSION);
    roff_section("NAME");
    printf("tilec \\- a compiler for tile\\-dataflow kernels\n");
    roff_section("SYNOPSIS");
    printf(".B tilec\n.I COMMAND\n[options]\n.I FILE\n");
    roff_commands();
    roff_options();
    roff_exits();
    roff_environment();
}
