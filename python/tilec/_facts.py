"""What the compiler knows about a document: types of values, placements of tensors, predicted times. From the IR as it was
lowered, `tilec compile --emit=ir --passes=none`, and from `tilec explain`."""
from __future__ import annotations

import os
import re
import subprocess
import tempfile
from typing import NamedTuple

from tilec import _tool

HEAD = re.compile(r"^(kernel|program) @([\w.]+)")
VALUE = re.compile(r"^\s*%([A-Za-z_]\w*)(?:\.\d+)? = .* : (\S.*)$")
CARRIED = re.compile(r"%([A-Za-z_]\w*)(?:\.\d+)? = %\S+ : ([\w<>, ]+?)(?=[,)])")
TENSOR = re.compile(r"^\s*(input|state|output|temp) %([A-Za-z_]\w*)(?:\.\d+)?: (\S+\[[^\]]*\]|\w+)(.*)$")
TILE = re.compile(r"(\w+)<([^>]*)>")
PARAMS = re.compile(r"%([A-Za-z_]\w*): ([\w.]+\[[^\]]*\]|\w+)")


PATIENCE = 1.0  # seconds; chosen: no measurement is recorded


class Explained:
    """What explain says of a text, by kernel as it was compiled. It takes up to half a minute for a model of many layers; an
    editor waits for PATIENCE once, and sees nothing until it is there."""

    def __init__(self, folder: str, text: str, target: str):
        self.patience, self.out = PATIENCE, tempfile.TemporaryFile()
        self.said: dict[str, list[str]] | None = None
        with tempfile.TemporaryFile() as source:
            source.write(text.encode())
            source.seek(0)
            self.process = subprocess.Popen([_tool.command(), "explain", "-", "-I", folder, "--target=" + target], stdin=source,
                                            stdout=self.out, stderr=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1"})

    def lines(self) -> dict[str, list[str]]:
        if self.said is None:
            try:
                code, self.patience = self.process.wait(self.patience), 0.0
            except subprocess.TimeoutExpired:
                self.patience = 0.0
                return {}
            self.out.seek(0)
            self.said = read_said(self.out.read().decode(errors="replace")) if code == 0 else {}
        return self.said

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self.out.close()


class Facts(NamedTuple):
    """By (kind and name of the declaration, name in it): the types that it has, one for each instance of a kernel."""
    types: dict[tuple[str, str], dict[str, list[str]]]
    said: Explained | None

    def type_of(self, kind: str, decl: str, name: str) -> str:
        """As declared in the source, `f32[r, c]`; several where instances differ; or nothing."""
        found: list[str] = []
        for (kind_of, instance), types in self.types.items():
            if kind_of == kind and is_instance(instance, decl):
                found += [t for t in types.get(name, []) if t not in found]
        return " or ".join(found)

    def lines_of(self, kernel: str) -> list[str]:
        said = self.said.lines() if self.said else {}
        return [line for name, lines in said.items() if is_instance(name, kernel) for line in lines]


def is_instance(name: str, decl: str) -> bool:
    return re.fullmatch(re.escape(decl) + r"(_\d+)?", name) is not None


def tile_type(text: str) -> str:
    """f32<i, j> of the IR as f32[i, j]."""
    return TILE.sub(r"\1[\2]", text)


def add(types: dict[str, list[str]], name: str, text: str) -> None:
    if text not in types.setdefault(name, []):
        types[name].append(text)


def read_line(line: str, types: dict[str, list[str]]) -> None:
    value, tensor = VALUE.match(line), TENSOR.match(line)
    if tensor:
        add(types, tensor[2], f"{tensor[3]}{tensor[4]}".strip())
    elif value:
        add(types, value[1], tile_type(value[2]))
    for name, text in CARRIED.findall(line):
        add(types, name, tile_type(text))


def read_ir(text: str) -> dict[tuple[str, str], dict[str, list[str]]]:
    types: dict[tuple[str, str], dict[str, list[str]]] = {}
    at: dict[str, list[str]] = {}
    for line in text.split("\n"):
        head = HEAD.match(line)
        if head:
            at = types.setdefault((head[1], head[2]), {})
            for name, declared in PARAMS.findall(line) if head[1] == "kernel" else ():
                add(at, name, declared)
        else:
            read_line(line, at)
    return types


def read_said(text: str) -> dict[str, list[str]]:
    """Lines of explain about a kernel, which begin with its name."""
    said: dict[str, list[str]] = {}
    for line in text.split("\n"):
        m = re.match(r"(?:\S+:\d+:\d+: )?(pipe|roles|model|split|fuse|layout|tune): '?([\w.]+)'?(.*)", line)
        if m:
            said.setdefault(m[2], []).append(f"{m[1]}: {m[2]}{m[3]}")
    return said


def facts_of(path: str, text: str, target: str) -> Facts:
    """Nothing where the document has errors."""
    folder = os.path.dirname(path) or "/"
    ir = _tool.call(["compile", "-", "-I", folder, "--emit=ir", "--passes=none", "-o", "-"], text)
    if ir.returncode:
        return Facts({}, None)
    return Facts(read_ir(ir.stdout), Explained(folder, text, target))
