// reach.h: the functions that a kernel reaches, and where they name blockIdx.
#ifndef TILEC_FRONTEND_CLANG_REACH_H
#define TILEC_FRONTEND_CLANG_REACH_H

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <string>
#include <vector>

struct Reached {
    std::vector<const clang::FunctionDecl *> users; // of blockIdx, as templates where they are of one
    std::string refused;                            // blockIdx cannot be replaced, and why
    clang::SourceRange refused_at;
};

// kernels: those that one template has become, or one.
Reached reached_by(clang::ASTContext &, const std::vector<const clang::FunctionDecl *> &kernels);

#endif
