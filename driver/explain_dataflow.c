/* explain_dataflow.c: the picture of a program's nodes in order: a card each, arcs for the tensors that they hand on, bars for
   predicted times. From the data of explain_data.c. */
#include "base/arena.h"
#include "driver/explain.h"
#include "driver/picture.h"

#include <math.h>
#include <string.h>

/* Pixels of a node, of the arcs left of it, of its card, and of the longest bar; letters that fit a card and a bar; chosen. */
enum { ROW = 46, LEFT = 190, CARD = 330, BAR = 260, CARD_LETTERS = 54, BAR_LETTERS = 60 };

static void add_tensor(Text *to, const json_t *t) {
    text_printf(to, "%s: %s[", data_text(t, "name"), data_text(t, "elem"));
    const json_t *dims = json_object_get(t, "dim");
    for (size_t i = 0; i < json_array_size(dims); i++) text_printf(to, "%s%s", i ? ", " : "", json_string_value(json_array_get(dims, i)));
    text_add(to, "]");
}

static const json_t *tensor_at(const json_t *program, const json_t *list, size_t i) {
    return json_array_get(json_object_get(program, "tensors"), (size_t)json_integer_value(json_array_get(list, i)));
}

/* An arc leaves the lower half of a card and reaches the upper half of another one. */
static void add_arc(Text *to, size_t from, size_t reader, const json_t *t) {
    const double y = ROW * (double)from + ROW / 2.0 + 8, y2 = ROW * (double)reader + ROW / 2.0 - 8;
    const double x = LEFT - fmin(18 + 9 * (double)(reader - from), LEFT - 14);
    Text told = {0};
    add_tensor(&told, t);
    text_printf(&told, ", %sB", short_text(data_number(t, "bytes")).p);
    text_printf(to, "<path class=\"arc\" data-nodes=\"%zu %zu\" d=\"M%d %g C%g %g %g %g %d %g\"><title>", from, reader, LEFT, y, x, y, x, y2, LEFT, y2);
    picture_words(to, told.p);
    text_add(to, "</title></path>\n");
    text_free(&told);
}

/* From the node that wrote a tensor last to each that reads it. */
static void add_arcs(Text *to, const json_t *program) {
    const json_t *nodes = json_object_get(program, "nodes");
    const size_t tensors = json_array_size(json_object_get(program, "tensors"));
    Arena *a = arena_new();
    size_t *writer = ARENA_ARRAY(a, size_t, tensors + 1); /* number of the node, and 1; 0: none */
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *reads = json_object_get(json_array_get(nodes, i), "reads"), *writes = json_object_get(json_array_get(nodes, i), "writes");
        for (size_t k = 0; k < json_array_size(reads); k++) {
            const size_t from = writer[json_integer_value(json_array_get(reads, k))];
            if (from) add_arc(to, from - 1, i, tensor_at(program, reads, k));
        }
        for (size_t k = 0; k < json_array_size(writes); k++) writer[json_integer_value(json_array_get(writes, k))] = i + 1;
    }
    arena_free(a);
}

/* "roles; i: 128 of M, j: * of N" */
static void add_plan(Text *to, const json_t *node) {
    const json_t *tiles = json_object_get(node, "tiles");
    text_add(to, data_text(node, "plan"));
    for (size_t i = 0; i < json_array_size(tiles); i++) {
        const json_t *t = json_array_get(tiles, i);
        const long long size = json_integer_value(json_object_get(t, "size"));
        text_printf(to, "%s%s: ", i ? ", " : "; ", data_text(t, "name"));
        size ? text_printf(to, "%lld", size) : text_add(to, "*");
        text_printf(to, " of %s", json_string_value(json_array_get(json_object_get(t, "of"), 0)));
    }
}

static void add_names(Text *outside, Text *told, const json_t *program, const json_t *list, const char *verb) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *t = tensor_at(program, list, i);
        if (strcmp(data_text(t, "role"), "between")) text_printf(outside, "%s%s", outside->n ? " " : "", data_text(t, "name"));
        text_printf(told, "%s%s ", told->n ? "\n" : "", verb);
        add_tensor(told, t);
    }
}

static void cut(Text *t, size_t n) {
    text_add(t, "");
    if (t->n > n) t->p[t->n = n] = 0;
}

static void add_card(Text *to, const json_t *program, size_t i, double most) {
    const json_t *node = json_array_get(json_object_get(program, "nodes"), i);
    const double y = ROW * (double)i + 4, us = data_number(node, "us"), bar = BAR * us / most;
    Text plan = {0}, outside = {0}, told = {0};
    add_plan(&plan, node);
    add_names(&outside, &told, program, json_object_get(node, "reads"), "reads");
    add_names(&outside, &told, program, json_object_get(node, "writes"), "writes");
    cut(&plan, CARD_LETTERS), cut(&outside, BAR_LETTERS);
    text_printf(to, "<g class=\"node\" data-node=\"%zu\"><title>", i);
    picture_words(to, text_str(&told));
    text_add(to, "</title>\n");
    picture_box(to, "card", (Box){LEFT, y, CARD, ROW - 8, 5}, NULL);
    picture_box(to, node_class(node), (Box){LEFT, y, 5, ROW - 8, 0}, NULL);
    picture_label(to, NULL, NULL, LEFT + 14, y + 16, data_text(node, "name"));
    picture_label(to, "soft", NULL, LEFT + 14, y + 31, text_str(&plan));
    picture_box(to, node_class(node), (Box){LEFT + CARD + 12, y + 8, fmax(bar, 1), 10, 2}, NULL);
    if (us > 0) picture_label(to, "soft", NULL, LEFT + CARD + 18 + bar, y + 17, time_text(us).p);
    picture_label(to, "soft", NULL, LEFT + CARD + 12, y + 32, text_str(&outside));
    text_add(to, "</g>\n");
    text_free(&plan), text_free(&outside), text_free(&told);
}

void picture_dataflow(Text *to, const json_t *data, const json_t *program) {
    (void)data;
    const json_t *nodes = json_object_get(program, "nodes");
    const size_t n = json_array_size(nodes);
    double most = 1e-9;
    for (size_t i = 0; i < n; i++) most = fmax(most, data_number(json_array_get(nodes, i), "us"));
    picture_open(to, LEFT + CARD + 340, ROW * (double)n, "nodes in order, and what they hand on");
    add_arcs(to, program);
    for (size_t i = 0; i < n; i++) add_card(to, program, i, most);
    picture_close(to);
}
