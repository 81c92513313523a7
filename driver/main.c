/* main.c: the command line is read, then one subcommand runs. The phases of each stand in order in driver/session.c. */
#include "driver/options.h"

#include <string.h>

int main(int argc, char **argv) {
    Arena *arena = arena_new();
    Options o = {.arena = arena};
    int code = options_parse(&o, argc, argv);
    for (int i = 0; code < 0 && i < ncommand; i++)
        if (strcmp(commands[i].name, o.command) == 0) code = commands[i].run(&o);
    arena_free(arena);
    return code;
}
