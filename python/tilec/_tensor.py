"""Arrays of other libraries. `describe` gives a hashable key, that says everything about an array but where it lies and
what it holds, its address, and what must live as long as that; `facts_of` reads the key."""
from __future__ import annotations

import ctypes
import functools
import sys
from ctypes import POINTER, Structure, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from typing import Any, Callable, NamedTuple

from tilec._errors import ArgumentError, Error

# Element types of tilec: names that NumPy with ml_dtypes and PyTorch share, DLPack's code and bits, and bits of an element.
ELEMENTS = {
    "f64": ("float64", (2, 64)), "f32": ("float32", (2, 32)), "f16": ("float16", (2, 16)), "bf16": ("bfloat16", (4, 16)),
    "f8e4m3": ("float8_e4m3fn", (10, 8)), "f8e5m2": ("float8_e5m2", (12, 8)), "f8e4m3fnuz": ("float8_e4m3fnuz", (11, 8)),
    "i64": ("int64", (0, 64)), "i32": ("int32", (0, 32)), "i16": ("int16", (0, 16)), "i8": ("int8", (0, 8)),
    "u8": ("uint8", (1, 8)), "bool": ("bool", (6, 8)),
}
DLPACK = {code: name for name, code in ELEMENTS.values()}
HOST = (1, 0)  # DLPack's kind of device, and its number
CUDA, CUDA_HOST, ROCM, ROCM_HOST = 2, 3, 10, 11


class Facts(NamedTuple):
    """What a key says. `device`: DLPack's kind and number; `dense`: row-major without gaps."""
    dtype: str
    shape: tuple[int, ...]
    dense: bool
    writable: bool
    device: tuple[int, int]
    family: str


def is_dense(shape: tuple, strides: tuple | None, each: int = 1) -> bool:
    """Row-major without gaps; `each` is the stride of neighbours."""
    if strides is None or 0 in shape:
        return True
    for n, stride in zip(reversed(shape), reversed(strides)):
        if n != 1 and stride != each:
            return False
        each *= n
    return True


# NumPy.

def describe_numpy(x: Any) -> tuple[tuple, int, Any]:
    return (x.dtype, x.shape, x.strides, x.flags.writeable), x.ctypes.data, None


def facts_numpy(key: tuple) -> Facts:
    dtype, shape, strides, writable = key
    name = dtype.name if dtype.isnative else f"{dtype.name} of the other byte order"
    return Facts(name, shape, is_dense(shape, strides, dtype.itemsize), writable, HOST, "numpy")


@functools.lru_cache(maxsize=None)
def numpy_dtype(name: str) -> Any:
    """NumPy's own, or that of ml_dtypes."""
    import numpy
    if name == "bool" or hasattr(numpy, name):
        return numpy.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        raise Error(f"NumPy has no {name}: install ml_dtypes, or pass out=") from None
    return numpy.dtype(getattr(ml_dtypes, name))


def maker_numpy(name: str, shape: tuple, _: tuple) -> Callable[[], Any]:
    import numpy
    return functools.partial(numpy.empty, shape, numpy_dtype(name))


# PyTorch.

def describe_torch(x: Any) -> tuple[tuple, int, Any]:
    grows = x.requires_grad and sys.modules["torch"].is_grad_enabled()
    return (x.dtype, x.shape, x.stride(), x.device, grows, x.is_neg()), x.data_ptr(), None


def device_torch(device: Any) -> tuple[int, int]:
    if device.type == "cpu":
        return HOST
    if device.type != "cuda":
        raise ArgumentError(f"is on the device '{device}': programs run on the host, CUDA's and HIP's devices")
    return ROCM if sys.modules["torch"].version.hip else CUDA, device.index or 0


def facts_torch(key: tuple) -> Facts:
    dtype, shape, strides, device, grows, negated = key
    if grows:
        raise ArgumentError("requires a gradient, which a plain call has none of: use tilec.torch_op, or pass .detach()")
    if negated:
        raise ArgumentError("is a view with the sign turned: pass .resolve_neg()")
    return Facts(str(dtype)[6:], tuple(shape), is_dense(shape, strides), True, device_torch(device), "torch")


def maker_torch(name: str, shape: tuple, device: tuple) -> Callable[[], Any]:
    import torch
    place = "cpu" if device == HOST else f"cuda:{device[1]}"
    return functools.partial(torch.empty, shape, dtype=getattr(torch, name), device=place)


def stream_torch(index: int) -> Callable[[], int]:
    """The handle of the current stream of a device; 0 is the legacy default stream, which the runtime follows."""
    current = sys.modules["torch"].cuda.current_stream
    return lambda: current(index).cuda_stream


# DLPack: everything else. github.com/dmlc/dlpack, include/dlpack/dlpack.h

class DLTensor(Structure):
    """DLTensor, with which a DLManagedTensor begins."""
    _fields_ = [("data", c_void_p), ("kind", c_int32), ("device", c_int32), ("ndim", c_int32), ("code", c_uint8),
                ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64)]


capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = c_void_p, [ctypes.py_object, ctypes.c_char_p]
STREAM = {CUDA: 1, ROCM: 0}  # how DLPack names the legacy default stream


def describe_dlpack(x: Any) -> tuple[tuple, int, Any]:
    """The capsule stays ours alone: it gives the memory back when it dies."""
    kind, _ = x.__dlpack_device__()
    capsule = x.__dlpack__(stream=STREAM[kind]) if kind in STREAM else x.__dlpack__()
    t = DLTensor.from_address(capsule_pointer(capsule, b"dltensor"))
    shape = tuple(t.shape[:t.ndim])
    strides = tuple(t.strides[:t.ndim]) if t.strides else None
    family = type(x).__module__.split(".")[0]
    key = (family, (t.code, t.bits), t.lanes, shape, strides, (t.kind, t.device))
    return key, (t.data or 0) + t.byte_offset, capsule


def facts_dlpack(key: tuple) -> Facts:
    family, code, lanes, shape, strides, device = key
    name = DLPACK.get(code, f"DLPack's type {code}") if lanes == 1 else f"vectors of {lanes}"
    if device[0] in (CUDA_HOST, ROCM_HOST):
        device = HOST
    family = family if family in ("jaxlib", "jax") else "dlpack"
    return Facts(name, shape, is_dense(shape, strides), family == "dlpack", device, family)


def maker_dlpack(name: str, shape: tuple, device: tuple) -> Callable[[], Any]:
    """On the host an array of NumPy; on a device one of CuPy."""
    if device == HOST:
        return maker_numpy(name, shape, device)
    if "cupy" not in sys.modules:
        raise ArgumentError("lies on a device, and its library makes no arrays for results: pass out=")
    return functools.partial(sys.modules["cupy"].empty, shape, name)


def finish_jax(x: Any) -> Any:
    """An array of NumPy's that nobody else has, as one of JAX."""
    return sys.modules["jax"].numpy.from_dlpack(x) if x.dtype.isbuiltin == 1 else sys.modules["jax"].numpy.asarray(x)


class Library(NamedTuple):
    """How arrays of one library are read, made, and given back."""
    describe: Callable
    facts: Callable[[tuple], Facts]
    maker: Callable[[str, tuple, tuple], Callable]
    address: Callable[[Any], int]  # of what `maker` makes


def address_numpy(x: Any) -> int:
    return x.ctypes.data


def address_torch(x: Any) -> int:
    return x.data_ptr()


def address_other(x: Any) -> int:
    return library_of(x).describe(x)[1]


NUMPY = Library(describe_numpy, facts_numpy, maker_numpy, address_numpy)
TORCH = Library(describe_torch, facts_torch, maker_torch, address_torch)
ANY = Library(describe_dlpack, facts_dlpack, maker_dlpack, address_other)
LIBRARIES: dict[type, Library] = {}  # of the types that were seen
DESCRIBE: dict[type, Callable] = {}  # likewise, Library.describe


def library_of(x: Any) -> Library:
    """By the object's type; an error for what is no array."""
    found = LIBRARIES.get(type(x))
    if found:
        return found
    modules = {base.__module__.split(".")[0]: base.__name__ for base in type(x).__mro__}
    if "numpy" in modules and isinstance(x, sys.modules["numpy"].ma.MaskedArray):
        raise ArgumentError("is a masked array, whose mask no program sees: pass .filled(..)")
    if "numpy" in modules and isinstance(x, sys.modules["numpy"].ndarray):
        found = NUMPY
    elif "torch" in modules and isinstance(x, sys.modules["torch"].Tensor):
        found = TORCH
    elif hasattr(x, "__dlpack__"):
        found = ANY
    else:
        raise ArgumentError(f"expected an array (NumPy, PyTorch, or with __dlpack__), not {type(x).__name__}")
    LIBRARIES[type(x)], DESCRIBE[type(x)] = found, found.describe
    return found


def describe_new(x: Any) -> tuple[tuple, int, Any]:
    """Of a type that was not seen yet."""
    return library_of(x).describe(x)


def device_name(device: tuple[int, int]) -> str:
    return "the host" if device == HOST else f"{ {CUDA: 'CUDA', ROCM: 'HIP'}.get(device[0], 'an unknown')} device {device[1]}"


@functools.lru_cache(maxsize=None)
def target_of(device: tuple[int, int]) -> str:
    """The target that tilec compiles for, of a device."""
    if device == HOST:
        return "host"
    torch = sys.modules.get("torch")
    if device[0] not in (CUDA, ROCM) or not torch or not torch.cuda.is_available():
        raise ArgumentError(f"what {device_name(device)} is cannot be told without PyTorch: pass target= to tilec.load")
    if device[0] == ROCM:
        return torch.cuda.get_device_properties(device[1]).gcnArchName.split(":")[0]
    major, minor = torch.cuda.get_device_capability(device[1])
    return f"sm_{major}{minor}a" if major >= 9 else f"sm_{major}{minor}"
