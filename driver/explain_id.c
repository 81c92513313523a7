/* explain_id.c: tilec --explain=ID: what docs/reference/diagnostics.md says about the id of a message. */
#include "driver/options.h"
#include "driver/pages.h"

#include <stdio.h>
#include <string.h>

static const char heading[] = "\n## ";

const char *page_text(const char *path, size_t n) {
    int i = 0;
    while (strncmp(pages[i].path, path, n) || pages[i].path[n]) i++;
    return pages[i].text;
}

static const char *messages(void) { return page_text("diagnostics.md", strlen("diagnostics.md")); }

/* The section behind a heading, and how long it is; NULL: there is none. */
static const char *section_next(const char *p, size_t *n) {
    const char *from = strstr(p, heading);
    if (!from) return NULL;
    from += strlen(heading);
    const char *end = strstr(from, heading);
    *n = end ? (size_t)(end - from) : strlen(from);
    return from;
}

static const char *id_of(Arena *a, const char *section) { return arena_text(a, section, strcspn(section, "\n")); }

bool id_known(Arena *a, const char *wanted) {
    VEC(const char *) id = {0};
    size_t n;
    for (const char *s = messages(); (s = section_next(s, &n));) {
        vec_push(a, &id, id_of(a, s));
        if (strcmp(vec_last(&id), wanted) == 0) return true;
    }
    const char *near = spelling_nearest(wanted, id.p, id.n);
    fprintf(stderr, "tilec: error: no message has the id '%s'", wanted);
    fprintf(stderr, near ? "; did you mean '%s'?\n" : "\n", near);
    return false;
}

int explain_id(Options *o) {
    size_t n;
    if (!id_known(o->arena, o->explain)) return EXIT_USAGE;
    for (const char *s = messages(); (s = section_next(s, &n));) {
        size_t head = strcspn(s, "\n");
        if (strcmp(id_of(o->arena, s), o->explain)) continue;
        for (; s[head] == '\n'; head++) continue;
        fwrite(s + head, 1, n - head, stdout);
        if (s[n - 1] != '\n') putchar('\n');
        break;
    }
    return EXIT_OK;
}
