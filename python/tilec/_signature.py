"""A program's parameters, results and sizes, as its manifest says them; binds the arguments of calls to them."""
from __future__ import annotations

import ctypes
import inspect
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Sequence

from tilec._errors import ArgumentError, Error
from tilec._tensor import ELEMENTS, Facts

PACKED = {"i4": 4, "t2": 2}  # bits of elements that lie packed in bytes
CELLS: dict[str, Any] = {"f64": ctypes.c_double, "f32": ctypes.c_float, "f16": ctypes.c_uint16, "bf16": ctypes.c_uint16,
         "i64": ctypes.c_int64, "i32": ctypes.c_int32, "i16": ctypes.c_int16, "i8": ctypes.c_int8, "u8": ctypes.c_uint8,
         "bool": ctypes.c_bool}


@dataclass(frozen=True)
class Extent:
    """`constant` plus the run-time size number `dim` (-1: none), in blocks over axes of so many ranks."""
    constant: int
    dim: int
    ranks: tuple[int, ...]

    def at(self, dims: Sequence[Any]) -> Any:
        """Of this rank's part."""
        n = self.constant + (dims[self.dim] if self.dim >= 0 else 0)
        for ranks in self.ranks:
            n = (n + ranks - 1) // ranks
        return n


@dataclass(frozen=True)
class Argument:
    """One of a program: a tensor, or a scalar, which has no extents."""
    name: str
    elem: str
    role: str
    index: int
    alignment: int  # on the host; GPUs need more, which the runtime checks
    shape: tuple[Extent, ...]
    text: str

    @property
    def is_scalar(self) -> bool:
        return not self.shape

    def shape_at(self, dims: Sequence[Any]) -> tuple:
        return tuple(extent.at(dims) for extent in self.shape)

    def bytes_at(self, dims: Sequence[int]) -> int:
        n = PACKED[self.elem] if self.elem in PACKED else ELEMENTS[self.elem][1][1]
        for extent in self.shape:
            n *= extent.at(dims)
        return (n + 7) // 8


@dataclass(frozen=True)
class Dim:
    """A run-time size, at most `bound`."""
    name: str
    bound: int


def bits_of(elem: str, value: float) -> int:
    """Of a half float, rounded to nearest, ties to even."""
    if elem == "f16":
        return struct.unpack("<H", struct.pack("<e", value))[0]
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return 0x7fc0 if value != value else (bits + 0x7fff + (bits >> 16 & 1)) >> 16


def number_of(a: Argument, value: Any) -> Any:
    """A scalar argument as its cell takes it."""
    if a.elem not in CELLS:
        raise ArgumentError(f"scalars of the type {a.elem} cannot be passed from Python")
    try:
        if a.elem == "bool":
            return bool(value)
        if a.elem[0] in "iu":
            number = value.__index__()
            if CELLS[a.elem](number).value != number:
                raise ArgumentError(f"{number} is no {a.elem}")
            return number
        return float(value) if a.elem in ("f64", "f32") else bits_of(a.elem, float(value))
    except (TypeError, AttributeError, ValueError, OverflowError, RuntimeError) as e:
        if isinstance(e, ArgumentError):
            raise
        raise ArgumentError(f"expected a number ({a.elem}), not {repr(value)[:40]}") from None


MANIFEST = 1  # the version that this package reads


def check_version(manifest: dict) -> None:
    version = manifest.get("version")
    if version != MANIFEST:
        raise Error(f"program '{manifest.get('program')}': a manifest of version {version}, this package reads {MANIFEST}: "
                    "use the package and the command of one release")


