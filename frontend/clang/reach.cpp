// reach.cpp: goes through everything that a kernel can call. Whoever replaces blockIdx has to know each place that
// reads the number of a workgroup, so that what cannot be looked into ends the analysis.
#include "frontend/clang/reach.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <set>

using namespace clang;

namespace {
class Reach : public RecursiveASTVisitor<Reach> {
  public:
    Reach(ASTContext &ast, Reached &to) : ast(ast), to(to) {}
    bool shouldVisitImplicitCode() const { return true; }
    bool shouldVisitTemplateInstantiations() const { return true; }

    void from(const std::vector<const FunctionDecl *> &kernels) {
        for (const FunctionDecl *kernel : kernels) add(kernel);
        while (!open.empty()) {
            now = open.back();
            open.pop_back();
            for (const ParmVarDecl *p : now->parameters())
                if (p->getName() == "blockIdx") refuse("'blockIdx' is a parameter", p->getSourceRange());
            TraverseStmt(now->getBody());
            if (const auto *c = dyn_cast<CXXConstructorDecl>(now))
                for (const CXXCtorInitializer *i : c->inits()) TraverseStmt(i->getInit());
        }
        for (const CXXMethodDecl *lambda : lambdas) {
            const auto *around = dyn_cast<FunctionDecl>(lambda->getParent()->getDeclContext());
            if (!around || !seen.count(around))
                refuse("blockIdx is named in a lambda from elsewhere", lambda->getSourceRange());
        }
    }

    // ---- blockIdx ----

    bool VisitDeclRefExpr(DeclRefExpr *e) {
        const auto *var = dyn_cast<VarDecl>(e->getDecl());
        if (!var || var->getName() != "blockIdx") return true;
        if (var->isLocalVarDeclOrParm()) return refuse("'blockIdx' is a variable of its own", e->getSourceRange());
        if (!members.count(e)) return refuse("blockIdx is taken as a whole, or through a pointer", e->getSourceRange());
        if (e->hasQualifier() || !stands_in(e->getLocation(), written()))
            return refuse("blockIdx is named where a variable of the function is not seen", e->getSourceRange());
        use(e->getLocation());
        return true;
    }
    bool VisitMemberExpr(MemberExpr *e) { return member(e->getBase()); }
    bool VisitCXXDependentScopeMemberExpr(CXXDependentScopeMemberExpr *e) {
        return e->isImplicitAccess() || member(e->getBase());
    }
    bool VisitMSPropertyRefExpr(MSPropertyRefExpr *e) { return member(e->getBaseExpr()); }
    bool VisitUnaryOperator(UnaryOperator *e) {
        const auto *m = dyn_cast<MemberExpr>(e->getSubExpr()->IgnoreParens());
        const auto *base = m ? dyn_cast<DeclRefExpr>(m->getBase()->IgnoreParenImpCasts()) : nullptr;
        if (e->getOpcode() == UO_AddrOf && base && base->getDecl()->getName() == "blockIdx")
            return refuse("blockIdx is taken as a whole, or through a pointer", e->getSourceRange());
        return true;
    }

    // ---- what else reads the number ----

    bool VisitGCCAsmStmt(GCCAsmStmt *s) {
        const std::string text = s->getAsmString();
        static const char *const harmless[] = {"s_waitcnt", "s_barrier", "s_setprio", "s_nop", "s_sleep"};
        bool good = text.empty();
        for (const char *word : harmless)
            good |= s->getNumInputs() + s->getNumOutputs() == 0 && text.rfind(word, 0) == 0;
        return good || refuse("assembly may read the number of the workgroup", s->getSourceRange());
    }
    bool VisitMSAsmStmt(MSAsmStmt *s) {
        return refuse("assembly may read the number of the workgroup", s->getSourceRange());
    }

    bool VisitCallExpr(CallExpr *e) {
        const FunctionDecl *f = e->getDirectCallee();
        if (is_of_block(e)) return true;
        if (!f && isa<CXXPseudoDestructorExpr>(e->getCallee())) return true;
        if (!f && e->isTypeDependent())
            return refuse("a template that no launch makes: what it calls is not known", e->getSourceRange());
        if (!f) return refuse("it calls through a pointer", e->getSourceRange());
        if (const auto *m = dyn_cast<CXXMethodDecl>(f); m && m->isVirtual())
            return refuse("it calls a virtual function", e->getSourceRange());
        const StringRef name = f->getIdentifier() ? f->getName() : StringRef();
        if (name.contains("workgroup_id") || name.contains("get_group_id") || name.contains("get_block_idx"))
            return refuse("a builtin reads the number of the workgroup", e->getSourceRange());
        call(f, e->getSourceRange());
        return true;
    }
    bool VisitCXXConstructExpr(CXXConstructExpr *e) { return call(e->getConstructor(), e->getSourceRange()), true; }
    bool VisitVarDecl(VarDecl *v) {
        const CXXRecordDecl *type = v->getType()->getAsCXXRecordDecl();
        if (type && type->hasDefinition() && type->hasNonTrivialDestructor())
            call(type->getDestructor(), v->getSourceRange());
        return true;
    }
    bool VisitWhileStmt(WhileStmt *s) { return waits(s, s->getSourceRange()); }
    bool VisitDoStmt(DoStmt *s) { return waits(s, s->getSourceRange()); }
    bool VisitForStmt(ForStmt *s) {
        return waits(s->getCond() ? static_cast<Stmt *>(s->getCond()) : s, s->getSourceRange());
    }

