/* main.c: the command line is read, then one subcommand runs. The phases of each stand in order in driver/session.c. */
#include "driver/options.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Everything that was printed has arrived: a full disk shows itself here at the latest. */
static bool stdout_close(void) { return !ferror(stdout) & (fclose(stdout) == 0); }

static int output_error(int code) {
    fputs("tilec: error: cannot write to the standard output\n", stderr);
    return code == EXIT_OK ? EXIT_WRONG : code;
}

int main(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is an error of write() like a full disk */
    Arena *arena = arena_new();
    Options o = {.arena = arena};
    int code = options_parse(&o, argc, argv);
    for (int i = 0; code < 0 && i < ncommand; i++)
        if (strcmp(commands[i].name, o.command) == 0) code = commands[i].run(&o);
    arena_free(arena);
    return stdout_close() ? code : output_error(code);
}
