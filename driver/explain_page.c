/* explain_page.c: tilec explain --html: one file that needs nothing beside it: the page of driver/page with its style,
   its script and the data that it shows. */
#include "base/text.h"
#include "driver/explain.h"
#include "driver/pages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of a trace, and its tasks that a page shows; chosen: no measurement is recorded. */
enum { TRACE_LIMIT = 256 * 1024 * 1024, TRACE_TASKS = 20000 };

/* In a script element nothing may look like the end of it. */
static void add_json(Text *to, const json_t *data) {
    char *text = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(9));
    for (const char *p = text; p && *p;) {
        size_t n = strcspn(p, "<");
        text_add_n(to, p, n);
        if (p[n]) text_add(to, "\\u003c");
        p += n + (p[n] != 0);
    }
    free(text);
}

/* What stands for the mark <!-- NAME --> of the page. */
static void add_part(Text *to, const char *name, size_t n, const json_t *data) {
    if (n == 4 && memcmp(name, "data", 4) == 0)
        add_json(to, data);
    else
        text_add(to, page_text(name, n));
}

static Text page_of(const json_t *data) {
    Text page = {0};
    const char *rest = page_text("explain.html", strlen("explain.html"));
    for (const char *mark; (mark = strstr(rest, "<!-- ")); rest = strstr(mark, " -->") + strlen(" -->")) {
        text_add_n(&page, rest, (size_t)(mark - rest));
        add_part(&page, mark + strlen("<!-- "), strcspn(mark + strlen("<!-- "), " "), data);
    }
    text_add(&page, rest);
    return page;
}

static bool has_text(const json_t *o, const char *key, const char *text) {
    const char *value = json_string_value(json_object_get(o, key));
    return value && (!text || strcmp(value, text) == 0);
}

static bool is_task(const json_t *e) {
    return has_text(e, "ph", "X") && has_text(e, "name", NULL) && json_is_number(json_object_get(e, "ts")) &&
           json_is_number(json_object_get(e, "dur"));
}

static bool names_process(const json_t *e) {
    return has_text(e, "name", "process_name") && has_text(json_object_get(e, "args"), "name", NULL);
}

/* The events that the page shows; .tasks: how many tasks there are. */
static void put_events(json_t *data, const json_t *events) {
    json_t *shown = json_array();
    int tasks = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        json_t *e = json_array_get(events, i);
        if (is_task(e) ? tasks++ < TRACE_TASKS : names_process(e)) json_array_append(shown, e);
    }
    json_object_set_new(data, "trace", shown);
    json_object_set_new(data, "tasks", json_integer(tasks));
    json_object_set_new(data, "shown", json_integer(tasks < TRACE_TASKS ? tasks : TRACE_TASKS));
}

bool explain_trace(json_t *data, const char *path) {
    Text text = {0};
    const char *failed = path ? text_read(&text, path, TRACE_LIMIT) : NULL;
    json_t *trace = path && !failed ? json_loadb(text.p ? text.p : "", text.n, 0, NULL) : NULL;
    json_t *events = json_object_get(trace, "traceEvents");
    if (path && !failed && !json_is_array(events)) failed = "no trace of tilec run --trace";
    if (failed) fprintf(stderr, "tilec: error: cannot read %s: %s\n", path, failed);
    if (path && !failed) put_events(data, events);
    json_decref(trace);
    text_free(&text);
    return !failed;
}

/* As everywhere, - is standard output. */
static const char *page_write(const Text *page, const char *path) {
    if (strcmp(path, "-")) return text_write(page, path);
    bool good = fwrite(page->p, 1, page->n, stdout) == page->n && fflush(stdout) == 0;
    return good ? NULL : strerror(errno);
}

bool explain_page(const json_t *data, const char *path) {
    Text page = page_of(data);
    const char *failed = page_write(&page, path);
    if (failed) fprintf(stderr, "tilec: error: cannot write %s: %s\n", path, failed);
    text_free(&page);
    return !failed;
}
