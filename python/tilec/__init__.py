"""tilec: kernels written in .tile, called on arrays of NumPy, PyTorch, JAX, CuPy, or anything that speaks DLPack.

    import tilec
    gemm = tilec.load("gemm.tile", "gemm", M=4096)
    c = gemm(a, b)

`load` takes a file or a source text. What it gives, a Program, compiles for the device of the first call's arrays, once,
and keeps the library in a cache. `check` compares with the interpreter or a function of the user's own, `explain` and
`cost` say what the compiler decided, `torch_op` makes an operator for PyTorch's compiler and autograd.
"""
from tilec._cache import clear_cache
from tilec._check import Check
from tilec._errors import ArgumentError, CompileError, Diagnostic, Error, Mismatch, RunError
from tilec._explain import Cost, Explanation
from tilec._program import Program, load
from tilec._tool import command, version
from tilec._torch import torch_op

__version__ = version()
__all__ = ["ArgumentError", "Check", "CompileError", "Cost", "Diagnostic", "Error", "Explanation", "Mismatch", "Program",
           "RunError", "clear_cache", "command", "load", "torch_op"]
