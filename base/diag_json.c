/* diag_json.c: diagnostics as a JSON array, and as a SARIF 2.1.0 log.
   Columns count bytes from 1 in JSON and UTF-16 units, SARIF's default, in SARIF. */
#include "base/diag_print.h"
#include "base/json.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_name[] = {"error", "warning", "performance", "note"};
static const char *const sarif_level[] = {"error", "warning", "warning", "note"};

static void *json_memory(size_t n) { return mem_realloc(NULL, n); }

static bool is_placed(const Diags *d, const Diag *g) { return g->loc.file > 0 && g->loc.file <= d->file.n; }

static Loc loc_last(Loc loc) {
    if (loc.end > loc.begin) loc.begin = loc.end;
    return loc;
}

static void json_place(const Diags *d, json_t *o, Loc loc) {
    json_object_set_new(o, "line", json_integer(loc_line(d, loc)));
    json_object_set_new(o, "column", json_integer(loc_column(d, loc)));
    json_object_set_new(o, "endLine", json_integer(loc_line(d, loc_last(loc))));
    json_object_set_new(o, "endColumn", json_integer(loc_column(d, loc_last(loc))));
}

static json_t *json_fix(const Diags *d, const Diag *g) {
    json_t *o = json_object();
    json_place(d, o, g->fix_at);
    json_object_set_new(o, "text", json_utf8(g->fix));
    return o;
}

static json_t *json_diag(const Diags *d, const Diag *g) {
    json_t *o = json_object();
    json_object_set_new(o, "kind", json_string(kind_name[g->kind]));
    if (g->id) json_object_set_new(o, "id", json_string(g->id));
    json_object_set_new(o, "message", json_utf8(g->message));
    if (!is_placed(d, g)) return o;
    json_object_set_new(o, "file", json_utf8(loc_path(d, g->loc)));
    json_place(d, o, g->loc);
    if (g->fix) json_object_set_new(o, "fix", json_fix(d, g));
    return o;
}

static void json_write(json_t *root, FILE *out) {
    json_dumpf(root, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(root);
}

void diags_print_json(const Diags *d, FILE *out) {
    json_set_alloc_funcs(json_memory, free);
    json_t *all = json_array(), *notes = NULL;
    for (int i = 0; i < d->diag.n; i++) {
        json_t *o = json_diag(d, &d->diag.p[i]);
        if (d->diag.p[i].kind == DIAG_NOTE && notes) {
            json_array_append_new(notes, o);
            continue;
        }
        notes = json_array();
        json_object_set_new(o, "notes", notes);
        json_array_append_new(all, o);
    }
    json_write(all, out);
}

static int utf16_column(const Diags *d, Loc loc) {
    const SourceFile *f = &d->file.p[loc.file - 1];
    int column = 1;
    for (size_t i = f->line.p[loc_line(d, loc) - 1]; i < loc.begin && i < f->len; i++) {
        unsigned char c = (unsigned char)f->text[i];
        column += (c & 0xc0) == 0x80 ? 0 : c >= 0xf0 ? 2 : 1;
    }
    return column;
}

static json_t *sarif_message(const char *text) {
    json_t *o = json_object();
    json_object_set_new(o, "text", json_utf8(text));
    return o;
}

static json_t *sarif_region(const Diags *d, Loc loc) {
    json_t *region = json_object();
    json_object_set_new(region, "startLine", json_integer(loc_line(d, loc)));
    json_object_set_new(region, "startColumn", json_integer(utf16_column(d, loc)));
    json_object_set_new(region, "endLine", json_integer(loc_line(d, loc_last(loc))));
    json_object_set_new(region, "endColumn", json_integer(utf16_column(d, loc_last(loc))));
    return region;
}

static json_t *sarif_artifact(const Diags *d, Loc loc) {
    json_t *artifact = json_object();
    json_object_set_new(artifact, "uri", json_utf8(loc_path(d, loc)));
    return artifact;
}

static json_t *array_of(json_t *only) {
    json_t *array = json_array();
    json_array_append_new(array, only);
    return array;
}

/* SARIF 2.1.0, 3.55: one change of one artifact. */
static json_t *sarif_fix(const Diags *d, const Diag *g) {
    json_t *inserted = json_object(), *replacement = json_object(), *change = json_object(), *fix = json_object();
    json_object_set_new(inserted, "text", json_utf8(g->fix));
    json_object_set_new(replacement, "deletedRegion", sarif_region(d, g->fix_at));
    json_object_set_new(replacement, "insertedContent", inserted);
    json_object_set_new(change, "artifactLocation", sarif_artifact(d, g->fix_at));
    json_object_set_new(change, "replacements", array_of(replacement));
    json_object_set_new(fix, "description", sarif_message(g->message));
    json_object_set_new(fix, "artifactChanges", array_of(change));
    return fix;
}

static json_t *sarif_location(const Diags *d, const Diag *g) {
    json_t *physical = json_object(), *o = json_object();
    json_object_set_new(physical, "artifactLocation", sarif_artifact(d, g->loc));
    json_object_set_new(physical, "region", sarif_region(d, g->loc));
    json_object_set_new(o, "physicalLocation", physical);
    if (g->kind == DIAG_NOTE) json_object_set_new(o, "message", sarif_message(g->message));
    return o;
}

static json_t *sarif_result(const Diags *d, const Diag *g) {
    json_t *o = json_object(), *locations = json_array();
    json_object_set_new(o, "ruleId", json_string(g->id ? g->id : "note"));
    json_object_set_new(o, "level", json_string(sarif_level[g->kind]));
    json_object_set_new(o, "message", sarif_message(g->message));
    if (is_placed(d, g)) json_array_append_new(locations, sarif_location(d, g));
    json_object_set_new(o, "locations", locations);
    return o;
}

/* A note with a place is a related location; one without is added to the message. */
static void sarif_note(const Diags *d, json_t *result, const Diag *note) {
    if (note->fix) json_object_set_new(result, "fixes", array_of(sarif_fix(d, note)));
    if (is_placed(d, note)) {
        json_t *related = json_object_get(result, "relatedLocations");
        if (!related) json_object_set_new(result, "relatedLocations", related = json_array());
        json_array_append_new(related, sarif_location(d, note));
        return;
    }
    json_t *message = json_object_get(result, "message");
    Text t = {0};
    text_printf(&t, "%s; %s", json_string_value(json_object_get(message, "text")), note->message);
    json_object_set_new(message, "text", json_utf8(text_str(&t)));
    text_free(&t);
}

static json_t *sarif_results(const Diags *d) {
    json_t *results = json_array(), *last = NULL;
    for (int i = 0; i < d->diag.n; i++) {
        const Diag *g = &d->diag.p[i];
        if (g->kind == DIAG_NOTE && last)
            sarif_note(d, last, g);
        else
            json_array_append_new(results, last = sarif_result(d, g));
    }
    return results;
}

void diags_print_sarif(const Diags *d, FILE *out) {
    json_set_alloc_funcs(json_memory, free);
    json_t *root = json_object(), *runs = json_array(), *run = json_object(), *tool = json_object(),
           *driver = json_object();
    json_object_set_new(driver, "name", json_string("tilec"));
    json_object_set_new(tool, "driver", driver);
    json_object_set_new(run, "tool", tool);
    json_object_set_new(run, "results", sarif_results(d));
    json_array_append_new(runs, run);
    json_object_set_new(root, "$schema", json_string("https://json.schemastore.org/sarif-2.1.0.json"));
    json_object_set_new(root, "version", json_string("2.1.0"));
    json_object_set_new(root, "runs", runs);
    json_write(root, out);
}
