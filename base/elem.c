/* elem.c: facts about element types, from elem.def. */
#include "base/elem.h"

#include <string.h>

typedef struct {
    const char *text, *c;
    int bits;
} ElemInfo;

static const ElemInfo elem_info[ELEM_COUNT] = {
#define ELEM(name, text, bits, class, c) {text, c, bits},
#include "base/elem.def"
#undef ELEM
};

const char elem_class[ELEM_COUNT] = {
#define ELEM(name, text, bits, class, c) #class[0],
#include "base/elem.def"
#undef ELEM
};

const char *elem_text(Elem e) { return elem_info[e].text; }

int elem_bits(Elem e) { return elem_info[e].bits; }

bool elem_is_int(Elem e) { return elem_class[e] == 'I' || elem_class[e] == 'U'; }

bool elem_is_packed(Elem e) { return elem_bits(e) < 8; }

int elem_value_bits(Elem e) { return elem_is_packed(e) ? 8 : elem_bits(e); }

const char *elem_c(Elem e) { return elem_info[e].c; }

bool elem_parse(const char *text, Elem *e) {
    for (int i = 0; i < ELEM_COUNT; i++) {
        if (strcmp(elem_info[i].text, text) != 0) continue;
        *e = (Elem)i;
        return true;
    }
    return false;
}

Elem elem_arith(Elem e) {
    if (elem_is_float(e)) return elem_bits(e) <= 16 ? ELEM_F32 : e;
    return elem_is_int(e) && elem_bits(e) < 8 ? ELEM_I32 : e;
}

Elem elem_wider(Elem a, Elem b) {
    if (a == b) return a;
    if (elem_bits(a) != elem_bits(b)) return elem_bits(a) > elem_bits(b) ? a : b;
    return elem_is_float(a) ? ELEM_F32 : ELEM_I32;
}

bool elem_holds(Elem e, int64_t i) {
    if (e == ELEM_U8) return 0 <= i && i <= UINT8_MAX;
    int64_t past = elem_bits(e) < 64 ? (int64_t)1 << (elem_bits(e) - 1) : 0;
    return !past || (-past <= i && i < past);
}

Elem elem_to_hold(Elem e, int64_t i) {
    if (elem_holds(e, i)) return e;
    return elem_bits(e) < 32 && elem_holds(ELEM_I32, i) ? ELEM_I32 : ELEM_I64;
}

Elem elem_accum(Elem e) {
    if (elem_is_float(e)) return e == ELEM_F64 ? ELEM_F64 : ELEM_F32;
    return e == ELEM_I64 ? ELEM_I64 : ELEM_I32;
}