  private:
    ASTContext &ast;
    Reached &to;
    std::set<const FunctionDecl *> seen, users;
    std::set<const Expr *> members;
    std::set<const CXXMethodDecl *> lambdas; // that name blockIdx
    std::vector<const FunctionDecl *> open;
    const FunctionDecl *now = nullptr;

    // blockIdx.x with ROCm's headers: a conversion of its type to an integer.
    static bool is_of_block(const CallExpr *e) {
        const auto *c = dyn_cast<CXXMemberCallExpr>(e);
        const Expr *of = c ? c->getImplicitObjectArgument()->IgnoreParenImpCasts() : nullptr;
        const auto *m = dyn_cast_or_null<MemberExpr>(of);
        const auto *ref = dyn_cast_or_null<DeclRefExpr>(m ? m->getBase()->IgnoreParenImpCasts() : of);
        return ref && ref->getDecl()->getName() == "blockIdx";
    }

    bool refuse(const char *why, SourceRange at) {
        if (to.refused.empty()) to.refused = why, to.refused_at = at;
        return true;
    }

    void add(const FunctionDecl *f) {
        if (seen.insert(f).second) open.push_back(f);
    }

    bool member(const Expr *base) {
        if (const auto *ref = dyn_cast_or_null<DeclRefExpr>(base ? base->IgnoreParenImpCasts() : nullptr))
            members.insert(ref);
        return true;
    }

    // The function as the file has it.
    const FunctionDecl *written() const {
        return now->getTemplateInstantiationPattern() ? now->getTemplateInstantiationPattern() : now;
    }

    // Default arguments and members' initial values are evaluated in a function, and stand elsewhere.
    bool stands_in(SourceLocation at, const FunctionDecl *f) const {
        const SourceManager &sm = ast.getSourceManager();
        const Stmt *body = f->getBody();
        at = sm.getExpansionLoc(at);
        return body && !sm.isBeforeInTranslationUnit(at, sm.getExpansionLoc(body->getBeginLoc())) &&
               !sm.isBeforeInTranslationUnit(sm.getExpansionLoc(body->getEndLoc()), at);
    }

    void use(SourceLocation at) {
        const FunctionDecl *f = written();
        const SourceManager &sm = ast.getSourceManager();
        if (!users.insert(f).second) return;
        const Stmt *body = f->getBody();
        if (!body || !sm.isWrittenInMainFile(body->getBeginLoc()) || body->getBeginLoc().isMacroID())
            refuse("blockIdx is named in another file, or by a macro that makes a function", SourceRange(at));
        else if (const auto *m = dyn_cast<CXXMethodDecl>(f);
                 m && m->getParent()->isLambda() && m->getParent()->getLambdaCaptureDefault() == LCD_None)
            refuse("blockIdx is named in a lambda that does not take variables", SourceRange(at));
        else if (m && m->getParent()->isLambda())
            lambdas.insert(cast<CXXMethodDecl>(now));
        else if (m)
            refuse("blockIdx is named in a method", SourceRange(at));
        else
            to.users.push_back(f);
    }

    // Of the machine's and the language's own functions no body is known, nor needed.
    void call(const FunctionDecl *f, SourceRange at) {
        const FunctionDecl *body = nullptr;
        if (f->hasBody(body)) return add(body);
        const bool known = f->getBuiltinID() || f->isDefaulted() || f->isImplicit() ||
                           ast.getSourceManager().isInSystemHeader(f->getLocation());
        if (!known) refuse("a function is called that the file does not have", at);
    }

    // Spinning on memory that another workgroup writes: then the order of workgroups decides. Of loops that count only
    // the condition is looked at.
    bool waits(Stmt *s, SourceRange at) {
        struct Look : RecursiveASTVisitor<Look> {
            std::set<const FunctionDecl *> seen;
            bool found = false;
            bool VisitExpr(Expr *e) {
                const auto *c = dyn_cast<CallExpr>(e);
                const FunctionDecl *f = c ? c->getDirectCallee() : nullptr, *body = nullptr;
                const StringRef name = f && f->getIdentifier() ? f->getName() : StringRef();
                found |= isa<AtomicExpr>(e) || name.contains("atomic") || name.contains("load") ||
                         name.starts_with("__ld") || e->getType().isVolatileQualified();
                if (f && f->hasBody(body) && seen.insert(body).second) TraverseStmt(body->getBody());
                return true;
            }
        } look;
        look.TraverseStmt(s);
        return !look.found || refuse("workgroups wait for each other", at);
    }
};
} // namespace

Reached reached_by(ASTContext &ast, const std::vector<const FunctionDecl *> &kernels) {
    Reached to;
    Reach(ast, to).from(kernels);
    return to;
}