class Signature:
    """Of one program."""

    def __init__(self, manifest: dict):
        check_version(manifest)
        self.program: str = manifest["program"]
        self.axes = {axis["axis"]: axis["ranks"] for axis in manifest["mesh"]}
        self.dims = [Dim(d["name"], d["bound"]) for d in manifest["dims"]]
        self.arguments = [self.argument_of(i, a) for i, a in enumerate(manifest["args"])]
        self.parameters = [a for a in self.arguments if a.role != "output"]
        self.results = [a for a in self.arguments if a.role == "output"]
        self.roots = list(dict.fromkeys(a.name.split(".")[0] for a in self.parameters))
        self.flat = len(self.roots) == len(self.parameters)

    def argument_of(self, index: int, a: dict) -> Argument:
        number = {d.name: i for i, d in enumerate(self.dims)}
        shape = tuple(Extent(e["constant"], number[e["dim"]] if "dim" in e else -1,
                             tuple(self.axes[axis] for axis in e.get("split", ()))) for e in a["shape"])
        words = [" + ".join(filter(None, [e.get("dim"), str(e["constant"]) if e["constant"] or "dim" not in e else ""])) +
                 "".join(f" @ {axis}" for axis in e.get("split", ())) for e in a["shape"]]
        text = f"{a['elem']}[{', '.join(words)}]" if words else a["elem"]
        alignment = 1 if a["elem"] in PACKED else ELEMENTS[a["elem"]][1][1] // 8
        return Argument(a["name"], a["elem"], a["role"], index, alignment, shape, text)

    def __str__(self) -> str:
        state = {"state": "state "}
        taken = [f"{state.get(a.role, '')}{a.name}: {a.text}" for a in self.parameters]
        given = [f"{a.name}: {a.text}" for a in self.results]
        return f"{self.program}({', '.join(taken)}) -> ({', '.join(given)})"

    def for_inspect(self) -> inspect.Signature:
        kind = inspect.Parameter
        taken = [kind(name, kind.POSITIONAL_OR_KEYWORD) for name in self.roots if name.isidentifier()]
        taken += [kind("out", kind.KEYWORD_ONLY, default=None)]
        taken += [kind(d.name, kind.KEYWORD_ONLY, default=None) for d in self.dims]
        return inspect.Signature(taken)

    # Arguments of a call.

    def bind(self, given: tuple, named: dict[str, Any]) -> tuple[list, tuple]:
        """Values of all parameters in order, and sizes that the call names."""
        if len(given) > len(self.roots):
            raise TypeError(f"{self}: takes {len(self.roots)} arguments, not {len(given)}")
        sizes = tuple((d.name, named.pop(d.name)) for d in self.dims if d.name in named)
        values = dict(zip(self.roots, given))
        for name, value in named.items():
            if name in values or name not in self.roots:
                raise TypeError(f"{self}: {'two values for' if name in values else 'there is no argument'} '{name}'")
            values[name] = value
        missing = [name for name in self.roots if name not in values]
        if missing:
            raise TypeError(f"{self}: the argument '{missing[0]}' is missing")
        return [self.field_of(a, values) for a in self.parameters], sizes

    def field_of(self, a: Argument, values: dict[str, Any]) -> Any:
        """A record's field: of a mapping an item, else an attribute."""
        root, *fields = a.name.split(".")
        value = values[root]
        for field in fields:
            try:
                value = value[field] if isinstance(value, Mapping) else getattr(value, field)
            except (KeyError, AttributeError):
                raise ArgumentError(f"{self.program}: argument '{root}' has no field for '{a.name}'") from None
        return value

    def tree_of(self, values: Sequence[Any]) -> dict[str, Any]:
        """Values of all parameters as a call's arguments: fields of records in dicts."""
        tree: dict[str, Any] = {}
        for a, value in zip(self.parameters, values):
            *path, last = a.name.split(".")
            at = tree
            for step in path:
                at = at.setdefault(step, {})
            at[last] = value
        return tree

    def results_of(self, out: Any) -> list:
        """The arrays of out=, in the results' order."""
        if isinstance(out, Mapping):
            out = [out.get(a.name) for a in self.results]
        out = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(out) != len(self.results) or any(x is None for x in out):
            raise ArgumentError(f"{self.program}: out= takes an array for each result: "
                                f"{', '.join(a.name for a in self.results)}")
        return out

    # Sizes.

    def wrong(self, a: Argument, what: str) -> ArgumentError:
        return ArgumentError(f"{self.program}: argument '{a.name}': {what}")

    def sizes_of(self, tensors: list[tuple[Argument, Facts]], named: tuple) -> list[int]:
        """Run-time sizes: from shapes, else those that the call names; all shapes must agree with them."""
        dims: list[Any] = [None] * len(self.dims)
        number = {d.name: i for i, d in enumerate(self.dims)}
        for name, value in named:
            dims[number[name]] = value
        for a, facts in tensors:
            self.rank_check(a, facts)
            for extent, n in zip(a.shape, facts.shape) if a.elem not in PACKED else ():
                if extent.dim >= 0 and not extent.ranks and dims[extent.dim] is None:
                    dims[extent.dim] = n - extent.constant
        self.bounds_check(dims)
        for a, facts in tensors:
            self.shape_check(a, facts, dims)
        return dims

    def rank_check(self, a: Argument, facts: Facts) -> None:
        if a.elem not in PACKED and len(facts.shape) != len(a.shape):
            raise self.wrong(a, f"expected {a.text}, got {len(facts.shape)} dimensions: {list(facts.shape)}")

    def bounds_check(self, dims: list) -> None:
        for d, value in zip(self.dims, dims):
            if value is None:
                raise ArgumentError(f"{self.program}: the size {d.name} is no extent of an array here: pass {d.name}=")
            if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= value <= d.bound:
                raise ArgumentError(f"{self.program}: the size {d.name} is {value}, not in 0 .. {d.bound}")

    def shape_check(self, a: Argument, facts: Facts, dims: list[int]) -> None:
        expected = a.shape_at(dims)
        if a.elem in PACKED:
            count = 1
            for n in facts.shape:
                count *= n
            if count != a.bytes_at(dims):
                raise self.wrong(a, f"expected {a.bytes_at(dims)} bytes of packed {a.text}, got {count}")
        elif expected != facts.shape:
            sizes = ", ".join(f"{d.name} = {n}" for d, n in zip(self.dims, dims))
            raise self.wrong(a, f"expected {a.text}, that is {list(expected)}{' with ' + sizes if sizes else ''}, "
                                f"got {list(facts.shape)}")

    def type_check(self, a: Argument, facts: Facts) -> None:
        """Everything but sizes."""
        named = ("uint8", "int8") if a.elem in PACKED else (ELEMENTS[a.elem][0],)
        bits = 8 if a.elem in PACKED else ELEMENTS[a.elem][1][1]
        raw = facts.family == "numpy" and facts.dtype == f"void{bits}" and a.elem[:2] in ("bf", "f8")
        if facts.dtype not in named and not raw:
            raise self.wrong(a, f"expected {named[0]}, got {facts.dtype}")
        if not facts.dense:
            raise self.wrong(a, "expected a dense, row-major array, got one with other strides: copy it (.contiguous() of "
                                "PyTorch, numpy.ascontiguousarray)")
        if a.role != "input" and not facts.writable:
            raise self.wrong(a, "is written by the program, but the array is read-only")
