"""What a program is made of: a file or a text, sizes, options; and its key in the cache."""
from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import shutil
from dataclasses import dataclass
from typing import Any

from tilec._errors import Error
from tilec._tool import command

FORMAT = 1  # of the cache's entries


def stamp(path: str | None) -> list:
    """What tells a file from another one without reading it."""
    if not path or not os.path.exists(path):
        return [path]
    s = os.stat(path)
    return [os.path.realpath(path), s.st_size, s.st_mtime_ns]


def headers() -> list[str]:
    """The runtime's, which compiled code includes."""
    top = os.environ.get("TILEC_RUNTIME") or os.path.join(os.path.dirname(command()), "..", "include", "tilec")
    return [os.path.join(folder, name) for folder, _, names in os.walk(top) for name in sorted(names)]


def processor() -> str:
    """Name and features of the processor, for which the host's code is compiled: the first block of /proc/cpuinfo."""
    try:
        with open("/proc/cpuinfo", "rb", buffering=0) as f:
            lines = f.read(8192).split(b"\n\n")[0].decode("ascii", "replace").splitlines()
    except OSError:
        lines = []
    return platform.machine() + "".join(line for line in lines if line.split("\t")[0] in ("model name", "flags", "Features"))


@functools.lru_cache(maxsize=None)
def tools() -> str:
    """Compilers, headers, machine: everything else that a library depends on."""
    names = {"CC": "cc", "TILEC_NVCC": "nvcc", "TILEC_HIP": "clang-22"}
    compilers = [stamp(shutil.which(os.environ.get(variable) or name)) for variable, name in names.items()]
    return json.dumps([FORMAT, stamp(command()), [stamp(h) for h in headers()], compilers, processor()])


@dataclass(frozen=True)
class Source:
    """A file (`path`) or a text, and how it is compiled."""
    path: str | None
    text: str | None
    program: str | None
    dims: tuple[tuple[str, int], ...]
    include: tuple[str, ...]
    tuned: str | None
    ranks: int | None
    options: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        """Of a command line, behind the command's name."""
        words = [self.path or "-"]
        words += [f"-D{name}={value}" for name, value in self.dims]
        words += [f"-I{folder}" for folder in (*self.include, *([] if self.path else [os.getcwd()]))]
        words += [f"--program={self.program}"] if self.program else []
        words += [f"--tuned={self.tuned}"] if self.tuned else []
        words += [f"--ranks={self.ranks}"] if self.ranks else []
        return words + list(self.options)

    @property
    def content(self) -> bytes:
        """Of the file and of the measured sizes."""
        parts = [self.text.encode()] if self.text is not None else []
        for path in (self.path, self.tuned):
            if path:
                parts.append(read(path))
        return b"\0".join(parts)

    def key(self, words: list[str]) -> str:
        """Of what the command makes with further words. Files that are imported are not in it."""
        all_words = json.dumps([os.getcwd(), self.words, words])
        return hashlib.sha256(b"\0".join([tools().encode(), all_words.encode(), self.content])).hexdigest()[:32]


def read(path: str) -> bytes:
    """A file's bytes, or an error that names it."""
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError as e:
        raise Error(f"cannot read {path}: {e.strerror}") from None


def source_of(source: str | os.PathLike, program: str | None, dims: dict[str, Any], include: Any, tuned: Any, ranks: Any,
              options: Any) -> Source:
    """A text has a brace or a line's end; everything else is a file's name."""
    text = source if isinstance(source, str) and ("\n" in source or "{" in source) else None
    for name, value in dims.items():
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise Error(f"dimension {name}: expected a whole number, not {value!r}")
    if isinstance(include, (str, os.PathLike)):
        include = [include]
    return Source(None if text is not None else os.fspath(source), text, program,
                  tuple((name, int(value)) for name, value in sorted(dims.items())), tuple(map(os.fspath, include)),
                  os.fspath(tuned) if tuned else None, ranks and int(ranks), tuple(options))
