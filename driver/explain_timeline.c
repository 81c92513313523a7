/* explain_timeline.c: the pictures of what runs when: predicted, node after node as a GPU's queue runs them, and measured tasks of
   a trace of `tilec run --trace`. */
#include "base/vec.h"
#include "driver/explain.h"
#include "driver/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pixels of the whole, of the names of lanes, of a lane, and of a letter inside a bar; chosen. */
enum { WIDE = 1100, LANE_LEFT = 90, LANE = 22, LETTER = 7 };

typedef struct {
    double total; /* us */
    size_t lanes;
} TimeAxis;

static double at_time(const TimeAxis *a, double us) { return LANE_LEFT + (WIDE - LANE_LEFT - 10) * us / a->total; }

static void open_lanes(Text *to, const TimeAxis *a, const char *title) {
    picture_open(to, WIDE, LANE * (double)a->lanes + 30, title);
    const double bottom = LANE * (double)a->lanes;
    for (double t = 0, by = step_of(a->total); t <= a->total; t += by) {
        picture_line(to, "axis", at_time(a, t), 0, at_time(a, t), bottom + 6);
        picture_label(to, "soft", NULL, at_time(a, t), bottom + 22, time_text(t).p);
    }
}

static void add_lane(Text *to, size_t lane, const char *name) { picture_label(to, "soft", NULL, 0, LANE * (double)lane + 15, name); }

/* With its name inside, where that fits. */
static void add_span(Text *to, const TimeAxis *a, size_t lane, const char *class, const char *name, double from, double us) {
    const double x = at_time(a, from), w = fmax(at_time(a, from + us) - x, .5), y = LANE * (double)lane;
    const int fits = (int)(w / LETTER) - 1;
    Text told = {0}, inside = {0};
    text_printf(&told, "%s: %s", name, time_text(us).p);
    picture_box(to, class, (Box){x, y + 3, w, LANE - 6, 1}, told.p);
    if (fits > 3) {
        text_printf(&inside, "%.*s", fits, name);
        picture_label(to, "inside", NULL, x + 4, y + 15, inside.p);
    }
    text_free(&told), text_free(&inside);
}

void picture_time(Text *to, const json_t *data, const json_t *program) {
    (void)data;
    const json_t *nodes = json_object_get(program, "nodes");
    double total = 0, from = 0;
    for (size_t i = 0; i < json_array_size(nodes); i++) total += data_number(json_array_get(nodes, i), "us");
    if (total <= 0) return;
    const TimeAxis a = {total, 1};
    open_lanes(to, &a, "predicted times, node after node");
    add_lane(to, 0, "one by one");
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        add_span(to, &a, 0, node_class(node), data_text(node, "name"), from, data_number(node, "us"));
        from += data_number(node, "us");
    }
    picture_close(to);
}

/* ---- a trace ---- */

typedef struct {
    const json_t *pid, *tid;
    const char *name;
} Lane;

typedef struct {
    Arena *arena;
    VEC(Lane) lane;
} Lanes;

static bool is_task(const json_t *e) { return !strcmp(data_text(e, "ph"), "X"); }

static const char *process_of(const json_t *events, const json_t *pid) {
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *e = json_array_get(events, i);
        if (!is_task(e) && json_equal(json_object_get(e, "pid"), pid)) return data_text(json_object_get(e, "args"), "name");
    }
    return "";
}

static const char *lane_name(Arena *a, const json_t *events, const json_t *pid, const json_t *tid) {
    char *number = json_dumps(tid, JSON_ENCODE_ANY);
    const char *name = arena_format(a, "%s \302\267 %s", process_of(events, pid), number ? number : "");
    free(number);
    return name;
}

/* The number of the lane of a thread of a process. */
static size_t lane_of(Lanes *l, const json_t *events, const json_t *e) {
    const json_t *pid = json_object_get(e, "pid"), *tid = json_object_get(e, "tid");
    for (int i = 0; i < l->lane.n; i++)
        if (json_equal(l->lane.p[i].pid, pid) && json_equal(l->lane.p[i].tid, tid)) return (size_t)i;
    vec_push(l->arena, &l->lane, ((Lane){pid, tid, lane_name(l->arena, events, pid, tid)}));
    return (size_t)l->lane.n - 1;
}

static double waited(const json_t *e) { return data_number(json_object_get(e, "args"), "waited_us"); }

/* From the first task's begin to the last one's end. */
static TimeAxis axis_of(const json_t *events, Lanes *lanes, double *begin) {
    double end = -INFINITY;
    *begin = INFINITY;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *e = json_array_get(events, i);
        if (!is_task(e)) continue;
        *begin = fmin(*begin, data_number(e, "ts")), end = fmax(end, data_number(e, "ts") + data_number(e, "dur"));
        lane_of(lanes, events, e);
    }
    return (TimeAxis){fmax(end - *begin, 1e-9), (size_t)lanes->lane.n};
}

void picture_trace(Text *to, const json_t *data, const json_t *program) {
    (void)program;
    const json_t *events = json_object_get(data, "trace");
    Lanes lanes = {.arena = arena_new()};
    double begin;
    const TimeAxis a = axis_of(events, &lanes, &begin);
    if (a.lanes) open_lanes(to, &a, "measured tasks, red where they waited");
    for (size_t i = 0; i < a.lanes; i++) add_lane(to, i, lanes.lane.p[i].name);
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *e = json_array_get(events, i);
        if (!is_task(e)) continue;
        const size_t lane = lane_of(&lanes, events, e);
        const double from = data_number(e, "ts") - begin;
        add_span(to, &a, lane, "roles", data_text(e, "name"), from, data_number(e, "dur"));
        if (waited(e) > 0) add_span(to, &a, lane, "wait", "waits", from, waited(e));
    }
    if (a.lanes) picture_close(to);
    arena_free(lanes.arena);
}
