/* explain_plots.c: the pictures of a program's times: the roofline, and what taxes and bounds take. From the data of
   explain_data.c; a picture that has nothing to show stays empty. */
#include "driver/explain.h"
#include "driver/picture.h"

#include <math.h>
#include <stdio.h>

/* ---- bars ---- */

/* Pixels of the names left of bars, of the longest bar, of a bar with its gap, and between rows; chosen. */
enum { BARS_LEFT = 140, BARS_WIDE = 480, BARS_ROW = 18, BARS_GAP = 10 };

static double most_of(const json_t *o, double most) {
    const char *name;
    json_t *us;
    json_object_foreach((json_t *)o, name, us) most = fmax(most, json_number_value(us));
    return most;
}

static void add_bar(Text *to, double y, double us, double most, const char *class) {
    const double w = BARS_WIDE * us / most;
    picture_box(to, class, (Box){BARS_LEFT, y, fmax(w, 1), 14, 2}, NULL);
    picture_label(to, "soft", NULL, BARS_LEFT + 8 + w, y + 11, time_text(us).p);
}

/* A row for each name; `other`: a second bar below, or NULL. */
static void add_bars(Text *to, const json_t *o, const json_t *other, const char *title) {
    if (!o) return;
    const double most = most_of(other, most_of(o, 1e-9)), each = BARS_ROW * (other ? 2 : 1) + BARS_GAP;
    picture_open(to, BARS_LEFT + BARS_WIDE + 140, each * (double)json_object_size(o), title);
    double y = 4;
    const char *name;
    json_t *us;
    json_object_foreach((json_t *)o, name, us) {
        picture_label(to, NULL, "end", BARS_LEFT - 10, y + 12, name);
        add_bar(to, y, json_number_value(us), most, other ? "plain" : "roles");
        if (other) add_bar(to, y + BARS_ROW, data_number(other, name), most, "roles");
        y += each;
    }
    picture_close(to);
}

void picture_taxes(Text *to, const json_t *data, const json_t *program) {
    (void)data;
    const json_t *both = json_object_get(program, "taxes");
    add_bars(to, json_array_get(both, 0), json_array_get(both, 1), "taxes as written and as compiled");
}

void picture_bounds(Text *to, const json_t *data, const json_t *program) {
    (void)data;
    add_bars(to, json_object_get(program, "bounds"), NULL, "times if one thing alone bounded the program");
}

/* ---- roofline ---- */

/* Both axes are logarithms: from and to are powers of ten. */
typedef struct {
    double products, memory;           /* operations and bytes a second */
    double x, x2, y, y2;               /* operations a byte, operations a second */
    double left, right, above, below;  /* pixels of the corners */
} Plot;

static double across(const Plot *p, double v) { return p->left + (p->right - p->left) * log10(v / p->x) / log10(p->x2 / p->x); }
static double up(const Plot *p, double v) { return p->below - (p->below - p->above) * log10(v / p->y) / log10(p->y2 / p->y); }
static double roof(const Plot *p, double intensity) { return fmin(p->products, intensity * p->memory); }
static double intensity_of(const json_t *node) { return data_number(node, "flop") / fmax(data_number(node, "bytes") + data_number(node, "linked"), 1); }
static double speed_of(const json_t *node) { return data_number(node, "flop") / data_number(node, "us") * 1e6; }
static bool on_plot(const json_t *node) { return data_number(node, "flop") > 0 && data_number(node, "us") > 0 && data_number(node, "bytes") > 0; }

/* Finds the largest values that the axes have to reach; false: no kernel is shown. */
static bool plot_fit(Plot *p, const json_t *nodes) {
    bool any = false;
    p->x = 1, p->x2 = 10 * p->products / p->memory, p->y = p->y2 = p->products;
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        if (!on_plot(node)) continue;
        any = true;
        p->x = fmin(p->x, intensity_of(node)), p->x2 = fmax(p->x2, intensity_of(node)), p->y = fmin(p->y, speed_of(node));
    }
    p->x = pow(10, floor(log10(p->x))), p->x2 = pow(10, ceil(log10(p->x2)));
    p->y = pow(10, floor(log10(p->y))), p->y2 = pow(10, ceil(log10(p->y2)));
    return any;
}

static void add_axes(Text *to, const Plot *p) {
    for (double v = p->x; v < p->x2 * 1.01; v *= 10) {
        picture_line(to, "axis", across(p, v), p->above, across(p, v), p->below);
        picture_label(to, "soft", "middle", across(p, v), p->below + 16, short_text(v).p);
    }
    for (double v = p->y; v < p->y2 * 1.01; v *= 10) {
        picture_line(to, "axis", p->left, up(p, v), p->right, up(p, v));
        picture_label(to, "soft", "end", p->left - 6, up(p, v) + 4, short_text(v).p);
    }
    picture_label(to, "soft", "middle", (p->left + p->right) / 2, p->below + 34, "operations of products a byte of memory");
    picture_label(to, "soft", NULL, p->left, p->above - 2, "operations a second");
}

static void add_roof(Text *to, const Plot *p) {
    const double low = fmax(p->x, p->y / p->memory), ridge = p->products / p->memory;
    text_printf(to, "<path class=\"roof\" d=\"M%.5g %.5g L%.5g %.5g L%.5g %.5g\"/>\n", across(p, low), up(p, roof(p, low)), across(p, ridge), up(p, p->products),
                p->right, up(p, p->products));
}

static void add_dot(Text *to, const Plot *p, const json_t *node, size_t i) {
    text_printf(to, "<circle class=\"%s\" data-node=\"%zu\" cx=\"%.5g\" cy=\"%.5g\" r=\"5\" fill-opacity=\".75\"><title>", node_class(node), i,
                across(p, intensity_of(node)), up(p, speed_of(node)));
    picture_words(to, data_text(node, "name"));
    text_printf(to, ": %.0f %% of the roof</title></circle>\n", 100 * speed_of(node) / roof(p, intensity_of(node)));
}

void picture_roofline(Text *to, const json_t *data, const json_t *program) {
    const json_t *machine = json_object_get(data, "machine"), *nodes = json_object_get(program, "nodes");
    Plot p = {.products = data_number(machine, "products"), .memory = data_number(machine, "memory"), .left = 70, .right = 800, .above = 14, .below = 340};
    if (!json_is_object(machine) || !plot_fit(&p, nodes)) return;
    picture_open(to, p.right + 20, p.below + 40, "speed over operations a byte");
    add_axes(to, &p);
    add_roof(to, &p);
    for (size_t i = 0; i < json_array_size(nodes); i++)
        if (on_plot(json_array_get(nodes, i))) add_dot(to, &p, json_array_get(nodes, i), i);
    picture_close(to);
}
