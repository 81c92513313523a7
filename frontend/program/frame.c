/* frame.c: what the names of a program's head stand for while a call of it is expanded. */
#include "frontend/program/program.h"

bool frame_dim(const Prog *c, Name name, Size *s) {
    for (int i = 0; c->frame && i < c->frame->bound.dim.n; i++)
        if (c->frame->bound.dim.p[i].name == name) return *s = c->frame->bound.dim.p[i].size, true;
    return false;
}

bool frame_elem(const Prog *c, Name name, Elem *e) {
    for (int i = 0; c->frame && i < c->frame->bound.elem.n; i++)
        if (c->frame->bound.elem.p[i].name == name) return *e = c->frame->bound.elem.p[i].elem, true;
    return elem_parse(name, e);
}
