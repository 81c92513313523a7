"""Where names of files are declared: kernels, programs, records, formats, dims, axes; here, in imports, in the library."""
from __future__ import annotations

import os
import re
from typing import Iterator, NamedTuple

from tilec import _tool

IMPORT = re.compile(r'^\s*import\s+"([^"\n]+)"', re.MULTILINE)
HEAD = r"^(?:kernel|program|record|format)\s+({0})\b[^{{]*|^(?:dim|mesh)\b[^;]*?\b({0})\s*(?:<=|=)[^;]*;"
LIBRARY = (os.path.join("..", "share", "tilec"), os.path.join("..", "..", "frontend"))  # from the command: installed, built


class Declaration(NamedTuple):
    """A name's place in a file, its head as it is written, and the comment above."""
    path: str
    line: int
    column: int
    text: str
    comment: str


def library() -> str | None:
    """The folder that has the library's folder `std`."""
    beside = os.path.dirname(os.path.realpath(_tool.command()))
    folders = (os.path.normpath(os.path.join(beside, way)) for way in LIBRARY)
    return next((f for f in folders if os.path.isdir(os.path.join(f, "std"))), None)


def read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except (OSError, ValueError):
        return None


def files_of(path: str, text: str) -> Iterator[tuple[str, str]]:
    """The file, what it imports, and the library, each once."""
    std, seen, todo = library(), {path}, [(path, text)]
    own = os.path.dirname(path)
    rest = sorted(os.listdir(os.path.join(std, "std"))) if std else []
    names = [os.path.join(std or "", "std", name) for name in rest]
    while todo:
        at, content = todo.pop(0)
        yield at, content
        wanted = [os.path.normpath(os.path.join(std or own if n.startswith("std/") else own, n)) for n in IMPORT.findall(content)]
        for other in wanted + ([] if todo else names):  # the library comes last
            found = None if other in seen else read(other)
            seen.add(other)
            if found is not None:
                todo.append((other, found))


def comment_above(lines: list[str], line: int) -> str:
    first = line
    while first > 0 and lines[first - 1].startswith("//"):
        first -= 1
    return "\n".join(text.lstrip("/ ") for text in lines[first:line])


def declaration_of(name: str, path: str, text: str) -> Declaration | None:
    """The first one of a name."""
    for at, content in files_of(path, text):
        m = re.search(HEAD.format(re.escape(name)), content, re.MULTILINE)
        if m:
            begin = m.start(1) if m[1] else m.start(2)
            line = content.count("\n", 0, begin)
            lines = content.split("\n")
            return Declaration(at, line, begin - (content.rfind("\n", 0, begin) + 1), m[0].strip(),
                               comment_above(lines, content.count("\n", 0, m.start())))
    return None
