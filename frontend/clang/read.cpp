// read.cpp: a HIP file read by Clang: its kernels, those that launches make of templates, and the sizes of launches.
#include "frontend/clang/eval.h"
#include "frontend/clang/reach.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Tooling/Tooling.h>
#include <cstring>

using namespace clang;

namespace {

struct Launch {
    const FunctionDecl *kernel;
    const CUDAKernelCallExpr *call;
};

class Finder : public RecursiveASTVisitor<Finder> {
  public:
    std::vector<const FunctionDecl *> kernels; // as written
    std::vector<Launch> launches;
    std::map<const FunctionDecl *, std::vector<const FunctionDecl *>> made; // of templates

    bool shouldVisitTemplateInstantiations() const { return true; }
    bool VisitFunctionDecl(FunctionDecl *f) {
        if (!f->hasAttr<CUDAGlobalAttr>() || !f->isThisDeclarationADefinition()) return true;
        const FunctionDecl *pattern = f->getTemplateInstantiationPattern();
        if (pattern)
            made[pattern].push_back(f);
        else
            kernels.push_back(f);
        return true;
    }
    bool VisitCUDAKernelCallExpr(CUDAKernelCallExpr *e) {
        const FunctionDecl *body = nullptr;
        if (const FunctionDecl *f = e->getDirectCallee(); f && f->hasBody(body)) launches.push_back({body, e});
        return true;
    }
};

class Reader : public ASTConsumer {
  public:
    Reader(const HipInput &in, HipFile &to) : in(in), room(in), to(to) {}

    void HandleTranslationUnit(ASTContext &ast) override {
        Finder found;
        std::vector<HipKernel> kernels;
        std::vector<HipPlace> places;
        if (ast.getDiagnostics().hasErrorOccurred()) return;
        found.TraverseDecl(ast.getTranslationUnitDecl());
        for (const FunctionDecl *f : found.kernels)
            if (!is_here(ast, f))
                for (const FunctionDecl *user : reached_by(ast, made_of(f, found)).users) users_elsewhere[user] = f;
        for (const FunctionDecl *f : found.kernels)
            if (is_here(ast, f)) kernels.push_back(kernel(ast, f, found));
        for (const Launch &l : found.launches)
            places.push_back(place_of(ast.getSourceManager(), l.call->getSourceRange(), room));
        to.kernel = room.kept(kernels, &to.nkernel);
        to.launch = room.kept(places, &to.nlaunch);
    }

  private:
    const HipInput &in;
    const Room room;
    HipFile &to;
    std::map<const FunctionDecl *, const FunctionDecl *> users_elsewhere; // of blockIdx, and kernels of other files

    static bool is_here(const ASTContext &ast, const FunctionDecl *f) {
        const SourceManager &sm = ast.getSourceManager();
        return sm.isWrittenInMainFile(sm.getExpansionLoc(f->getLocation()));
    }

    static std::vector<const FunctionDecl *> made_of(const FunctionDecl *f, const Finder &found) {
        const auto made = found.made.find(f);
        return made == found.made.end() ? std::vector<const FunctionDecl *>{f} : made->second;
    }

    HipKernel kernel(ASTContext &ast, const FunctionDecl *f, const Finder &found) {
        const std::vector<const FunctionDecl *> all = made_of(f, found);
        const FunctionDecl *one = all.front();
        HipKernel k = {};
        k.name = room.text(name_of(ast, one));
        k.plain = room.text(f->getNameAsString());
        k.place = place_of(ast.getSourceManager(), SourceRange(f->getLocation()), room);
        std::map<const VarDecl *, int64_t> known;
        for (const Launch &l : found.launches)
            if (l.kernel == one) launched(ast, l, &k, &known);
        sizes_given(f, &k);
        uses(ast, all, &k);
        k.unmade = one->isTemplated() && one->isDependentContext();
        if (!k.refused && k.unmade) refuse(ast, &k, "a template that no launch in this file makes", f->getLocation());
        if (!k.refused) accesses(ast, one, known, &k);
        return k;
    }

