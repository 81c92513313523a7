// eval.cpp: expressions of a kernel: integers and pointers by symbols, and the accesses that they make.
#include "frontend/clang/eval.h"

#include <clang/AST/RecordLayout.h>
#include <clang/Basic/SourceManager.h>
#include <cstring>

using namespace clang;

// Functions in functions; words of an expression. Chosen: no kernel is known to need more.
enum { MOST_CALLS = 32, MOST_WORDS = 256 };

Evaluator::Evaluator(ASTContext &ast, const HipInput &in, const Room &room) : ast(ast), in(in), room(room) {}

// ---- what is not known ----

Value Evaluator::lost(Unknown reason, const std::string &why, bool follows) const {
    Value v;
    v.reason = reason, v.why = why, v.follows_block = follows;
    return v;
}

bool value_follows_block(const Value &v) { return v.kind == Value::unknown ? v.follows_block : follows_block(v.at); }

// Of two operands, of which one is not known.
Value Evaluator::lost_from(const Value &a, const Value &b) const {
    Value v = a.kind != Value::unknown ? b : b.kind != Value::unknown || a.reason >= b.reason ? a : b;
    v.kind = Value::unknown;
    v.follows_block = value_follows_block(a) || value_follows_block(b);
    return v;
}

static bool is_short(const HipExpr *e, int *left) {
    return !e || ((*left)-- > 0 && is_short(e->a, left) && is_short(e->b, left));
}

// x += x >> 3 and the like double an expression each time.
Value Evaluator::kept(const Value &v) const {
    int left = MOST_WORDS;
    return is_short(v.at, &left) ? v : lost(Unknown::data, "its expression is too long", true);
}

void Evaluator::refuse(const std::string &why, SourceRange at) {
    if (refused.empty()) refused = why, refused_at = at;
}

// ---- variables ----

bool Evaluator::is_tracked(QualType t) const {
    t = t.getNonReferenceType();
    return t->isIntegralOrEnumerationType() || t->isPointerType() || t->isDependentType();
}

int64_t Evaluator::size_of(QualType t) const {
    t = t.getNonReferenceType();
    if (t->isDependentType() || t->isIncompleteType() || t->isFunctionType()) return 1;
    return ast.getTypeSizeInChars(t).getQuantity();
}

static bool given(const HipInput &in, StringRef name, int64_t *value) {
    for (int i = 0; i < in.ndefine; i++)
        if (name == in.define[i].name) return *value = in.define[i].value, true;
    return false;
}

Value Evaluator::variable_value(const ValueDecl *d) {
    Value v;
    int64_t n;
    if (const auto *t = dyn_cast<NonTypeTemplateParmDecl>(d)) {
        if (!given(in, t->getName(), &n))
            return lost(Unknown::missing, "'" + t->getNameAsString() + "' is not known: -D gives it", false);
        v.kind = Value::integer, v.at = room.number(n);
        return v;
    }
    const auto *var = dyn_cast<VarDecl>(d);
    if (!var) return lost(Unknown::data, "'" + d->getNameAsString() + "' is no variable", false);
    const auto at = variable.find(var);
    if (at != variable.end()) return at->second.kind == Value::alias ? variable_value(at->second.of) : at->second;
    if (var->getType()->isArrayType()) { // of the workgroup, the thread or the module
        v.kind = Value::pointer, v.at = room.number(0);
        return v;
    }
    if (var->getInit() && var->getType().isConstQualified() && depth < MOST_CALLS) {
        depth++;
        v = evaluate(var->getInit());
        depth--;
        return v;
    }
    return lost(Unknown::data, "'" + var->getNameAsString() + "' has no value that is followed", false);
}

// The variable that an lvalue names; NULL: memory.
const VarDecl *Evaluator::variable_of(const Expr *e) {
    const auto *ref = dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts());
    const auto *var = ref ? dyn_cast<VarDecl>(ref->getDecl()) : nullptr;
    for (auto at = variable.find(var); var && at != variable.end() && at->second.kind == Value::alias;
         at = variable.find(var))
        var = at->second.of;
    return var;
}

