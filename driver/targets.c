/* targets.c: tilec targets: the list of machines that code can be made for. */
#include "driver/options.h"

int command_targets(Options *o) {
    (void)o;
    printf("host      C11 for this machine's processors, ranks as threads or processes\n"
           "interp    the interpreter (tilec run only)\n");
    return EXIT_OK;
}