    static std::string name_of(ASTContext &ast, const FunctionDecl *f) {
        std::string name;
        llvm::raw_string_ostream to(name);
        PrintingPolicy policy(ast.getPrintingPolicy());
        f->getNameForDiagnostic(to, policy, true);
        return name;
    }

    void refuse(ASTContext &ast, HipKernel *k, const std::string &why, SourceRange at) {
        k->refused = room.text(why);
        k->refused_at = place_of(ast.getSourceManager(), at, room);
    }

    // ---- sizes ----

    // dim3 as an expression: up to three numbers.
    bool dims_of(Evaluator &host, const Expr *e, int64_t *to) {
        e = e->IgnoreUnlessSpelledInSource();
        if (e->getType()->isIntegralOrEnumerationType()) {
            to[1] = to[2] = 1;
            return host.number_of(e, to);
        }
        if (const auto *ref = dyn_cast<DeclRefExpr>(e)) {
            const auto *var = dyn_cast<VarDecl>(ref->getDecl());
            return var && var->getInit() && dims_of(host, var->getInit(), to);
        }
        const auto *made = dyn_cast<CXXConstructExpr>(e);
        if (const auto *cast = dyn_cast<CXXFunctionalCastExpr>(e)) return dims_of(host, cast->getSubExpr(), to);
        if (!made) return false;
        to[0] = to[1] = to[2] = 1;
        for (unsigned i = 0; i < made->getNumArgs() && i < 3; i++)
            if (!isa<CXXDefaultArgExpr>(made->getArg(i)) && !host.number_of(made->getArg(i), to + i)) return false;
        return true;
    }

    void launched(ASTContext &ast, const Launch &l, HipKernel *k, std::map<const VarDecl *, int64_t> *known) {
        Evaluator host(ast, in, room);
        int64_t sizes[3];
        const CallExpr *config = l.call->getConfig();
        if (dims_of(host, config->getArg(0), sizes)) std::copy(sizes, sizes + 3, k->grid);
        if (dims_of(host, config->getArg(1), sizes)) std::copy(sizes, sizes + 3, k->block);
        for (unsigned i = 0; i < l.kernel->getNumParams() && i < l.call->getNumArgs(); i++) {
            int64_t n;
            if (host.number_of(l.call->getArg(i), &n)) (*known)[l.kernel->getParamDecl(i)] = n;
        }
    }

    void sizes_given(const FunctionDecl *, HipKernel *k) {
        if (in.grid[0]) std::copy(in.grid, in.grid + 3, k->grid);
        if (in.block[0]) std::copy(in.block, in.block + 3, k->block);
    }

    // ---- where blockIdx is ----

    void uses(ASTContext &ast, const std::vector<const FunctionDecl *> &kernels, HipKernel *k) {
        const SourceManager &sm = ast.getSourceManager();
        const Reached reached = reached_by(ast, kernels);
        const FunctionDecl *f = kernels.front()->getTemplateInstantiationPattern()
                                    ? kernels.front()->getTemplateInstantiationPattern()
                                    : kernels.front();
        std::vector<HipUse> uses;
        uint32_t before = UINT32_MAX;
        for (const FunctionDecl *user : reached.users) {
            const uint32_t body = sm.getFileOffset(user->getBody()->getBeginLoc()) + 1;
            const uint32_t begin = declaration(sm, user);
            uses.push_back({body, room.text(user->getNameAsString()), user != f});
            before = begin < before ? begin : before;
            if (begin == UINT32_MAX) refuse(ast, k, "a macro begins the function", user->getSourceRange());
            if (const auto at = users_elsewhere.find(user); at != users_elsewhere.end())
                refuse(ast, k,
                       "'" + user->getNameAsString() + "' reads blockIdx for '" + at->second->getNameAsString() +
                           "' too",
                       user->getSourceRange());
            if (!user->getDeclContext()->getRedeclContext()->isTranslationUnit()) k->spaced = true;
        }
        if (k->spaced)
            for (const FunctionDecl *user : reached.users)
                if (user->getDeclContext()->getRedeclContext() != f->getDeclContext()->getRedeclContext())
                    refuse(ast, k, "blockIdx is named in several namespaces", user->getSourceRange());
        k->before = before;
        k->use = room.kept(uses, &k->nuse);
        if (!reached.refused.empty()) refuse(ast, k, reached.refused, reached.refused_at);
    }