// threadIdx.x and the like; unknown without a reason: something else.
Value Evaluator::builtin(const Expr *base, StringRef member) {
    const auto *ref = dyn_cast<DeclRefExpr>(base->IgnoreParenImpCasts());
    Value v;
    if (!ref || member.size() != 1 || member[0] < 'x' || member[0] > 'z' || !isa<VarDecl>(ref->getDecl())) return v;
    const StringRef name = ref->getDecl()->getName();
    const int axis = member[0] - 'x';
    const bool is_grid = name == "gridDim", is_block = name == "blockDim";
    if (name == "blockIdx" || name == "threadIdx")
        v.at = room.symbol(name == "blockIdx" ? HIP_BLOCK : HIP_THREAD, axis);
    else if ((is_grid && grid[axis]) || (is_block && block[axis]))
        v.at = room.number(is_grid ? grid[axis] : block[axis]);
    else if (is_grid || is_block)
        return lost(Unknown::missing, name.str() + " is not known: --" + (is_grid ? "grid" : "block") + " gives it",
                    false);
    else
        return v;
    v.kind = Value::integer;
    return v;
}

// ---- memory ----

Value Evaluator::moved(const Value &p, const Value &by, int64_t bytes, int sign) {
    if (p.kind == Value::pointer && p.param < 0) return p; // where in the workgroup's own memory does not matter
    if (p.kind != Value::pointer || by.kind != Value::integer) return lost_from(p, by);
    Value v = p;
    v.at = room.made(HIP_ADD, p.at, room.made(HIP_MUL, by.at, room.number(sign * bytes)));
    return v;
}

// The place that an lvalue names, as a pointer.
Value Evaluator::lvalue(const Expr *e) {
    e = e->IgnoreParens();
    if (const auto *cast = dyn_cast<CastExpr>(e)) return lvalue(cast->getSubExpr());
    if (const auto *sub = dyn_cast<ArraySubscriptExpr>(e)) {
        const Value base = evaluate(sub->getBase()), index = evaluate(sub->getIdx());
        return moved(base, index, size_of(sub->getType()), 1);
    }
    if (const auto *star = dyn_cast<UnaryOperator>(e); star && star->getOpcode() == UO_Deref)
        return evaluate(star->getSubExpr());
    if (const auto *member = dyn_cast<MemberExpr>(e)) {
        const auto *field = dyn_cast<FieldDecl>(member->getMemberDecl());
        Value base = member->isArrow() ? evaluate(member->getBase()) : lvalue(member->getBase());
        if (base.kind != Value::pointer || !field || field->getParent()->isDependentType()) return base;
        const uint64_t bits = ast.getASTRecordLayout(field->getParent()).getFieldOffset(field->getFieldIndex());
        base.at = room.made(HIP_ADD, base.at, room.number(static_cast<int64_t>(bits / 8)));
        return base;
    }
    if (isa<DeclRefExpr>(e)) { // memory of the thread
        Value v;
        v.kind = Value::pointer, v.at = room.number(0);
        return v;
    }
    return evaluate(e);
}

void Evaluator::access(const Value &p, QualType type, bool write, const Expr *e) {
    if (p.kind == Value::pointer && p.param < 0) return;
    HipAccess a = {p.param,
                   write,
                   static_cast<int>(size_of(type)),
                   p.at,
                   nullptr,
                   loop,
                   place_of(ast.getSourceManager(), e->getSourceRange(), room)};
    if (p.kind != Value::pointer) {
        if (p.why.empty()) return;
        if (p.reason != Unknown::data) refuse(p.why, e->getSourceRange());
        a.at = nullptr, a.why = room.text(p.why);
    }
    for (const HipAccess &old : accesses)
        if (old.place.begin == a.place.begin && old.place.end == a.place.end && old.write == write &&
            old.loop == loop && !old.at && !a.at)
            return;
    accesses.push_back(a);
}

Value Evaluator::load(const Expr *e) {
    const Value p = lvalue(e);
    access(p, e->getType(), false, e);
    return lost(Unknown::data, "it follows from what memory holds", value_follows_block(p));
}

void Evaluator::store(const Expr *to, const Value &value, bool reads) {
    if (const VarDecl *var = variable_of(to)) {
        if (is_tracked(var->getType())) variable[var] = kept(value);
        return;
    }
    const Value p = lvalue(to);
    if (reads) access(p, to->getType(), false, to);
    access(p, to->getType(), true, to);
}

// ---- operators ----

