/* type.c: types of values: an element type and a set of ranges in ascending order. */
#include "ir/ir.h"
#include "base/require.h"

Type type_scalar(Elem e) { return (Type){.elem = e}; }

bool type_has(Type t, int range) {
    for (int i = 0; i < t.nrange; i++)
        if (t.range[i] == range) return true;
    return false;
}

Type type_with(Type t, int range) {
    if (type_has(t, range)) return t;
    REQUIRE(t.nrange < MAX_RANGES);
    int at = t.nrange++;
    for (; at > 0 && t.range[at - 1] > range; at--) t.range[at] = t.range[at - 1];
    t.range[at] = (int16_t)range;
    return t;
}

Type type_without(Type t, int range) {
    Type r = type_scalar(t.elem);
    for (int i = 0; i < t.nrange; i++)
        if (t.range[i] != range) r.range[r.nrange++] = t.range[i];
    return r;
}

Type type_union(Type a, Type b) {
    for (int i = 0; i < b.nrange; i++) a = type_with(a, b.range[i]);
    return a;
}

bool type_covers(Type a, Type b) {
    for (int i = 0; i < b.nrange; i++)
        if (!type_has(a, b.range[i])) return false;
    return true;
}

bool type_equal(Type a, Type b) { return a.elem == b.elem && a.nrange == b.nrange && type_covers(a, b); }
