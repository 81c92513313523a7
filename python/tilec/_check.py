"""Results against the interpreter, or against a function of the user's own."""
from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable

from tilec import _tensor
from tilec._errors import ArgumentError, CompileError, Mismatch
from tilec._tool import call

if TYPE_CHECKING:
    from tilec._program import Program

DIFFERS = 4  # exit code of tilec run
TOLERANCE = {"f64": 1e-7, "f32": 1e-5, "f16": 1e-3, "bf16": 1.6e-2}  # as tilec run --expect: driver/run_expect.c
SMALL = 0.125  # likewise, of 8-bit floats


class Check(str):
    """The report of a check that found no difference: a line for each result."""


def host_array(x: Any) -> Any:
    """A copy as an array of NumPy. Types that NumPy lacks are those of ml_dtypes, or raw bytes."""
    import numpy
    if isinstance(x, numpy.ndarray):
        return x.copy()
    if type(x).__module__.split(".")[0] == "torch" and hasattr(x, "detach"):
        import torch
        x = x.detach().cpu()
        name = str(x.dtype)[6:]
        return x.view(torch.uint8).numpy().copy().view(raw_type(name)).reshape(x.shape) if odd(name) else x.numpy().copy()
    if hasattr(x, "__dlpack__"):
        return numpy.array(x.get() if hasattr(x, "get") else x)
    return x


def odd(name: str) -> bool:
    return name.startswith(("bfloat", "float8"))


def raw_type(name: str) -> Any:
    import numpy
    try:
        return _tensor.numpy_dtype(name)
    except Exception:
        return numpy.dtype("V2" if name == "bfloat16" else "V1")


def numbers(x: Any) -> Any:
    """As f64, for comparisons."""
    import numpy
    x = numpy.asarray(x)
    if x.dtype == "V2":
        x = (x.view("u2").astype("u4") << 16).view("f4")
    return x.astype("f8")


def difference(name: str, elem: str, mine: Any, theirs: Any, tolerance: float | None) -> tuple[bool, str]:
    """Whether two results agree, and the line that says it."""
    import numpy
    a, b = numbers(mine), numbers(theirs)
    if a.shape != b.shape:
        return False, f"{name}: has the shape {list(a.shape)}, the reference {list(b.shape)}"
    allowed = (TOLERANCE.get(elem, SMALL) if tolerance is None else tolerance) if elem[0] in "fb" and elem != "bool" else 0.0
    with numpy.errstate(invalid="ignore"):
        error = numpy.where((a == b) | (numpy.isnan(a) & numpy.isnan(b)), 0.0, numpy.abs(a - b) / (1 + numpy.abs(b)))
    error = numpy.where(numpy.isnan(error), numpy.inf, error)
    if not error.size:
        return True, f"{name}: empty"
    at = numpy.unravel_index(int(error.argmax()), error.shape)
    worst = float(error[at])
    line = (f"{name}: largest error {worst:.3g} (1 + |reference|), allowed {allowed:.3g}; worst {name}{[int(i) for i in at]} "
            f"= {a[at]:.9g}, reference {b[at]:.9g}")
    return worst <= allowed, line


def compare_with(f: Program, args: list, reference: Callable, sizes: dict, tolerance: float | None) -> Check:
    """Calls the program and the function on copies."""
    copies = f.signature.tree_of([host_array(x) for x in args])
    mine = f(**f.signature.tree_of(fresh(f, args)), **sizes)
    theirs = reference(*copies.values())
    several = len(f.signature.results) > 1
    pairs = zip(f.signature.results, mine if several else [mine], theirs if several else [theirs])
    found = [difference(a.name, a.elem, host_array(x), host_array(y), tolerance) for a, x, y in pairs]
    report = "\n".join(f"{f.signature.program}: {line}" for _, line in found)
    if not all(good for good, _ in found):
        raise Mismatch(report)
    return Check(report)


def fresh(f: Program, args: list) -> list:
    """States are copied: a check leaves the caller's as they were."""
    copies = []
    for a, x in zip(f.signature.parameters, args):
        copies.append((x.clone() if hasattr(x, "clone") else x.copy()) if a.role == "state" else x)
    return copies


def interpreter_words(f: Program, args: list, folder: str) -> list[str]:
    """Options that give `tilec run` the arguments."""
    words = []
    for a, x in zip(f.signature.parameters, args):
        if a.elem in ("i4", "t2"):
            raise f.signature.wrong(a, "packed arrays are checked with drawn inputs only")
        if a.is_scalar:
            words.append(f"--in={a.name}={int(x) if isinstance(x, bool) else x}")
        else:
            words.append(f"--in={a.name}={array_save(host_array(x), os.path.join(folder, a.name + '.npy'))}")
    return words


def array_save(array: Any, path: str) -> str:
    """Types that NumPy lacks as raw bytes."""
    import numpy
    numpy.save(path, array.view(f"V{array.itemsize}") if odd(array.dtype.name) else array)
    return path


def check_program(f: Program, args: tuple, named: dict, reference: Callable | None, tolerance: float | None,
                  seed: int) -> Check:
    """Program.check."""
    sizes = {d.name: named[d.name] for d in f.signature.dims if d.name in named}
    given = bool(args) or len(named) > len(sizes)
    if not given and reference:
        raise ArgumentError(f"{f.signature.program}: check needs arguments for the reference")
    values = f.signature.bind(args, dict(named))[0] if given else []
    if reference:
        return compare_with(f, values, reference, sizes, tolerance)
    with tempfile.TemporaryDirectory() as folder:
        words = interpreter_words(f, values, folder) + [f"--size={name}={n}" for name, n in sizes.items()]
        done = call(["run", *f.source.words, f"--target={f._target_seen()}", f"--seed={seed}", "--check", *words],
                    f.source.text)
    if done.returncode == DIFFERS:
        raise Mismatch((done.stdout + done.stderr).strip())
    if done.returncode:
        raise CompileError(done.stderr.strip())
    return Check(done.stdout.strip())