Value Evaluator::combine(BinaryOperatorKind op, const Value &a, const Value &b, const Expr *e) {
    Value v;
    if (a.kind == Value::pointer && b.kind != Value::pointer)
        return moved(a, b, size_of(e->getType()->isPointerType() ? e->getType()->getPointeeType() : ast.CharTy),
                     op == BO_Sub ? -1 : 1);
    if (b.kind == Value::pointer && op == BO_Add) return moved(b, a, size_of(e->getType()->getPointeeType()), 1);
    if (a.kind != Value::integer || b.kind != Value::integer) return lost_from(a, b);
    const HipExpr *x = a.at, *y = b.at;
    const bool number = y->kind == HIP_NUMBER;
    v.kind = Value::integer;
    switch (op) {
    case BO_Add: v.at = room.made(HIP_ADD, x, y); return v;
    case BO_Sub: v.at = room.made(HIP_ADD, x, room.made(HIP_MUL, y, room.number(-1))); return v;
    case BO_Mul: v.at = room.made(HIP_MUL, x, y); return v;
    case BO_Div: v.at = room.made(HIP_DIV, x, y); return v;
    case BO_Rem: v.at = room.made(HIP_MOD, x, y); return v;
    case BO_Shl:
        if (number && y->number >= 0 && y->number < 40)
            return v.at = room.made(HIP_MUL, x, room.number(INT64_C(1) << y->number)), v;
        break;
    case BO_Shr:
        if (number && y->number >= 0 && y->number < 40)
            return v.at = room.made(HIP_DIV, x, room.number(INT64_C(1) << y->number)), v;
        break;
    case BO_And:
        if (number && y->number >= 0 && (y->number & (y->number + 1)) == 0)
            return v.at = room.made(HIP_MOD, x, room.number(y->number + 1)), v;
        break;
    default: break;
    }
    const bool follows = follows_block(x) || follows_block(y);
    return lost(follows ? Unknown::block : Unknown::data,
                std::string("operator ") + BinaryOperator::getOpcodeStr(op).str() + " is not followed", follows);
}

Value Evaluator::assign(const BinaryOperator *e) {
    Value value = evaluate(e->getRHS());
    if (e->isCompoundAssignmentOp()) {
        const VarDecl *var = variable_of(e->getLHS());
        if (var)
            value = combine(BinaryOperator::getOpForCompoundAssignment(e->getOpcode()), variable_value(var), value,
                            e->getLHS());
    }
    store(e->getLHS(), value, e->isCompoundAssignmentOp());
    return value;
}

Value Evaluator::binary(const BinaryOperator *e) {
    if (e->isAssignmentOp()) return assign(e);
    const Value a = evaluate(e->getLHS()), b = evaluate(e->getRHS());
    if (e->getOpcode() == BO_Comma) return b;
    if (e->isComparisonOp() || e->isLogicalOp())
        return lost(Unknown::data, "it is a comparison", value_follows_block(a) || value_follows_block(b));
    return combine(e->getOpcode(), a, b, e);
}

Value Evaluator::unary(const UnaryOperator *e) {
    const Expr *sub = e->getSubExpr();
    if (e->getOpcode() == UO_AddrOf) return lvalue(sub);
    if (e->getOpcode() == UO_Deref) return load(e);
    if (e->isIncrementDecrementOp()) {
        Value one;
        one.kind = Value::integer, one.at = room.number(1);
        const VarDecl *var = variable_of(sub);
        const Value before = var ? variable_value(var) : of_data(sub);
        const Value after = combine(e->isIncrementOp() ? BO_Add : BO_Sub, before, one, sub);
        store(sub, after, true);
        return e->isPrefix() ? after : before;
    }
    Value v = evaluate(sub);
    if (e->getOpcode() == UO_Plus || e->getOpcode() == UO_Extension) return v;
    if (e->getOpcode() == UO_Minus && v.kind == Value::integer)
        return v.at = room.made(HIP_MUL, v.at, room.number(-1)), v;
    return lost(Unknown::data, "operator " + UnaryOperator::getOpcodeStr(e->getOpcode()).str() + " is not followed",
                value_follows_block(v));
}

