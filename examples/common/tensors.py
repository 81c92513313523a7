"""Reads safetensors: eight bytes that say how long the header is, a header of JSON, then the tensors' bytes. NumPy has no
bf16: its numbers are two raw bytes each, V2."""
import json
import math
import os

import numpy as np

MOST_HEADER = 100 << 20  # bytes, as the format's own library has it
TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "V2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "?"}


def load(path):
    """{name: array} of a file; arrays are views of the mapped file. ValueError names what is wrong."""
    size = os.path.getsize(path)
    with open(path, "rb") as f:
        length = int.from_bytes(f.read(8), "little")
        if size < 8 or length > min(MOST_HEADER, size - 8):
            raise ValueError(f"{path}: byte 0: a header of {length} bytes, the file has {size}")
        try:
            header = json.loads(f.read(length))
        except (ValueError, RecursionError) as e:
            raise ValueError(f"{path}: byte 8: the header is no JSON: {e}") from None
    if not isinstance(header, dict):
        raise ValueError(f"{path}: byte 8: the header is no object")
    header.pop("__metadata__", None)
    data = np.memmap(path, dtype="u1", mode="r", offset=8 + length) if size > 8 + length else np.zeros(0, "u1")
    ends = sorted(check(path, name, entry, data.size) for name, entry in header.items())
    last, before = 0, None
    for begin, end, name in ends:
        if begin < last:
            raise ValueError(f"{path}: '{before}' and '{name}' overlap")
        if begin > last:
            raise ValueError(f"{path}: '{name}' begins at {begin}; the bytes from {last} on are no tensor's")
        last, before = end, name
    if last < data.size:
        raise ValueError(f"{path}: {data.size - last} bytes behind the last tensor")
    return {name: array_of(data, entry) for name, entry in header.items()}


def check(path, name, entry, size):
    """(first byte, byte behind the last, name) of a tensor."""
    try:
        (begin, end), shape, kind = entry["data_offsets"], entry["shape"], TYPES[entry["dtype"]]
        need = math.prod(shape) * np.dtype(kind).itemsize
        whole = all(type(n) is int and n >= 0 for n in (*shape, begin, end))
    except (TypeError, KeyError, ValueError):
        raise ValueError(f"{path}: '{name}' is described by {json.dumps(entry)[:100]}") from None
    if not whole or end > size or end - begin != need:
        raise ValueError(f"{path}: '{name}' takes {need} bytes, and lies at {begin} .. {end} of {size}")
    return begin, end, name


def array_of(data, entry):
    begin, end = entry["data_offsets"]
    return data[begin:end].view(TYPES[entry["dtype"]]).reshape(entry["shape"])
