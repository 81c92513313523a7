"""Exceptions. Each has a sentence of the compiler or the runtime."""
from __future__ import annotations

import re
from typing import NamedTuple

PATTERN = re.compile(r"(?P<file>.*?):(?P<line>\d+):(?P<column>\d+): (?P<kind>error|warning|note): (?P<message>.*?)"
                     r"(?: \[(?P<id>[\w-]+)\])?$", re.MULTILINE)


class Diagnostic(NamedTuple):
    """One message of the compiler."""
    file: str
    line: int
    column: int
    kind: str
    message: str
    id: str | None


def diagnostics_of(text: str) -> list[Diagnostic]:
    """The messages in what tilec printed."""
    return [Diagnostic(m["file"], int(m["line"]), int(m["column"]), m["kind"], m["message"], m["id"])
            for m in PATTERN.finditer(text)]


class Error(Exception):
    """All errors of this package."""


class CompileError(Error):
    """The source is wrong, or a compiler failed. str() is what tilec prints."""

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The messages, in order."""
        return diagnostics_of(str(self))


class ArgumentError(Error, ValueError):
    """An argument of a call does not fit: its type, shape, strides, device, or value. Nothing was run."""


class RunError(Error, RuntimeError):
    """The runtime refused or ended a run. `code` is the name of its code: runtime/include/tile.h."""

    def __init__(self, code: str, sentence: str):
        super().__init__(f"{sentence} [{code}]")
        self.code = code


class Mismatch(Error, AssertionError):
    """check() found results that differ. str() is the report."""
