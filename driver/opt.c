/* opt.c: tilec opt: IR in, passes, IR out on standard output. */
#include "driver/session.h"

int command_opt(Options *o) {
    Session s;
    if (!session_open(&s, o)) return EXIT_USAGE;
    bool good = session_read_ir(&s) && (!o->pass.n || session_passes(&s)) && module_verify(s.m);
    if (good) module_print(s.m, stdout);
    return session_close(&s, good ? EXIT_OK : EXIT_WRONG);
}
