"""The cache of compiled libraries. KEY.json names the files that were read, with their hashes, and the folder of the
library; a folder's name is made of all of these, so that a library in use is never written again."""
from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
from typing import Iterator, NamedTuple

from tilec._errors import Error
from tilec._signature import MANIFEST, check_version
from tilec._source import Source, read
from tilec._tool import demand


class Entry(NamedTuple):
    """What a compilation left: the manifest, and the library's path if one was asked for."""
    manifest: dict
    library: str | None


def folder() -> str:
    """$TILEC_CACHE, else tilec in $XDG_CACHE_HOME or ~/.cache."""
    own = os.environ.get("TILEC_CACHE")
    return own or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tilec")


def clear_cache() -> None:
    """Removes all compiled libraries. Those in use go on."""
    shutil.rmtree(folder(), ignore_errors=True)


def hash_of(path: str) -> str | None:
    try:
        return hashlib.sha256(read(path)).hexdigest()
    except Exception:
        return None


@contextlib.contextmanager
def locked(path: str) -> Iterator[None]:
    """One compiles, others wait. A file system without locks only lets several compile the same."""
    with open(path, "w") as f:
        with contextlib.suppress(OSError):
            fcntl.flock(f, fcntl.LOCK_EX)
        yield


def look_up(key: str) -> Entry | None:
    """None: there is none, or a file that was read has changed."""
    try:
        with open(os.path.join(folder(), key + ".json"), encoding="utf-8") as f:
            note = json.load(f)
        library = note["library"] and os.path.join(folder(), note["library"])
        if any(hash_of(path) != digest for path, digest in note["files"]) or (library and not os.path.exists(library)):
            return None
        if note["manifest"].get("version") != MANIFEST:
            return None
        return Entry(note["manifest"], library)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def files_read(depfile: str) -> list[str]:
    """Paths in a depfile of Make, without its target."""
    with open(depfile, encoding="utf-8") as f:
        text = f.read().split(": \\\n", 1)[1].replace(" \\\n", "\n")
    names = [re.sub(r"\\([ #])", r"\1", name.strip()).replace("$$", "$") for name in text.splitlines()]
    return [os.path.abspath(name) for name in names if name != "/dev/stdin"]


def install(key: str, made: str) -> None:
    """Makes of a folder's files an entry. Each step is a rename."""
    names = os.listdir(made)
    manifests = sorted(n for n in names if n.endswith(".json"))
    if len(manifests) != 1:
        raise Error(f"the source has {len(manifests)} programs: name one of {', '.join(n[:-5] for n in manifests)}")
    with open(os.path.join(made, manifests[0]), encoding="utf-8") as f:
        manifest = json.load(f)
    check_version(manifest)
    files = [(path, hash_of(path)) for path in files_read(os.path.join(made, "files.d"))]
    own = hashlib.sha256(json.dumps([key, files]).encode()).hexdigest()[:32]
    library = next((n for n in names if n.endswith(".so")), None)
    if library and not os.path.exists(os.path.join(folder(), own, library)):
        shutil.rmtree(os.path.join(folder(), own), ignore_errors=True)
        os.rename(made, os.path.join(folder(), own))
    note = {"files": files, "manifest": manifest, "library": library and os.path.join(own, library)}
    with tempfile.NamedTemporaryFile("w", dir=folder(), delete=False, encoding="utf-8") as to:
        json.dump(note, to)
    os.replace(to.name, os.path.join(folder(), key + ".json"))


def compile_source(source: Source, target: str, emit: str) -> Entry:
    """The library (emit "lib") or only the manifest ("src") of a source, from the cache if it is there."""
    words = [f"--target={target}", f"--emit={emit}"]
    key = source.key(words)
    entry = look_up(key)
    if entry:
        return entry
    os.makedirs(folder(), exist_ok=True)
    with locked(os.path.join(folder(), key + ".lock")):
        if not look_up(key):
            made = tempfile.mkdtemp(dir=folder())
            try:
                demand(["compile", *source.words, *words, "-o", made, "-MF", os.path.join(made, "files.d")], source.text)
                install(key, made)
            finally:
                shutil.rmtree(made, ignore_errors=True)
        entry = look_up(key)
    if not entry:
        raise OSError(f"a file of the source changed while it was compiled, or {folder()} was removed; try again")
    return entry
