// eval.h: a kernel's text run with symbols: integers and pointers as expressions over the workgroup, the thread and
// loops.
#ifndef TILEC_FRONTEND_CLANG_EVAL_H
#define TILEC_FRONTEND_CLANG_EVAL_H

#include "frontend/hip/hip.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>
#include <map>
#include <set>
#include <string>
#include <vector>

// Why a value is not followed. What follows from data leaves the other accesses as they are; the others end the
// analysis.
enum class Unknown { data, missing, block };

struct Value {
    enum Kind { unknown, integer, pointer, alias } kind = unknown;
    const HipExpr *at = nullptr;        // integer, or byte of the pointer's memory
    int param = -1;                     // pointer: the kernel's parameter; -1: memory of the workgroup
    const clang::VarDecl *of = nullptr; // alias: the variable that is meant
    Unknown reason = Unknown::data;
    std::string why;
    bool follows_block = false; // unknown
};

// Memory of the answer, and expressions in it.
class Room {
  public:
    explicit Room(const HipInput &in) : in(in) {}
    const HipExpr *number(int64_t) const;
    const HipExpr *symbol(HipExprKind, int64_t) const;
    const HipExpr *made(HipExprKind, const HipExpr *, const HipExpr *) const;
    const char *text(const std::string &) const;
    template <class T> T *kept(const std::vector<T> &from, int *n) const {
        T *to = static_cast<T *>(in.room(in.arena, sizeof(T) * (from.size() + 1)));
        std::copy(from.begin(), from.end(), to);
        *n = static_cast<int>(from.size());
        return to;
    }

  private:
    const HipInput &in;
};

bool follows_block(const HipExpr *);
bool value_follows_block(const Value &);

// Places of the file that is read.
HipPlace place_of(const clang::SourceManager &, clang::SourceRange, const Room &);

class Evaluator {
  public:
    Evaluator(clang::ASTContext &, const HipInput &, const Room &);

    // Of kernels. known: values of parameters that a launch gives.
    void run(const clang::FunctionDecl *kernel, const std::map<const clang::VarDecl *, int64_t> &known,
             const int64_t *grid, const int64_t *block);
    // Of host text, for launches.
    bool number_of(const clang::Expr *, int64_t *);

    std::vector<HipParam> params;
    std::vector<HipLoop> loops;
    std::vector<HipAccess> accesses;
    std::string refused;
    clang::SourceRange refused_at;

  private:
    typedef std::map<const clang::VarDecl *, Value> Variables;
    clang::ASTContext &ast;
    const HipInput &in;
    const Room &room;
    Variables variable;
    int64_t grid[3] = {0, 0, 0}, block[3] = {0, 0, 0};
    int loop = -1, depth = 0;
    bool ended = false; // a return has been met
    Value returned;
    bool has_returned = false;

    // walk.cpp: statements
    void execute(const clang::Stmt *);
    void declare(const clang::VarDecl *);
    void branch(const clang::IfStmt *);
    void repeat(const clang::Stmt *body, const clang::Expr *condition, const clang::Expr *step);
    struct Counter;
    bool counts(const clang::Stmt *body, const clang::Expr *condition, const clang::Expr *step, Counter *);
    void changes_find(const clang::Stmt *, std::map<const clang::VarDecl *, int> *);
    bool step_of(const clang::Stmt *, const clang::VarDecl **, const clang::Expr **by, int *sign);
    void steps_find(const clang::Stmt *body, const clang::Expr *step, std::map<const clang::VarDecl *, int> *changes,
                    std::map<const clang::VarDecl *, const HipExpr *> *steps);
    void variables_merge(const Variables &other, const clang::IfStmt *, bool follows_block);

    // eval.cpp: expressions
    Value evaluate(const clang::Expr *);
    Value evaluate_own(const clang::Expr *);
    Value lvalue(const clang::Expr *);
    Value load(const clang::Expr *);
    Value variable_value(const clang::ValueDecl *);
    Value builtin(const clang::Expr *base, llvm::StringRef member);
    Value unary(const clang::UnaryOperator *);
    Value binary(const clang::BinaryOperator *);
    Value assign(const clang::BinaryOperator *);
    void store(const clang::Expr *to, const Value &, bool reads);
    Value combine(clang::BinaryOperatorKind, const Value &, const Value &, const clang::Expr *);
    Value moved(const Value &pointer, const Value &by, int64_t bytes, int sign);
    Value choose(const clang::ConditionalOperator *);
    Value call(const clang::CallExpr *);
    Value inlined(const clang::FunctionDecl *, const clang::CallExpr *, unsigned first);
    Value of_data(const clang::Expr *); // evaluates what is below
    Value lost(Unknown, const std::string &why, bool follows_block) const;
    Value lost_from(const Value &, const Value &) const;
    Value kept(const Value &) const; // as a variable has it
    void access(const Value &pointer, clang::QualType, bool write, const clang::Expr *);
    const clang::VarDecl *variable_of(const clang::Expr *);
    bool is_tracked(clang::QualType) const;
    int64_t size_of(clang::QualType) const;
    void refuse(const std::string &, clang::SourceRange);
};

#endif
