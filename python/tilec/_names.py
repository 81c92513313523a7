"""Names of a document by its tokens alone, so that texts with errors have them too: where a name is made, where it is used, what
may stand at a place. A kernel or program is one namespace without shadowing, so a name means one thing in it."""
from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import Iterator, NamedTuple

from tilec import _declared

TOKEN = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"[^"\n]*"?|[A-Za-z_]\w*|\d\w*(?:\.(?!\.)\w*)?|\.\.|[-+*/]=|[=<>!]=|\S', re.S)
BEGINS = ("kernel", "program", "record", "format", "dim", "mesh", "import")
MAKES = ("=", "+=", "-=", "*=", "/=", ":")
WORD = re.compile(r"[A-Za-z_]\w*\Z")
ELEMENTS = ("f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "f8e4m3fnuz", "i64", "i32", "i16", "i8", "u8", "i4", "t2", "bool")


class Token(NamedTuple):
    text: str
    at: int  # offset in the document

    @property
    def is_word(self) -> bool:
        return WORD.match(self.text) is not None


class Part(NamedTuple):
    """A declaration: `kind` is the word that it begins with."""
    kind: str
    name: str
    tokens: list[Token]

    @property
    def begin(self) -> int:
        return self.tokens[0].at

    @property
    def end(self) -> int:
        return self.tokens[-1].at + len(self.tokens[-1].text)


def tokens_of(text: str) -> Iterator[Token]:
    for m in TOKEN.finditer(text):
        if not m[0].startswith(("//", "/*", '"')):
            yield Token(m[0], m.start())


@lru_cache(maxsize=64)
def parts_of(text: str) -> list[Part]:
    """Declarations. One that lacks its end is cut where the next begins a line."""
    parts: list[Part] = []
    tokens: list[Token] = []
    depth = 0
    for t in tokens_of(text):
        if t.text in BEGINS and (not tokens or text[t.at - 1:t.at] in ("", "\n")):
            if tokens:
                parts.append(part_of(tokens))
            tokens, depth = [], 0
        elif not tokens:
            continue
        tokens.append(t)
        depth += (t.text == "{") - (t.text == "}")
        if (t.text == "}" and depth <= 0) or (t.text == ";" and tokens[0].text in ("dim", "mesh", "import")):
            parts.append(part_of(tokens))
            tokens = []
    return parts + ([part_of(tokens)] if tokens else [])


def part_of(tokens: list[Token]) -> Part:
    return Part(tokens[0].text, tokens[1].text if len(tokens) > 1 else "", tokens)


def part_at(text: str, offset: int) -> Part | None:
    return next((p for p in parts_of(text) if p.begin <= offset <= p.end), None)


def after(part: Part, n: int) -> str:
    """The token behind one of the part; '' behind the last."""
    return part.tokens[n + 1].text if n + 1 < len(part.tokens) else ""


def is_field(part: Part, n: int) -> bool:
    return n > 0 and part.tokens[n - 1].text == "."


def token_at(part: Part, offset: int) -> int | None:
    """The place in the part of the name at an offset."""
    return next((n for n, t in enumerate(part.tokens) if t.is_word and t.at <= offset <= t.at + len(t.text)), None)


def declares_many(part: Part) -> bool:
    return part.kind in ("dim", "mesh")


def made_in(part: Part) -> dict[str, int]:
    """Names that the part makes for itself, and the first token that does: parameters, ranges, values, names of merge."""
    made: dict[str, int] = {}
    if declares_many(part) or part.kind == "import":
        return made
    for n, t in enumerate(part.tokens[2:], 2):
        makes = after(part, n) in MAKES or (after(part, n) in (",", ")") and in_targets(part, n))
        makes = makes or part.tokens[n - 1].text in ("each", "for", "repeat", "let") or (after(part, n) == "of" and part.tokens[n - 1].text == ",")
        if t.is_word and makes and not is_field(part, n):
            made.setdefault(t.text, n)
    for n in head_generics(part, made):
        made.setdefault(part.tokens[n].text, n)
    return made


def in_targets(part: Part, n: int) -> bool:
    """`a, b = ..` and `merge (a, b)`: a name of a list that ends in what makes names."""
    while n + 2 < len(part.tokens) and after(part, n) == "," and part.tokens[n + 2].is_word:
        n += 2
    first = n
    while first >= 2 and part.tokens[first - 1].text == "," and part.tokens[first - 2].is_word:
        first -= 2
    before = part.tokens[first - 1].text if first else ""
    return (after(part, n) == "=" and before in (";", "{", "}")) or (after(part, n) == ")" and before == "(" and part.tokens[first - 2].text == "merge")


def head_generics(part: Part, made: dict[str, int]) -> Iterator[int]:
    """Names of the head that stand for what a call gives: extents and element types."""
    for n, t in enumerate(part.tokens[2:], 2):
        if t.text == "{":
            return
        if t.is_word and t.text not in made and t.text not in ELEMENTS and t.text not in words() and part.kind == "kernel":
            yield n


# ---- what a name means ----

class Meaning(NamedTuple):
    """`part` is where a name is known; None: in the whole file, and in those that import it."""
    name: str
    part: Part | None


def meaning_at(text: str, offset: int) -> Meaning | None:
    part = part_at(text, offset)
    n = token_at(part, offset) if part else None
    if part is None or n is None or is_field(part, n) or part.tokens[n].text in BEGINS:
        return None
    name = part.tokens[n].text
    is_own = n == 1 and not declares_many(part)
    local = not is_own and name in made_in(part) and not is_outside(text, part, name)
    return Meaning(name, part if local else None)


def is_outside(text: str, part: Part, name: str) -> bool:
    """A name of the part's head that the file declares: a dimension or a record, not what a call gives."""
    return name in globals_of(text) and after(part, made_in(part)[name]) not in MAKES


def globals_of(text: str) -> dict[str, Token]:
    """Names that the file declares."""
    found: dict[str, Token] = {}
    for part in parts_of(text):
        if declares_many(part):
            for n, t in enumerate(part.tokens[1:], 1):
                if t.is_word and after(part, n) in ("=", "<="):
                    found.setdefault(t.text, t)
        elif part.name and part.kind != "import":
            found.setdefault(part.name, part.tokens[1])
    return found


def uses_of(text: str, meaning: Meaning) -> list[Token]:
    """All tokens of a document that mean it, in order."""
    if meaning.part:
        return [t for n, t in enumerate(meaning.part.tokens) if t.text == meaning.name and not is_field(meaning.part, n) and n != 1]
    return [t for part in parts_of(text) for n, t in enumerate(part.tokens)
            if t.text == meaning.name and not is_field(part, n) and meaning_at(text, t.at) == meaning]


def is_taken(text: str, meaning: Meaning, name: str) -> bool:
    """It cannot have this name instead: one of the file, or of its own declaration, or of any if it is the file's."""
    if name not in text:
        return False
    parts = [meaning.part] if meaning.part else parts_of(text)
    return name in globals_of(text) or any(name in made_in(part) for part in parts)


# ---- words of the language ----

INDEX_ROW = re.compile(r"^\| `([A-Za-z_]\w*)` \| \[([^\]]*)\]", re.M)
INDEX = ("", os.path.join("..", "docs", "reference"))  # from the library's folder: installed, built


@lru_cache(maxsize=1)
def words() -> dict[str, str]:
    """Words and functions of the language, and the section that explains each: the index of the reference."""
    base = _declared.library() or ""
    for way in INDEX:
        text = _declared.read(os.path.normpath(os.path.join(base, way, "language-index.md")))
        if text:
            return dict(INDEX_ROW.findall(text.split("\n## Standard library")[0]))
    return {}
