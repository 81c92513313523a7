/* check.c: tilec check: everything that compile verifies, without output. An IR file with flags is proved as well. */
#include "driver/laws.h"
#include "passes/proof/proof.h"

static bool check_ir(Session *s) {
    if (!session_read_ir(s)) return false;
    if (!(s->m->form & FORM_FLAGS)) return session_passes(s);
    s->context = (PassContext){.m = s->m, .options = &s->pass};
    return proof_check(&s->context);
}

/* Merges are tested before any pass, and on one rank as on many. */
static bool check_source(Session *s) {
    return session_lower(s) && (!s->o->laws || laws_check(s)) && session_passes(s);
}

int command_check(Options *o) {
    Session s;
    if (!session_open(&s, o)) return EXIT_USAGE;
    bool good = is_ir(o->file) ? check_ir(&s) : check_source(&s);
    return session_close(&s, good ? EXIT_OK : EXIT_WRONG);
}
