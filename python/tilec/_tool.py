"""The command: where it is, and how it is called."""
from __future__ import annotations

import functools
import os
import re
import shutil
import signal
import subprocess
import sys
from typing import Sequence

from tilec._errors import CompileError, Error

WHEEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prefix")


@functools.lru_cache(maxsize=None)
def command() -> str:
    """Path of the command tilec: $TILEC, else the one of this package, else the one on the path."""
    inside = os.path.join(WHEEL, "bin", "tilec")
    path = os.environ.get("TILEC") or (inside if os.path.exists(inside) else shutil.which("tilec"))
    if not path or not os.access(path, os.X_OK):
        raise Error(f"the command tilec is not there: {path or inside}; $TILEC may name it")
    return os.path.abspath(path)


def version() -> str:
    """As `tilec --version` says it."""
    from importlib.metadata import PackageNotFoundError, version as installed
    try:
        return installed("tilec")
    except PackageNotFoundError:  # from the source tree
        return "0"


def call(words: Sequence[str], text: str | None = None) -> subprocess.CompletedProcess:
    """Runs the command; `text` is its standard input."""
    done = subprocess.run([command(), *words], input=text, capture_output=True, encoding="utf-8", errors="replace",
                          env={**os.environ, "NO_COLOR": "1"})
    if text is not None:
        done.stderr = re.sub(r"^/dev/stdin:", "<string>:", done.stderr, flags=re.MULTILINE)
        done.stdout = re.sub(r"^/dev/stdin:", "<string>:", done.stdout, flags=re.MULTILINE)
    return done


def demand(words: Sequence[str], text: str | None = None) -> str:
    """Runs the command; gives what it prints, or raises what it says. Warnings go to standard error."""
    done = call(words, text)
    if done.returncode:
        raise CompileError(done.stderr.strip() or f"tilec ended with code {done.returncode}")
    if done.stderr:
        sys.stderr.write(done.stderr)
    return done.stdout


def main() -> None:
    """The script `tilec`: the command itself, and the language server."""
    if sys.argv[1:2] == ["lsp"]:
        from tilec.lsp import serve
        sys.exit(serve())
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # which Python ignores, and the command would
    os.execv(command(), [command(), *sys.argv[1:]])
