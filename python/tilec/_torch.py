"""Programs as operators of PyTorch: fake tensors, torch.compile, autograd by a second program."""
from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Callable

from tilec._errors import ArgumentError
from tilec._tensor import ELEMENTS

if TYPE_CHECKING:
    from tilec._program import Program

SCHEMA = {"f": "float", "b": "bool", "i": "SymInt", "u": "SymInt"}  # of scalars, by the first letter of the element type
GRAD = "grad_"
operators: dict[tuple, Callable] = {}  # of this process: PyTorch keeps names for ever


def torch_op(f: Program, name: str | None = None, backward: Program | None = None) -> Callable:
    """An operator that torch.compile keeps whole, and that CUDA graphs may capture. It takes the program's inputs and states
    in order, gives its results, and changes states in place.

    name      "namespace::name"; None: tilec:: and the program's name with a hash
    backward  the program of the gradients. Its parameters are inputs and results of `f` by name, and `grad_y`, the gradient
              of the result y; its results are `grad_x`, the gradient of the input x. Inputs without one get none.
    """
    import torch
    refuse_what_cannot(f, backward)
    name = name or f"tilec::{f.signature.program}_{unique(f, backward)}"
    key = (name, f, backward)
    if key in operators:
        return operators[key]
    states = [own_name(a) for a in f.signature.parameters if a.role == "state"]
    op = torch.library.custom_op(name, function_of(f), mutates_args=states, schema=schema_of(f))
    op.register_fake(fake_of(f))
    if backward:
        op.register_autograd(gradient_of(f, torch_op(backward), backward), setup_context=keeper_of(f, backward))
    operators[key] = op
    return op


def refuse_what_cannot(f: Program, backward: Program | None) -> None:
    for a in f.signature.arguments:
        if a.elem not in ELEMENTS:
            raise ArgumentError(f"{f.signature.program}: '{a.name}' is packed {a.elem}, which PyTorch has no type for")
    named = {e.dim for a in f.signature.parameters for e in a.shape if not e.ranks}
    for i, d in enumerate(f.signature.dims):
        if i not in named:
            raise ArgumentError(f"{f.signature.program}: the size {d.name} is no extent of an argument")
    if not f.signature.results or not any(not a.is_scalar for a in f.signature.parameters):
        raise ArgumentError(f"{f.signature.program}: an operator takes an array and gives one")
    if backward:
        refuse_backward(f, backward)


def refuse_backward(f: Program, backward: Program) -> None:
    known = {a.name for a in f.signature.arguments} | {GRAD + a.name for a in f.signature.results}
    inputs = {GRAD + a.name for a in f.signature.parameters}
    if any(a.role == "state" for g in (f, backward) for a in g.signature.parameters):
        raise ArgumentError(f"{f.signature.program}: a program with states has no gradient")
    for a in backward.signature.parameters:
        if a.name not in known:
            raise ArgumentError(f"{backward.signature.program}: '{a.name}' is neither an input nor a result of "
                                f"'{f.signature.program}', nor {GRAD}RESULT")
    for a in backward.signature.results:
        if a.name not in inputs:
            raise ArgumentError(f"{backward.signature.program}: the result '{a.name}' is no {GRAD}INPUT of "
                                f"'{f.signature.program}'")


def unique(f: Program, backward: Program | None) -> str:
    """Tells programs of one name apart, also in another process."""
    parts = [repr((p.source, p.target)).encode() + p.source.content for p in (f, backward) if p]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:8]


def own_name(a: Any) -> str:
    return a.name.replace(".", "_")


def schema_of(f: Program) -> str:
    taken = []
    for i, a in enumerate(f.signature.parameters):
        mark = f"(a{i}!)" if a.role == "state" else ""
        taken.append(f"{SCHEMA[a.elem[0]] if a.is_scalar and a.elem != 'bf16' else 'float' if a.is_scalar else 'Tensor' + mark}"
                     f" {own_name(a)}")
    given = ["Tensor"] * len(f.signature.results)
    return f"({', '.join(taken)}) -> {given[0] if len(given) == 1 else '(' + ', '.join(given) + ')'}"


def plain(results: Any) -> Any:
    """A tuple of PyTorch's operators has no names."""
    return tuple(results) if isinstance(results, tuple) else results


def function_of(f: Program) -> Callable:
    def call(*values: Any) -> Any:
        values = tuple(x.detach() if hasattr(x, "detach") else x for x in values)
        return plain(f(**f.signature.tree_of(values)))
    return call


def fake_of(f: Program) -> Callable:
    """Results without their elements; extents may be symbols."""
    def fake(*values: Any) -> Any:
        import torch
        tensors = [(a, x) for a, x in zip(f.signature.parameters, values) if not a.is_scalar]
        dims: list = [None] * len(f.signature.dims)
        for a, x in tensors:
            for extent, n in zip(a.shape, x.shape):
                if extent.dim >= 0 and not extent.ranks and dims[extent.dim] is None:
                    dims[extent.dim] = n - extent.constant
        made = [tensors[0][1].new_empty(a.shape_at(dims), dtype=getattr(torch, ELEMENTS[a.elem][0]))
                for a in f.signature.results]
        return made[0] if len(made) == 1 else tuple(made)
    return fake


def keeper_of(f: Program, backward: Program) -> Callable:
    """Keeps what the second program takes."""
    needed = [a.name for a in backward.signature.parameters]

    def keep(ctx: Any, inputs: tuple, output: Any) -> None:
        results = output if isinstance(output, tuple) else (output,)
        values = {a.name: x for a, x in zip(f.signature.parameters, inputs)}
        values.update({a.name: x for a, x in zip(f.signature.results, results)})
        tensors = {a.name for a in f.signature.arguments if not a.is_scalar}
        ctx.kept = [name for name in needed if name in tensors]
        ctx.save_for_backward(*[values[name] for name in ctx.kept])
        ctx.numbers = {name: values[name] for name in needed if name in values and name not in tensors}
        ctx.like = [(tuple(x.shape), x.dtype, x.device) for x in results]
    return keep


def gradient_of(f: Program, op: Callable, backward: Program) -> Callable:
    """Calls the second program as an operator, which a compiled graph may hold."""
    def gradient(ctx: Any, *grads: Any) -> Any:
        import torch
        values = dict(zip(ctx.kept, ctx.saved_tensors), **ctx.numbers)
        for a, grad, (shape, dtype, device) in zip(f.signature.results, grads, ctx.like):
            values[GRAD + a.name] = torch.zeros(shape, dtype=dtype, device=device) if grad is None else grad.contiguous()
        found = op(*[values[a.name] for a in backward.signature.parameters])
        by_name = dict(zip((a.name for a in backward.signature.results), found if isinstance(found, tuple) else (found,)))
        return tuple(by_name.get(GRAD + a.name) for a in f.signature.parameters)
    return gradient