// a < b ? a : b, or what is the same on both sides.
Value Evaluator::choose(const ConditionalOperator *e) {
    int64_t n;
    if (number_of(e->getCond(), &n)) return evaluate(n ? e->getTrueExpr() : e->getFalseExpr());
    const Value when = evaluate(e->getCond()), a = evaluate(e->getTrueExpr()), b = evaluate(e->getFalseExpr());
    if (a.kind == Value::integer && b.kind == Value::integer) {
        const auto *compare = dyn_cast<BinaryOperator>(e->getCond()->IgnoreParenImpCasts());
        if (a.at->kind == HIP_NUMBER && b.at->kind == HIP_NUMBER && a.at->number == b.at->number) return a;
        if (compare && compare->isRelationalOp()) {
            llvm::FoldingSetNodeID left, yes;
            compare->getLHS()->IgnoreParenImpCasts()->Profile(left, ast, true);
            e->getTrueExpr()->IgnoreParenImpCasts()->Profile(yes, ast, true);
            const bool less = compare->getOpcode() == BO_LT || compare->getOpcode() == BO_LE;
            Value v = a;
            v.at = room.made(less == (left == yes) ? HIP_MIN : HIP_MAX, a.at, b.at);
            return v;
        }
    }
    const bool follows = value_follows_block(when);
    return lost(follows ? Unknown::block : Unknown::data, "it is chosen by a condition",
                follows || value_follows_block(a) || value_follows_block(b));
}

Value Evaluator::of_data(const Expr *e) {
    bool follows = false;
    for (const Stmt *child : e->children())
        if (const auto *sub = dyn_cast_or_null<Expr>(child)) follows |= value_follows_block(evaluate(sub));
    return lost(Unknown::data, "it is not followed", follows);
}

// ---- calls ----

Value Evaluator::inlined(const FunctionDecl *f, const CallExpr *e, unsigned first) {
    if (depth >= MOST_CALLS) return refuse("its functions call each other too deep", e->getSourceRange()), Value();
    for (unsigned i = 0; i < f->getNumParams() && i + first < e->getNumArgs(); i++) {
        const ParmVarDecl *p = f->getParamDecl(i);
        const Expr *arg = e->getArg(i + first);
        const VarDecl *var = p->getType()->isReferenceType() ? variable_of(arg) : nullptr;
        Value v;
        if (var && is_tracked(var->getType()))
            v.kind = Value::alias, v.of = var;
        else
            v = p->getType()->isReferenceType() && !is_tracked(p->getType()) ? lvalue(arg) : evaluate(arg);
        if (v.kind == Value::alias && v.of == p) continue;
        variable[p] = kept(v);
    }
    const bool had = has_returned, was = ended;
    const Value before = returned;
    has_returned = ended = false;
    depth++;
    execute(f->getBody());
    depth--;
    const Value result = has_returned ? returned : Value();
    returned = before, has_returned = had, ended = was;
    return result;
}

static bool is_min_or_max(StringRef name, HipExprKind *kind) {
    const bool least = name == "min" || name == "umin" || name == "ullmin",
               most = name == "max" || name == "umax" || name == "ullmax";
    *kind = least ? HIP_MIN : HIP_MAX;
    return least || most;
}

Value Evaluator::call(const CallExpr *e) {
    const FunctionDecl *f = e->getDirectCallee(), *body = nullptr;
    const StringRef name = f && f->getIdentifier() ? f->getName() : StringRef();
    HipExprKind kind;
    if (const auto *c = dyn_cast<CXXMemberCallExpr>(e); c && isa_and_nonnull<CXXConversionDecl>(f))
        if (const auto *m = dyn_cast<MemberExpr>(c->getImplicitObjectArgument()->IgnoreParenImpCasts())) {
            const Value v = builtin(m->getBase(), m->getMemberDecl()->getName()); // ROCm's blockIdx.x is a structure
            if (v.kind == Value::integer || !v.why.empty()) return v;
        }
    if (is_min_or_max(name, &kind) && e->getNumArgs() == 2) {
        Value a = evaluate(e->getArg(0)), b = evaluate(e->getArg(1));
        if (a.kind != Value::integer || b.kind != Value::integer) return lost_from(a, b);
        return a.at = room.made(kind, a.at, b.at), a;
    }
    if (const auto *m = dyn_cast_or_null<CXXMethodDecl>(f);
        m && m->isDefaulted() && isa<CXXOperatorCallExpr>(e) && e->getNumArgs() == 2) {
        const Value value = evaluate(e->getArg(1)); // a structure is copied
        return store(e->getArg(0), value, false), value;
    }
    if (f && f->hasBody(body) && !f->isVariadic())
        return inlined(body, e, isa<CXXOperatorCallExpr>(e) && isa<CXXMethodDecl>(f) ? 1 : 0);
    bool follows = false;
    for (const Expr *arg : e->arguments()) {
        const Value v = evaluate(arg);
        const QualType t = arg->getType();
        follows |= value_follows_block(v);
        if (!t->isPointerType() || v.kind != Value::pointer) continue;
        access(v, t->getPointeeType(), false, arg); // it may read, and write, what is there
        if (!t->getPointeeType().isConstQualified() && !name.contains("load") && !name.contains("ldg"))
            access(v, t->getPointeeType(), true, arg);
    }
    return lost(Unknown::data, "'" + name.str() + "' gives it", follows);
}

