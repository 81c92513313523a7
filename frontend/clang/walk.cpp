// walk.cpp: statements of a kernel: branches, and loops whose variables are counted.
#include "frontend/clang/eval.h"

#include <clang/AST/RecursiveASTVisitor.h>

using namespace clang;

// A loop's variable goes from .first by .step, .trips times.
struct Evaluator::Counter {
    const VarDecl *variable;
    const HipExpr *trips; // NULL: they follow from data
};

// ---- what a loop changes ----

namespace {
class Changes : public RecursiveASTVisitor<Changes> {
  public:
    std::map<const VarDecl *, int> &count;
    explicit Changes(std::map<const VarDecl *, int> &count) : count(count) {}
    bool VisitBinaryOperator(BinaryOperator *e) { return !e->isAssignmentOp() || changed(e->getLHS()); }
    bool VisitUnaryOperator(UnaryOperator *e) {
        return (!e->isIncrementDecrementOp() && e->getOpcode() != UO_AddrOf) || changed(e->getSubExpr());
    }
    bool VisitCallExpr(CallExpr *e) {
        const FunctionDecl *f = e->getDirectCallee();
        for (unsigned i = 0; f && i < f->getNumParams() && i < e->getNumArgs(); i++) {
            const QualType t = f->getParamDecl(i)->getType();
            if (t->isReferenceType() && !t->getPointeeType().isConstQualified()) changed(e->getArg(i));
        }
        return true;
    }

  private:
    bool changed(Expr *e) {
        if (const auto *ref = dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts()))
            if (const auto *var = dyn_cast<VarDecl>(ref->getDecl())) count[var]++;
        return true;
    }
};
} // namespace

void Evaluator::changes_find(const Stmt *s, std::map<const VarDecl *, int> *count) {
    if (s) Changes(*count).TraverseStmt(const_cast<Stmt *>(s));
}

// v += by, v -= by, v = v + by, ++v.
bool Evaluator::step_of(const Stmt *s, const VarDecl **var, const Expr **by, int *sign) {
    const auto *e = dyn_cast_or_null<Expr>(s);
    if (!e) return false;
    e = e->IgnoreParenImpCasts();
    *by = nullptr;
    if (const auto *u = dyn_cast<UnaryOperator>(e); u && u->isIncrementDecrementOp()) {
        *sign = u->isIncrementOp() ? 1 : -1;
        return (*var = variable_of(u->getSubExpr())) != nullptr;
    }
    const auto *b = dyn_cast<BinaryOperator>(e);
    if (!b || !b->isAssignmentOp() || !(*var = variable_of(b->getLHS()))) return false;
    *sign = b->getOpcode() == BO_SubAssign ? -1 : 1;
    *by = b->getRHS();
    if (b->getOpcode() == BO_AddAssign || b->getOpcode() == BO_SubAssign) return true;
    const auto *sum = dyn_cast<BinaryOperator>(b->getRHS()->IgnoreParenImpCasts());
    if (b->getOpcode() != BO_Assign || !sum || sum->getOpcode() != BO_Add || variable_of(sum->getLHS()) != *var)
        return false;
    return *by = sum->getRHS(), true;
}

static const HipExpr *bytes_of(const Room &room, const Value &by, int64_t each, int sign) {
    return room.made(HIP_MUL, by.at, room.number(sign * each));
}

// Variables that the loop adds the same to once an iteration.
void Evaluator::steps_find(const Stmt *body, const Expr *step, std::map<const VarDecl *, int> *changes,
                           std::map<const VarDecl *, const HipExpr *> *steps) {
    std::vector<const Stmt *> top;
    if (const auto *block = dyn_cast<CompoundStmt>(body))
        top.assign(block->body_begin(), block->body_end());
    else
        top.push_back(body);
    for (const Expr *rest = step; rest;) {
        const auto *comma = dyn_cast<BinaryOperator>(rest->IgnoreParens());
        const bool two = comma && comma->getOpcode() == BO_Comma;
        top.push_back(two ? comma->getRHS() : rest);
        rest = two ? comma->getLHS() : nullptr;
    }
    for (const Stmt *s : top) {
        const VarDecl *var;
        const Expr *by;
        int sign;
        if (!step_of(s, &var, &by, &sign) || (*changes)[var] != 1 || !is_tracked(var->getType())) continue;
        std::map<const VarDecl *, int> named;
        Value one;
        one.kind = Value::integer, one.at = room.number(1);
        const size_t before = accesses.size();
        const Value amount = by ? evaluate(by) : one;
        accesses.resize(before);
        const QualType t = var->getType().getNonReferenceType();
        if (amount.kind == Value::integer)
            (*steps)[var] = bytes_of(room, amount, t->isPointerType() ? size_of(t->getPointeeType()) : 1, sign);
    }
}

// ---- loops ----

