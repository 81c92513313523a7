/* check.c: tilec check: everything that compile verifies, without output. */
#include "driver/session.h"

int command_check(Options *o) {
    Session s;
    if (!session_open(&s, o)) return EXIT_USAGE;
    bool good = session_lower(&s) && session_passes(&s);
    return session_close(&s, good ? EXIT_OK : EXIT_WRONG);
}