// ---- all expressions ----

bool Evaluator::number_of(const Expr *e, int64_t *n) {
    Expr::EvalResult result;
    if (!e->isValueDependent() && e->getType()->isIntegralOrEnumerationType() && e->EvaluateAsInt(result, ast))
        return *n = result.Val.getInt().getExtValue(), true;
    if (!e->getType()->isIntegralOrEnumerationType() && !e->isTypeDependent()) return false;
    const Value v = evaluate_own(e);
    if (v.kind != Value::integer || v.at->kind != HIP_NUMBER) return false;
    return *n = v.at->number, true;
}

static const Expr *member_base(const Expr *e, StringRef *member) {
    if (const auto *m = dyn_cast<MemberExpr>(e)) return *member = m->getMemberDecl()->getName(), m->getBase();
    if (const auto *p = dyn_cast<MSPropertyRefExpr>(e))
        return *member = p->getPropertyDecl()->getName(), p->getBaseExpr();
    return nullptr;
}

Value Evaluator::evaluate(const Expr *e) {
    Expr::EvalResult result;
    if (!refused.empty()) return lost(Unknown::data, refused, true);
    if (!e->isValueDependent() && e->isPRValue() && e->getType()->isIntegralOrEnumerationType() &&
        e->EvaluateAsInt(result, ast)) {
        Value v;
        v.kind = Value::integer, v.at = room.number(result.Val.getInt().getExtValue());
        return v;
    }
    return evaluate_own(e);
}

Value Evaluator::evaluate_own(const Expr *e) {
    e = e->IgnoreParens();
    StringRef member;
    if (const auto *p = dyn_cast<PseudoObjectExpr>(e)) return evaluate(p->getSyntacticForm());
    if (const auto *o = dyn_cast<OpaqueValueExpr>(e))
        return o->getSourceExpr() ? evaluate(o->getSourceExpr()) : Value();
    if (const auto *w = dyn_cast<FullExpr>(e)) return evaluate(w->getSubExpr());
    if (const auto *m = dyn_cast<MaterializeTemporaryExpr>(e)) return evaluate(m->getSubExpr());
    if (const auto *b = dyn_cast<CXXBindTemporaryExpr>(e)) return evaluate(b->getSubExpr());
    if (const auto *s = dyn_cast<SubstNonTypeTemplateParmExpr>(e)) return evaluate(s->getReplacement());
    if (const auto *d = dyn_cast<CXXDefaultArgExpr>(e)) return evaluate(d->getExpr());
    if (const Expr *base = member_base(e, &member)) {
        const Value v = builtin(base, member);
        if (v.kind == Value::integer || !v.why.empty()) return v;
        return e->getType()->isRecordType() || e->isPRValue() ? of_data(e) : load(e);
    }
    if (const auto *cast = dyn_cast<CastExpr>(e)) {
        const Expr *sub = cast->getSubExpr();
        if (cast->getCastKind() == CK_ArrayToPointerDecay)
            return isa<DeclRefExpr>(sub->IgnoreParens()) ? evaluate_own(sub) : lvalue(sub);
        if (cast->getCastKind() == CK_FloatingToIntegral) return of_data(e);
        const Value v = evaluate(sub);
        return v;
    }
    if (const auto *ref = dyn_cast<DeclRefExpr>(e))
        return is_tracked(ref->getType()) || ref->getType()->isArrayType()
                   ? variable_value(ref->getDecl())
                   : lost(Unknown::data, "it is no integer", false);
    if (isa<ArraySubscriptExpr>(e)) return e->getType()->isArrayType() ? lvalue(e) : load(e);
    if (const auto *u = dyn_cast<UnaryOperator>(e)) return unary(u);
    if (const auto *b = dyn_cast<BinaryOperator>(e)) return binary(b);
    if (const auto *c = dyn_cast<ConditionalOperator>(e)) return choose(c);
    if (const auto *c = dyn_cast<CallExpr>(e)) return call(c);
    return of_data(e);
}
