"""usage: constants.py SOURCE [FILE..]: a comment stands beside each numeric constant of passes, codegen, the runtime and the command.

Constants are `enum { NAME = number }`, `#define NAME number` and `static const` numbers, of 2 and more. The comment, which says the
unit and where the number comes from, ends the constant's line, or stands above the group of lines that the constant is in.
"""
import glob
import os
import re
import sys

FOLDERS = ("passes", "codegen/text", "codegen/gpu", "codegen/host", "codegen/abi", "runtime", "driver")
NUMBER = r"[-+(]*(?:\([a-z0-9_]+\))?\s*(?:U?INT\d+_C\()?(?:0x[0-9a-fA-F]+|[0-9][0-9.]*(?:e[-+]?\d+)?)"
CONSTANT = re.compile(rf"^\s*(?:static const [\w ]+ (?P<a>\w+) = (?P<x>{NUMBER}[^;]*);|#\s*define (?P<b>\w+) \(*(?P<y>{NUMBER}.*)$)")
IN_ENUM = re.compile(rf"\b([A-Z][A-Z0-9_]*) = ({NUMBER})")


def is_trivial(number):
    return re.fullmatch(r"[-+(]*[01](?:\.0)?[uUlL)]*", number.split("/*")[0].strip()) is not None


def names_of(lines, i, inside):
    """Constants of line i; inside: of an anonymous enum that began on an earlier line."""
    line = re.sub(r"/\*.*?\*/|/\*.*$|//.*$", "", lines[i])
    match = CONSTANT.match(line)
    if match:
        return [] if is_trivial(match["x"] or match["y"]) else [match["a"] or match["b"]]
    if inside or re.match(r"\s*enum(?: \w+)? ?\{", line):
        return [name for name, number in IN_ENUM.findall(line) if not is_trivial(number)]
    return []


def is_comment(line):
    return re.match(r"\s*(/\*|//|\*)", line) is not None or line.rstrip().endswith("*/")


def is_explained(lines, i):
    if "/*" in lines[i] or "//" in lines[i]:
        return True
    for j in range(i - 1, -1, -1):
        if is_comment(lines[j]):
            return True
        same = names_of(lines, j, True) or IN_ENUM.search(lines[j]) or re.match(r"#|\s*enum|       ", lines[j])
        if not lines[j].strip() or not same:
            return False
    return False


def bare_of(path):
    lines = open(path, encoding="utf-8").read().split("\n")
    inside, bare = False, []
    for i, line in enumerate(lines):
        opens = re.match(r"\s*enum ?\{", line) is not None
        for name in names_of(lines, i, inside or opens):
            if not is_explained(lines, i):
                bare.append(f"{path}:{i + 1}: no comment says the unit and the source of {name}")
        inside = (inside or opens) and "}" not in line
    return bare


def main(source, *files):
    os.chdir(source)
    found = files or sorted(path for folder in FOLDERS for path in glob.glob(f"{folder}/**/*.[ch]", recursive=True))
    wrong = [text for path in found for text in bare_of(path)]
    print("\n".join(wrong + [f"{len(found)} files, {len(wrong)} wrong"]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
