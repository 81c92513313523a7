"""Colours of the tile language for Pygments, from the grammar that editors use, and which blocks of a page are in it."""
import json
import re

from pygments import lexers, token
from pygments.lexer import RegexLexer

__all__ = ["TileLexer"]
KINDS = {"comment": token.Comment, "string": token.String, "keyword": token.Keyword, "storage.type": token.Keyword.Type,
         "storage.modifier": token.Keyword, "constant.numeric": token.Number, "constant.language": token.Keyword.Constant,
         "entity.name.function": token.Name.Function}
TILE = re.compile(r"(dim|mesh|kernel|program|record|format|import|each|for|let) |.*\b(each|for) .*\{|//")


class TileLexer(RegexLexer):
    name, aliases, filenames, tokens = "tile", ["tile"], ["*.tile"], {}


def rule(pattern):
    kind = next(kind for prefix, kind in KINDS.items() if pattern["name"].startswith(prefix))
    return (pattern.get("match") or pattern["begin"] + r"[\s\S]*?" + pattern["end"], kind)


def register(grammar):
    """Makes `tile` a language that Pygments knows."""
    with open(grammar, encoding="utf-8") as f:
        rules = [rule(pattern) for pattern in json.load(f)["patterns"]]
    TileLexer.tokens = {"root": [*rules, (r"[A-Za-z_]\w*", token.Name), (r"\s+", token.Whitespace), (r".", token.Operator)]}
    lexers.LEXERS["TileLexer"] = (__name__, "tile", ("tile",), ("*.tile",), ())


def language_of(block):
    first = block[0].strip()
    if first.startswith("$ "):
        return "console"
    if TILE.match(first):
        return "tile"
    return None


def name_languages(markdown):
    """Puts `:::language` before the blocks of a page whose first line tells it."""
    lines, out = markdown.split("\n"), []
    for n, line in enumerate(lines):
        begins = line.startswith("    ") and (not n or not lines[n - 1].strip()) and not in_list_or_block(lines, n)
        language = language_of([line]) if begins else None
        if language:
            out.append(f"    :::{language}")
        out.append(line)
    return "\n".join(out)


def in_list_or_block(lines, n):
    """Whether the text before is a list, whose paragraphs are indented too, or a part of the same block."""
    before = next((line for line in reversed(lines[:n]) if line.strip()), "")
    return before.startswith("    ") or bool(re.match(r" *([*-]|\d+\.) |  \S", before))
