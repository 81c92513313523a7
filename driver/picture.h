/* picture.h: parts of an SVG picture. Colours are classes of driver/page/picture.css; `told` is what the pointer shows, or NULL. */
#ifndef TILEC_DRIVER_PICTURE_H
#define TILEC_DRIVER_PICTURE_H

#include "base/text.h"

typedef struct {
    double x, y, w, h, round;
} Box;

typedef struct {
    char p[24];
} Short;

Short short_text(double);      /* 1234567 is 1.23 M */
Short time_text(double us);    /* 1230 is 1.23 ms */
double step_of(double length); /* 1, 2 or 5 times a power of ten: about an eighth */

void picture_open(Text *, double w, double h, const char *title);
void picture_close(Text *);
void picture_words(Text *, const char *); /* as XML has them */
void picture_box(Text *, const char *class, Box, const char *told);
void picture_line(Text *, const char *class, double x, double y, double x2, double y2);
void picture_label(Text *, const char *class, const char *anchor, double x, double y, const char *words);

#endif
