/* version.c: versions of tensors that are updated in place.
   Takes values, each with the number of updates before it; reports those whose version is gone. */
#include "frontend/program/graph.h"

bool places_use(const Graph *g, const ProgValue *v, const ProgValue *of) {
    for (int d = 0; v->kind == PROG_TENSOR && d < v->nspot; d++)
        for (int t = 0; t < v->spot[d].nterm; t++) {
            const ProgValue *source = source_at(g, v->spot[d].term[t].id);
            if (value_overlaps(source, of) || places_use(g, source, of)) return true;
        }
    return false;
}

static bool value_uses(const Graph *g, const ProgValue *v, const ProgValue *of) {
    return value_overlaps(v, of) || places_use(g, v, of);
}

void value_consume(Graph *g, Scope *scope, const ProgValue *v, Loc loc) {
    ProgValue gone = *v;
    gone.loc = loc;
    update_add(g, gone);
    for (int i = 0; i < variable_count(scope); i++)
        if (value_uses(g, &variable_at(scope, i)->value, v)) variable_at(scope, i)->gone = gone;
}

typedef bool UsesFn(const Graph *, const ProgValue *, const ProgValue *of);

static bool lives(const Graph *g, const ProgValue *v, UsesFn *uses) {
    for (int i = v->born; v->kind == PROG_TENSOR && i < update_count(g); i++) {
        if (!uses(g, v, update_at(g, i))) continue;
        diag_error(g->diags, v->loc, "consumed", "'%s' was updated in place: this version is gone", tensor_text(g, v));
        diag_note(g->diags, update_at(g, i)->loc, "updated here, before this version is used");
        return false;
    }
    return true;
}

bool value_lives(const Graph *g, const ProgValue *v) { return lives(g, v, value_uses); }

bool places_live(const Graph *g, const ProgValue *v) { return lives(g, v, places_use); }
