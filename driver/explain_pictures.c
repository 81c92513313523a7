/* explain_pictures.c: the pictures of `tilec explain`, for its page and as files of --svg. */
#include "driver/emit.h"
#include "driver/explain.h"
#include "driver/pages.h"
#include "driver/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each adds nothing where it has nothing to show. */
static const struct {
    const char *name;
    void (*draw)(Text *, const json_t *data, const json_t *program);
} picture[] = {{"dataflow", picture_dataflow}, {"time", picture_time},     {"trace", picture_trace},
               {"taxes", picture_taxes},       {"bounds", picture_bounds}, {"roofline", picture_roofline}};

enum { PICTURES = sizeof picture / sizeof *picture };

static json_t *pictures_of(const json_t *data, const json_t *program) {
    json_t *all = json_object();
    for (int i = 0; i < PICTURES; i++) {
        Text svg = {0};
        picture[i].draw(&svg, data, program);
        if (svg.n) json_object_set_new(all, picture[i].name, json_string(svg.p));
        text_free(&svg);
    }
    return all;
}

void pictures_add(json_t *data) {
    size_t i;
    json_t *program;
    json_array_foreach(json_object_get(data, "programs"), i, program) json_object_set_new(program, "pictures", pictures_of(data, program));
    json_object_del(data, "trace"); /* it is drawn */
}

/* The style follows the opening tag. */
static void file_add(Text *to, const char *svg) {
    const char *inside = strchr(svg, '\n') + 1;
    text_add_n(to, svg, (size_t)(inside - svg));
    text_printf(to, "<style>\n%s</style>\n%s", page_text("picture.css", strlen("picture.css")), inside);
}

bool pictures_write(const Session *s, const json_t *data, const char *folder) {
    VEC(OutFile) file = {0};
    size_t i;
    const json_t *program;
    json_array_foreach(json_object_get(data, "programs"), i, program) {
        const char *name;
        json_t *svg;
        json_object_foreach(json_object_get(program, "pictures"), name, svg) {
            Text *text = ARENA_NEW(s->arena, Text);
            file_add(text, json_string_value(svg));
            vec_push(s->arena, &file, ((OutFile){text, arena_format(s->arena, "%s/%s.%s.svg", folder, data_text(program, "name"), name)}));
        }
    }
    const char *culprit = folder, *failed = folder_make(s->arena, folder);
    if (!failed) failed = files_write(file.p, file.n, &culprit);
    if (failed) fprintf(stderr, "tilec: error: cannot write %s: %s\n", culprit, failed);
    for (int k = 0; k < file.n; k++) free((void *)file.p[k].text->p);
    return !failed;
}
