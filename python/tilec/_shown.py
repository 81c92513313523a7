"""What an editor shows of names: how one was introduced, its type, how kernels are computed; which names there are."""
from __future__ import annotations

import re

from tilec import _names
from tilec._declared import Declaration, files_of
from tilec._facts import Facts


def written(text: str, meaning: _names.Meaning) -> str:
    """How a name of a declaration is introduced there: its range, its parameter, its first statement."""
    assert meaning.part
    token = meaning.part.tokens[_names.made_in(meaning.part)[meaning.name]]
    return re.split(r"[;{]|,\s*\w+:|\)\s*(?:->|\{)", text[token.at:text.find("\n", token.at) % (len(text) + 1)])[0].strip()


def about_local(text: str, meaning: _names.Meaning, facts: Facts) -> str:
    assert meaning.part
    found = facts.type_of(meaning.part.kind, meaning.part.name, meaning.name)
    return f"```tile\n{written(text, meaning)}\n```" + (f"\n\n`{meaning.name}: {found}`" if found else "")


def about_global(d: Declaration | None, facts: Facts, name: str) -> str | None:
    if d is None:
        section = _names.words().get(name)
        return section and f"`{name}`: {section}"
    said = "".join(f"\n* {line}" for line in facts.lines_of(name))
    return f"```tile\n{d.text}\n```" + (f"\n\n{d.comment}" if d.comment else "") + (f"\n{said}" if said else "")


def declared_names(path: str, text: str) -> dict[str, str]:
    """Names of the file, of what it imports and of the library, and what each is."""
    found: dict[str, str] = {}
    for _, content in files_of(path, text):
        for part in _names.parts_of(content):
            names = _names.globals_of(content) if _names.declares_many(part) else {part.name: None}
            for name in names if part.kind != "import" else ():
                found.setdefault(name, part.kind)
    return found


def fields_of(path: str, text: str) -> set[str]:
    """Fields of all records in sight."""
    return {name for _, content in files_of(path, text) for part in _names.parts_of(content) if part.kind == "record"
            for name in _names.made_in(part)}
