// room.cpp: the answer's memory: expressions over the workgroup, the thread and loops, and places of the file.
#include "frontend/clang/eval.h"

#include <clang/Basic/SourceManager.h>
#include <cstring>

using namespace clang;

const HipExpr *Room::symbol(HipExprKind kind, int64_t number) const {
    HipExpr *e = static_cast<HipExpr *>(in.room(in.arena, sizeof *e));
    *e = {kind, number, nullptr, nullptr};
    return e;
}

const HipExpr *Room::number(int64_t x) const { return symbol(HIP_NUMBER, x); }

static int64_t divided(int64_t x, int64_t y) { return x / y - (x % y < 0); }

const HipExpr *Room::made(HipExprKind kind, const HipExpr *a, const HipExpr *b) const {
    const bool x = a->kind == HIP_NUMBER, y = b->kind == HIP_NUMBER;
    const int64_t m = a->number, n = b->number;
    if (x && y && (kind == HIP_ADD || kind == HIP_MUL)) return number(kind == HIP_ADD ? m + n : m * n);
    if (x && y && n > 0 && kind == HIP_DIV) return number(divided(m, n));
    if (x && y && n > 0 && kind == HIP_MOD) return number(m - n * divided(m, n));
    if (x && y && (kind == HIP_MIN || kind == HIP_MAX)) return number((m < n) == (kind == HIP_MIN) ? m : n);
    if ((x && m == 0 && kind == HIP_ADD) || (x && m == 1 && kind == HIP_MUL)) return b;
    if ((y && n == 0 && kind == HIP_ADD) || (y && n == 1 && (kind == HIP_MUL || kind == HIP_DIV))) return a;
    if (kind == HIP_MUL && ((x && m == 0) || (y && n == 0))) return number(0);
    HipExpr *e = static_cast<HipExpr *>(in.room(in.arena, sizeof *e));
    *e = {kind, 0, a, b};
    return e;
}

const char *Room::text(const std::string &s) const {
    return static_cast<const char *>(std::memcpy(in.room(in.arena, s.size() + 1), s.c_str(), s.size() + 1));
}

bool follows_block(const HipExpr *e) {
    return e && (e->kind == HIP_BLOCK || follows_block(e->a) || follows_block(e->b));
}

HipPlace place_of(const SourceManager &sm, SourceRange range, const Room &room) {
    const SourceLocation at = sm.getExpansionLoc(range.getBegin());
    if (sm.getFileID(at) != sm.getMainFileID()) return {0, 0, room.text(at.printToString(sm))};
    const unsigned begin = sm.getFileOffset(at);
    const SourceLocation last = sm.getExpansionRange(range.getEnd()).getEnd();
    const unsigned end = sm.getFileID(last) == sm.getMainFileID() ? sm.getFileOffset(last) : begin;
    return {begin, end > begin ? end + 1 : begin + 1, nullptr};
}