static BinaryOperatorKind turned(BinaryOperatorKind op) {
    return op == BO_LT ? BO_GT : op == BO_LE ? BO_GE : op == BO_GT ? BO_LT : op == BO_GE ? BO_LE : op;
}

// How often a loop runs: from a comparison of a variable that it counts with what it does not change.
bool Evaluator::counts(const Stmt *body, const Expr *condition, const Expr *step, Counter *c) {
    std::map<const VarDecl *, int> changes;
    std::map<const VarDecl *, const HipExpr *> steps;
    changes_find(body, &changes);
    changes_find(step, &changes);
    steps_find(body, step, &changes, &steps);
    const auto *compare = condition ? dyn_cast<BinaryOperator>(condition->IgnoreParenImpCasts()) : nullptr;
    *c = {nullptr, nullptr};
    if (!compare || !compare->isComparisonOp()) return false;
    const bool left = variable_of(compare->getLHS()) && steps.count(variable_of(compare->getLHS()));
    const VarDecl *var = variable_of(left ? compare->getLHS() : compare->getRHS());
    if (!var || !steps.count(var) || steps[var]->kind != HIP_NUMBER || steps[var]->number == 0) return false;
    const BinaryOperatorKind op = left ? compare->getOpcode() : turned(compare->getOpcode());
    const int64_t by = steps[var]->number, each = by < 0 ? -by : by;
    const Value first = variable_value(var), past = evaluate(left ? compare->getRHS() : compare->getLHS());
    if (first.kind == Value::unknown || past.kind != first.kind) return c->variable = var, true;
    const HipExpr *minus = room.number(-1), *length = room.made(HIP_ADD, by > 0 ? past.at : first.at,
                                                                room.made(HIP_MUL, by > 0 ? first.at : past.at, minus));
    if (op == BO_LE || op == BO_GE) length = room.made(HIP_ADD, length, room.number(1));
    *c = {var, room.made(HIP_MAX, room.number(0),
                         room.made(HIP_DIV, room.made(HIP_ADD, length, room.number(each - 1)), room.number(each)))};
    return true;
}

void Evaluator::repeat(const Stmt *body, const Expr *condition, const Expr *step) {
    Counter c;
    std::map<const VarDecl *, int> changes;
    std::map<const VarDecl *, const HipExpr *> steps;
    changes_find(body, &changes);
    changes_find(step, &changes);
    steps_find(body, step, &changes, &steps);
    counts(body, condition, step, &c);
    const int outer = loop;
    const HipExpr *index = nullptr;
    if (c.trips) {
        loops.push_back({c.trips, outer});
        loop = static_cast<int>(loops.size()) - 1;
        index = room.symbol(HIP_LOOP, loop);
    }
    Variables after;
    for (const auto &change : changes) {
        const VarDecl *var = change.first;
        const auto at = variable.find(var);
        if (at == variable.end()) continue;
        const Value first = at->second;
        Value v = lost(Unknown::data, "'" + var->getNameAsString() + "' changes in a loop", value_follows_block(first));
        after[var] = v;
        if (steps.count(var) && first.at && index) {
            v = first, v.at = room.made(HIP_ADD, first.at, room.made(HIP_MUL, steps[var], index));
            after[var] = first, after[var].at = room.made(HIP_ADD, first.at, room.made(HIP_MUL, steps[var], c.trips));
        }
        variable[var] = v;
    }
    if (condition) evaluate(condition);
    const bool was = ended;
    execute(body);
    if (step) evaluate(step);
    ended = was;
    for (const auto &v : after) variable[v.first] = v.second;
    loop = outer;
}

// ---- branches ----

static bool same(const HipExpr *a, const HipExpr *b) {
    if (a == b || !a || !b) return a == b;
    return a->kind == b->kind && a->number == b->number && same(a->a, b->a) && same(a->b, b->b);
}

void Evaluator::variables_merge(const Variables &other, const IfStmt *s, bool follows) {
    for (auto &entry : variable) {
        const auto at = other.find(entry.first);
        Value &v = entry.second;
        if (at == other.end() || v.kind == Value::alias ||
            (v.kind == at->second.kind && v.param == at->second.param && same(v.at, at->second.at)))
            continue;
        (void)s;
        v = lost(follows ? Unknown::block : Unknown::data,
                 "'" + entry.first->getNameAsString() + "' differs between branches of a condition" +
                     (follows ? " over blockIdx" : ""),
                 true);
    }
}

void Evaluator::branch(const IfStmt *s) {
    if (s->getInit()) execute(s->getInit());
    int64_t n;
    if (number_of(s->getCond(), &n)) {
        if (n || s->getElse()) execute(n ? s->getThen() : s->getElse());
        return;
    }
    const bool follows = value_follows_block(evaluate(s->getCond()));
    const Variables before = variable;
    const bool was = ended;
    execute(s->getThen());
    const bool first = ended;
    const Variables then = variable;
    variable = before, ended = was;
    if (s->getElse()) execute(s->getElse());
    if (ended)
        variable = then;
    else if (!first)
        variables_merge(then, s, follows);
    ended = ended && first;
}

