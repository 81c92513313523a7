/* train_tree.c: trains the tree of tilec tune --train, writes it, and says how it does. */
#include "driver/train.h"

#include "base/cart.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 5 }; /* levels of a tree: more than people want to read */
enum { NO_ARM = -1, FASTEST = -2, BY_TREE = -3 };

/* What the tree may ask: the features, and quotients of two where no sample has a divisor that is 0. */
typedef struct {
    const Samples *s;
    Words name;
    double *value; /* [samples][names] */
} Asked;

static bool is_judged(const Sample *x) { return strncmp(x->name, "test ", 5) == 0; }

static bool is_divisor(const Samples *s, int feature) {
    for (int i = 0; i < s->sample.n; i++)
        if (s->sample.p[i].feature[feature] == 0) return false;
    return true;
}

static Asked asked_of(Arena *a, const Samples *s) {
    Asked q = {.s = s};
    const int n = s->feature.n;
    q.value = ARENA_ARRAY(a, double, (size_t)s->sample.n *(size_t)(n * n) + 1);
    for (int i = 0; i < n; i++) vec_push(a, &q.name, s->feature.p[i]);
    for (int i = 0; i < n * n; i++)
        if (i / n != i % n && is_divisor(s, i % n))
            vec_push(a, &q.name, arena_format(a, "%s / %s", s->feature.p[i / n], s->feature.p[i % n]));
    for (int k = 0; k < s->sample.n; k++) {
        const double *x = s->sample.p[k].feature;
        double *to = q.value + (size_t)k * (size_t)q.name.n;
        for (int i = 0; i < n; i++) *to++ = x[i];
        for (int i = 0; i < n * n; i++)
            if (i / n != i % n && is_divisor(s, i % n)) *to++ = x[i / n] / x[i % n];
    }
    return q;
}

static double fastest_us(const Samples *s, const Sample *x) {
    double us = INFINITY;
    for (int i = 0; i < s->arm.n; i++) us = fmin(us, x->us[i]);
    return us;
}

/* What an arm takes longer than the fastest one, as a part of that. */
static CartTable table_of(Arena *a, const Asked *q) {
    const Samples *s = q->s;
    double *feature = ARENA_ARRAY(a, double, (size_t)s->sample.n *(size_t)q->name.n + 1);
    double *cost = ARENA_ARRAY(a, double, (size_t)s->sample.n *(size_t)s->arm.n + 1);
    CartTable t = {0, q->name.n, s->arm.n, feature, cost};
    for (int k = 0; k < s->sample.n; k++) {
        const Sample *x = &s->sample.p[k];
        if (is_judged(x)) continue;
        for (int i = 0; i < q->name.n; i++) *feature++ = q->value[k * q->name.n + i];
        for (int i = 0; i < s->arm.n; i++) *cost++ = x->us[i] / fastest_us(s, x) - 1;
        t.examples++;
    }
    return t;
}

/* ---- the text ---- */

/* With as few digits as say it, without an exponent where people would not write one. */
static const char *number_text(Arena *a, double x) {
    const char *text = "0";
    bool plain = fabs(x) >= 1e-4 && fabs(x) < 1e15;
    for (int digits = 1; digits <= 17 && (strtod(text, NULL) != x || (plain && strchr(text, 'e'))); digits++)
        text = arena_format(a, "%.*g", digits, x);
    return text;
}

static void tree_write(Arena *a, Text *to, const Asked *q, const Cart *c, int depth) {
    text_printf(to, "%*s", 2 * depth, "");
    while (c->choice < 0) {
        text_printf(to, "if %s <= %s\n", q->name.p[c->feature], number_text(a, c->limit));
        tree_write(a, to, q, c->low, depth + 1);
        text_printf(to, "%*selse%s", 2 * depth, "", c->high->choice < 0 ? " " : "\n");
        if (c->high->choice >= 0) text_printf(to, "%*s", 2 * depth + 2, "");
        c = c->high;
    }
    text_printf(to, "%s\n", q->s->arm.p[c->choice]);
}

/* ---- the report ---- */

static double us_of(const Asked *q, const Cart *tree, int sample, int arm) {
    const Sample *x = &q->s->sample.p[sample];
    if (arm == FASTEST) return fastest_us(q->s, x);
    return x->us[arm == BY_TREE ? cart_choice(tree, q->value + sample * q->name.n) : arm];
}

static void line_print(const Asked *q, const Cart *tree, bool judged, int arm, const char *name) {
    double logs = 0, sum = 0, best = 0;
    int n = 0;
    for (int k = 0; k < q->s->sample.n; k++) {
        if (is_judged(&q->s->sample.p[k]) != judged) continue;
        const double us = us_of(q, tree, k, arm), least = us_of(q, tree, k, FASTEST);
        logs += log(us / least), sum += us, best += least, n++;
    }
    if (n) printf("  %-16s %8.3f %8.3f\n", name, exp(logs / n), sum / best);
}

static void table_print(const Asked *q, const Cart *tree, bool judged) {
    int n = 0;
    for (int k = 0; k < q->s->sample.n; k++) n += is_judged(&q->s->sample.p[k]) == judged;
    if (!n) return;
    printf("%d samples that the tree %s: time by that of the fastest arm\n  %-16s %8s %8s\n", n,
           judged ? "did not see" : "was trained with", "", "geo.mean", "total");
    for (int i = 0; i < q->s->arm.n; i++) line_print(q, tree, judged, i, q->s->arm.p[i]);
    line_print(q, tree, judged, BY_TREE, "the tree");
}

bool samples_train(Arena *a, const Samples *s, const char *path) {
    const Asked q = asked_of(a, s);
    const CartTable t = table_of(a, &q);
    if (!t.examples) return fprintf(stderr, "tilec: error: no samples to train with\n"), false;
    const int depth = cart_depth(a, &t, MOST_DEPTH);
    const Cart *tree = cart_train(a, &t, depth);
    Text text = {0};
    text_printf(&text, "// Made by tilec tune --train of %d samples.\n", t.examples);
    tree_write(a, &text, &q, tree, 0);
    table_print(&q, tree, false);
    printf("  depth %d; samples left out in turn take %.3f times the fastest arm's time\n", depth,
           1 + cart_cross_cost(a, &t, depth) / t.examples);
    table_print(&q, tree, true);
    fputs(text_str(&text), stdout);
    const char *failed = text_write(&text, path);
    text_free(&text);
    if (failed) return fprintf(stderr, "tilec: error: cannot write %s: %s\n", path, failed), false;
    return printf("written to %s\n", path) > 0;
}
