/* relation_read.c: sets that relation_read makes of text are those that isl reads. usage: relation_read SETS SEED
   [FILE]: random sets; sets in a file, one a line. Prints how many, and how many of them were not left to isl. */
#include "ir/poly/isl_context.h"
#include "ir/poly/relation_read.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned long state;
    int inner; /* variables of `exists` around */
    Text text;
} Draw;

static int draw(Draw *d, int n) {
    d->state = d->state * 6364136223846793005UL + 1442695040888963407UL;
    return (int)((d->state >> 33) % (unsigned long)n);
}

static void draw_sum(Draw *, int depth);

static void draw_variable(Draw *d) {
    int n = draw(d, 6 + d->inner);
    if (n < 2)
        text_printf(&d->text, "n%d", n);
    else if (n < 6)
        text_printf(&d->text, "x%d", n - 2);
    else
        text_printf(&d->text, "e%d", n - 6);
}

static void draw_call(Draw *d, int depth, const char *before, const char *between, const char *after) {
    text_add(&d->text, before);
    draw_sum(d, depth - 1);
    text_add(&d->text, between);
    if (*between == ',')
        draw_sum(d, depth - 1);
    else
        text_printf(&d->text, "%d", 1 + draw(d, 7));
    text_add(&d->text, after);
}

static void draw_term(Draw *d, int depth) {
    switch (draw(d, depth > 0 ? 9 : 4)) {
    case 0: text_printf(&d->text, "%d", draw(d, 30)); return;
    case 1:
        text_printf(&d->text, "%d*", 1 + draw(d, 9));
        draw_variable(d);
        return;
    case 2:
        text_printf(&d->text, "-%d*(", 1 + draw(d, 9));
        draw_variable(d);
        text_add(&d->text, ")");
        return;
    case 4: draw_call(d, depth, "floor((", ")/", ")"); return;
    case 5: draw_call(d, depth, "((", ") mod ", ")"); return;
    case 6: draw_call(d, depth, "max(", ", ", ")"); return;
    case 7: draw_call(d, depth, "min(", ", ", ")"); return;
    case 8:
        text_add(&d->text, "(");
        draw_sum(d, depth - 1);
        text_add(&d->text, ")");
        return;
    default: draw_variable(d);
    }
}

static void draw_sum(Draw *d, int depth) {
    draw_term(d, depth);
    for (int n = draw(d, 3); n > 0; n--) {
        text_add(&d->text, draw(d, 2) ? " + " : " - ");
        draw_term(d, depth);
    }
}

static void draw_comparison(Draw *d) {
    static const char *const relation[] = {" < ", " <= ", " > ", " >= ", " = ", " != "};
    draw_sum(d, 1);
    for (int n = 1 + (draw(d, 4) == 0); n > 0; n--) {
        text_add(&d->text, relation[draw(d, 6)]);
        draw_sum(d, 1);
    }
}

static void draw_formula(Draw *d, int depth);

static void draw_exists(Draw *d, int depth) {
    text_printf(&d->text, "exists (e%d : 0 <= e%d < 9 and ", d->inner, d->inner);
    d->inner++;
    draw_formula(d, depth - 1);
    d->inner--;
    text_add(&d->text, ")");
}

static void draw_atom(Draw *d, int depth) {
    int kind = depth > 0 ? draw(d, 6) : 5;
    if (kind == 0) {
        draw_exists(d, depth);
        return;
    }
    text_add(&d->text, kind == 1 ? "(" : "");
    if (kind == 1)
        draw_formula(d, depth - 1);
    else
        draw_comparison(d);
    text_add(&d->text, kind == 1 ? ")" : "");
}

static void draw_formula(Draw *d, int depth) {
    draw_atom(d, depth);
    for (int n = draw(d, 3); n > 0; n--) {
        text_add(&d->text, draw(d, 4) ? " and " : " or ");
        draw_atom(d, depth);
    }
}

static void draw_set(Draw *d) {
    text_add(&d->text, "[n0, n1] -> { [x0, x1, x2, x3] : 0 <= n0 <= 20 and 0 <= n1 < 5 and -9 <= x0 < n0 and 0 <= x1 < "
                       "30 and 0 <= x2 < 4"
                       " and 2*x3 = x1 and (");
    draw_formula(d, 1);
    text_add(&d->text, ") }");
}

/* isl gives up at the limit on some of what is drawn. */
static bool same(isl_ctx *isl, const char *text, int *read, int *compared) {
    isl_set *ours = NULL;
    isl_ctx_reset_operations(isl);
    bool known = relation_read_affine(isl, text, &ours);
    isl_ctx_reset_operations(isl);
    isl_set *theirs = isl_set_read_from_str(isl, text);
    isl_bool equal = known ? isl_set_is_equal(ours, theirs) : isl_bool_true;
    *read += known;
    *compared += known && equal == isl_bool_true;
    if (equal == isl_bool_false) printf("differs: %s\n", text);
    isl_set_free(ours);
    isl_set_free(theirs);
    return equal != isl_bool_false;
}

static bool check_file(isl_ctx *isl, const char *path, int *n, int *read, int *compared) {
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    bool good = file != NULL;
    for (; file && getline(&line, &size, file) > 0; ++*n) {
        line[strcspn(line, "\n")] = 0;
        good = same(isl, line, read, compared) && good;
    }
    free(line);
    if (file) fclose(file);
    return good;
}

int main(int argc, char **argv) {
    enum { OPERATIONS = 100000 }; /* of isl, for a set: 10 ms */
    int sets = argc > 1 ? atoi(argv[1]) : 0, n = 0, read = 0, compared = 0;
    isl_ctx *isl = isl_context_open(OPERATIONS);
    Draw d = {.state = argc > 2 ? strtoul(argv[2], NULL, 10) : 1};
    bool good = argc < 4 || check_file(isl, argv[3], &n, &read, &compared);
    for (int i = 0; i < sets; i++, n++) {
        draw_set(&d);
        good = same(isl, text_str(&d.text), &read, &compared) && good;
        text_free(&d.text);
        d.text = (Text){0};
    }
    printf("%d sets, %d not left to isl, %d compared: %s\n", n, read, compared, good ? "equal" : "different");
    isl_context_close(isl);
    return good ? 0 : 1;
}
