/* axes.c: the mesh axes over which one dimension is split, major first, as one number.
   The first axis lies in the lowest two bits, 1 + the rest above them: a list of one axis is that axis. */
#include "ir/ir.h"

enum { AXIS_BITS = 2 };

int axes_first(int axes) { return axes < 0 ? -1 : axes & ((1 << AXIS_BITS) - 1); }

int axes_rest(int axes) { return axes < 0 ? -1 : (axes >> AXIS_BITS) - 1; }

int axes_last(int axes) { return axes_rest(axes) < 0 ? axes : axes_last(axes_rest(axes)); }

int axes_join(int axes, int more) {
    if (axes < 0) return more;
    return axes_first(axes) | (axes_join(axes_rest(axes), more) + 1) << AXIS_BITS;
}

int axes_without_last(int axes) {
    return axes_rest(axes) < 0 ? -1 : axes_join(axes_first(axes), axes_without_last(axes_rest(axes)));
}

bool axes_have(int axes, int axis) {
    return axes >= 0 && (axes_first(axes) == axis || axes_have(axes_rest(axes), axis));
}

bool axes_begin_with(int axes, int begin, int *rest) {
    *rest = axes;
    if (begin < 0) return true;
    return axes_first(axes) == axes_first(begin) && axes_begin_with(axes_rest(axes), axes_rest(begin), rest);
}

int64_t axes_ranks(const Module *m, int axes) {
    return axes < 0 ? 1 : m->axis.p[axes_first(axes)].ranks * axes_ranks(m, axes_rest(axes));
}

const char *size_split_text(const Module *m, Size s) {
    bool several = axes_rest(s.axis) >= 0;
    if (s.axis < 0) return "";
    return arena_format(m->arena, several ? " @ (%s)" : " @ %s", axes_text(m, s.axis, ", "));
}

const char *axes_text(const Module *m, int axes, const char *between) {
    const char *first = m->axis.p[axes_first(axes)].name;
    if (axes_rest(axes) < 0) return first;
    return arena_format(m->arena, "%s%s%s", first, between, axes_text(m, axes_rest(axes), between));
}