// ---- all statements ----

void Evaluator::declare(const VarDecl *var) {
    if (var->isStaticLocal() || var->getType()->isArrayType()) {
        variable.erase(var);
        return;
    }
    const Expr *init = var->getInit();
    const VarDecl *meant = init && var->getType()->isReferenceType() ? variable_of(init) : nullptr;
    Value v = lost(Unknown::data, "'" + var->getNameAsString() + "' has no value yet", false);
    if (meant && meant != var && is_tracked(meant->getType()))
        v.kind = Value::alias, v.of = meant;
    else if (init)
        v = var->getType()->isReferenceType() ? lvalue(init) : evaluate(init);
    if (is_tracked(var->getType())) variable[var] = kept(v);
}

void Evaluator::execute(const Stmt *s) {
    if (!s || ended || !refused.empty()) return;
    if (const auto *block = dyn_cast<CompoundStmt>(s)) {
        for (const Stmt *child : block->body()) execute(child);
    } else if (const auto *d = dyn_cast<DeclStmt>(s)) {
        for (const Decl *decl : d->decls())
            if (const auto *var = dyn_cast<VarDecl>(decl)) declare(var);
    } else if (const auto *e = dyn_cast<Expr>(s)) {
        evaluate(e);
    } else if (const auto *i = dyn_cast<IfStmt>(s)) {
        branch(i);
    } else if (const auto *f = dyn_cast<ForStmt>(s)) {
        execute(f->getInit());
        repeat(f->getBody(), f->getCond(), f->getInc());
    } else if (const auto *w = dyn_cast<WhileStmt>(s)) {
        repeat(w->getBody(), w->getCond(), nullptr);
    } else if (const auto *d = dyn_cast<DoStmt>(s)) {
        repeat(d->getBody(), nullptr, nullptr);
    } else if (const auto *a = dyn_cast<AttributedStmt>(s)) {
        execute(a->getSubStmt());
    } else if (const auto *r = dyn_cast<ReturnStmt>(s)) {
        const Value v = r->getRetValue()
                            ? r->getRetValue()->getType()->isPointerType() || is_tracked(r->getRetValue()->getType())
                                  ? evaluate(r->getRetValue())
                                  : (evaluate(r->getRetValue()), Value())
                            : Value();
        const bool follows = value_follows_block(v) || value_follows_block(returned);
        if (has_returned && !(v.kind == returned.kind && same(v.at, returned.at)))
            returned =
                lost(follows ? Unknown::block : Unknown::data, "a function returns it in several places", follows);
        else
            returned = v;
        has_returned = ended = true;
    } else if (isa<SwitchStmt>(s) || isa<GotoStmt>(s) || isa<LabelStmt>(s)) {
        refuse("its jumps are not followed", s->getSourceRange());
    } else {
        for (const Stmt *child : s->children()) execute(child);
    }
}

void Evaluator::run(const FunctionDecl *kernel, const std::map<const VarDecl *, int64_t> &known, const int64_t *grid_,
                    const int64_t *block_) {
    std::copy(grid_, grid_ + 3, grid);
    std::copy(block_, block_ + 3, block);
    for (const ParmVarDecl *p : kernel->parameters()) {
        Value v = lost(Unknown::missing, "'" + p->getNameAsString() + "' is not known: -D gives it", false);
        const QualType t = p->getType();
        HipParam param = {};
        int64_t n = 0;
        param.name = room.text(p->getNameAsString());
        param.type = room.text(t.getUnqualifiedType().getAsString(ast.getPrintingPolicy()));
        param.pointer = t->isPointerType();
        param.floats = t->isPointerType() ? t->getPointeeType()->isFloatingType() : t->isFloatingType();
        param.bytes = static_cast<int>(size_of(t->isPointerType() ? t->getPointeeType() : t));
        for (int i = 0; i < in.ndefine; i++)
            if (p->getName() == in.define[i].name) param.known = true, n = in.define[i].value;
        const auto at = known.find(p);
        if (!param.known && at != known.end()) param.known = true, n = at->second;
        param.value = n;
        if (param.pointer)
            v.kind = Value::pointer, v.param = static_cast<int>(params.size()), v.at = room.number(0);
        else if (param.known && t->isIntegralOrEnumerationType())
            v.kind = Value::integer, v.at = room.number(n);
        else if (!t->isIntegralOrEnumerationType())
            v = lost(Unknown::data, "'" + p->getNameAsString() + "' is no integer", false);
        params.push_back(param);
        variable[p] = v;
    }
    execute(kernel->getBody());
}
