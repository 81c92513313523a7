/* picture.c: parts of an SVG picture, and numbers as people write them. */
#include "driver/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static Short scaled(double n, const char *unit) {
    Short s;
    char number[16];
    snprintf(number, sizeof number, "%.3g", n);
    if (strchr(number, 'e') && fabs(n) >= 1) snprintf(number, sizeof number, "%.0f", n); /* 999.9 */
    snprintf(s.p, sizeof s.p, "%s%s", number, unit);
    return s;
}

Short short_text(double n) {
    static const struct {
        double least;
        const char *unit;
    } step[] = {{1e15, " P"}, {1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
    for (size_t i = 0; i < sizeof step / sizeof *step; i++)
        if (fabs(n) >= step[i].least) return scaled(n / step[i].least, step[i].unit);
    return scaled(n, "");
}

Short time_text(double us) {
    if (us >= 1e6) return scaled(us / 1e6, " s");
    return us >= 1e3 ? scaled(us / 1e3, " ms") : scaled(us, " us");
}

double step_of(double length) {
    const double power = pow(10, floor(log10(length / 8)));
    for (double k = 1; k < 10; k = k == 2 ? 5 : 2 * k)
        if (k * power >= length / 8) return k * power;
    return 10 * power;
}

void picture_words(Text *to, const char *s) {
    for (; *s; s++) {
        const char *name = *s == '&' ? "&amp;" : *s == '<' ? "&lt;" : *s == '"' ? "&quot;" : NULL;
        name ? text_add(to, name) : text_add_n(to, s, 1);
    }
}

void picture_open(Text *to, double w, double h, const char *title) {
    text_printf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" role=\"img\" aria-label=\"", w, h, w, h);
    picture_words(to, title);
    text_add(to, "\">\n");
}

void picture_close(Text *to) { text_add(to, "</svg>\n"); }

void picture_box(Text *to, const char *class, Box b, const char *told) {
    text_printf(to, "<rect class=\"%s\" x=\"%.6g\" y=\"%.6g\" width=\"%.4g\" height=\"%g\"", class, b.x, b.y, b.w, b.h);
    if (b.round > 0) text_printf(to, " rx=\"%g\"", b.round);
    text_add(to, told ? "><title>" : "/>\n");
    if (!told) return;
    picture_words(to, told);
    text_add(to, "</title></rect>\n");
}

void picture_line(Text *to, const char *class, double x, double y, double x2, double y2) {
    text_printf(to, "<line class=\"%s\" x1=\"%.5g\" y1=\"%.5g\" x2=\"%.5g\" y2=\"%.5g\"/>\n", class, x, y, x2, y2);
}

void picture_label(Text *to, const char *class, const char *anchor, double x, double y, const char *words) {
    text_printf(to, "<text x=\"%.6g\" y=\"%.6g\"", x, y);
    if (class) text_printf(to, " class=\"%s\"", class);
    if (anchor) text_printf(to, " text-anchor=\"%s\"", anchor);
    text_add(to, ">");
    picture_words(to, words);
    text_add(to, "</text>\n");
}