    // Where the declaration begins, with template<..> and extern "C".
    static uint32_t declaration(const SourceManager &sm, const FunctionDecl *f) {
        SourceLocation at = f->getDescribedFunctionTemplate() ? f->getDescribedFunctionTemplate()->getBeginLoc()
                                                              : f->getOuterLocStart();
        if (const auto *c = dyn_cast<LinkageSpecDecl>(f->getLexicalDeclContext()); c && !c->hasBraces())
            at = c->getBeginLoc();
        for (const Attr *a : f->attrs()) // __global__ and the like are attributes, that macros make
            if (a->getLocation().isValid() && sm.isWrittenInMainFile(sm.getExpansionLoc(a->getLocation())) &&
                sm.isBeforeInTranslationUnit(sm.getExpansionLoc(a->getLocation()), sm.getExpansionLoc(at)))
                at = a->getLocation();
        at = sm.getExpansionLoc(at);
        if (sm.getFileID(at) != sm.getMainFileID()) return UINT32_MAX;
        unsigned offset = sm.getFileOffset(at);
        const StringRef text = sm.getBufferData(sm.getMainFileID());
        return line_of(text, offset);
    }

    // Where the line begins, unless something ends in front of the declaration.
    static uint32_t line_of(StringRef text, uint32_t offset) {
        const StringRef before = text.take_front(offset).rtrim(" \t");
        if (!before.empty() && StringRef("/;{}").contains(before.back())) return offset;
        const size_t end = text.take_front(offset).rfind('\n');
        return end == StringRef::npos ? 0 : static_cast<uint32_t>(end + 1);
    }

    // ---- accesses ----

    void accesses(ASTContext &ast, const FunctionDecl *f, const std::map<const VarDecl *, int64_t> &known,
                  HipKernel *k) {
        Evaluator kernel(ast, in, room);
        kernel.run(f, known, k->grid, k->block);
        k->param = room.kept(kernel.params, &k->nparam);
        k->loop = room.kept(kernel.loops, &k->nloop);
        k->access = room.kept(kernel.accesses, &k->naccess);
        if (!kernel.refused.empty()) refuse(ast, k, kernel.refused, kernel.refused_at);
    }
};

class Action : public ASTFrontendAction {
  public:
    Action(const HipInput &in, HipFile &to) : in(in), to(to) {}
    std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &, StringRef) override {
        return std::make_unique<Reader>(in, to);
    }

  private:
    const HipInput &in;
    HipFile &to;
};

} // namespace

extern "C" HipFile hip_read(const HipInput *in);
extern "C" HipFile hip_read(const HipInput *in) {
    HipFile to = {};
    std::vector<std::string> flags = {"-x",
                                      "hip",
                                      "--cuda-device-only",
                                      "-nogpulib",
                                      "-nogpuinc",
                                      "-fsyntax-only",
                                      "-resource-dir",
                                      TILEC_CLANG_RESOURCES,
                                      "-Wno-unused-command-line-argument",
                                      std::string("--offload-arch=") + in->arch};
    for (int i = 0; i < in->nflag; i++) flags.push_back(in->flag[i]);
    to.compiles =
        tooling::runToolOnCodeWithArgs(std::make_unique<Action>(*in, to), in->text, flags, in->path, "tilec remap");
    return to;
}
