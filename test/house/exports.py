"""usage: exports.py SOURCE OBJECTS: functions and tables of the compiler that only their own file uses are static, and some caller needs each.

Read from the symbols of the object files in OBJECTS, the folder of the build. Callers are all programs of the build, unit tests
among them. A function without external symbol is static; the C compiler reports a static one that nothing calls.
"""
import collections
import os
import re
import subprocess
import sys

ROOMS = ("base", "ir", "target", "frontend", "passes", "codegen", "driver")
# Parsers and scanners that bison and flex write, and the entry point.
GENERATED = re.compile(r"^(yy|syntax_yy|main$)")


def objects_of(objects):
    """Object file to its source, relative to the source tree."""
    found = {}
    for target in sorted(os.listdir(os.path.join(objects, "CMakeFiles"))):
        for folder, _, files in os.walk(os.path.join(objects, "CMakeFiles", target)) if target.endswith(".dir") else ():
            for file in files:
                if file.endswith(".c.o"):
                    path = os.path.join(folder, file)
                    found[path] = os.path.relpath(path, os.path.join(objects, "CMakeFiles", target))[:-2]
    return found


def symbols_of(paths):
    """(object file, letter, name) of each external symbol."""
    listing = subprocess.run(["nm", "-gA", *paths], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^(.*?):[0-9a-f ]+ ([TDRBU]) (\w+)$", listing, re.M)


def used_inside(source, name):
    """The file names it more often than where it defines it."""
    return len(re.findall(rf"\b{name}\b", source)) > 1


def main(source, objects):
    files = {path: name for path, name in objects_of(objects).items()
             if name.split("/")[0] not in ROOMS or os.path.exists(os.path.join(source, name))}
    home, needed = {}, collections.defaultdict(set)
    for path, letter, name in symbols_of(files):
        if letter == "U":
            needed[name].add(files[path])
        elif files[path].split("/")[0] in ROOMS:
            home[name] = files[path]
    wrong = []
    for name, file in sorted(home.items(), key=lambda pair: (pair[1], pair[0])):
        if needed[name] - {file} or GENERATED.match(name):
            continue
        text = open(os.path.join(source, file), encoding="utf-8").read()
        wrong.append(f"{file}: only this file uses '{name}': make it static" if used_inside(text, name) else f"{file}: nothing uses '{name}'")
    print("\n".join(wrong + [f"{len(home)} symbols, {len(wrong)} wrong"]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
