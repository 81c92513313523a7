"""usage: added.py BEFORE AFTER: files of AFTER without what tilec remap adds are those of BEFORE."""
import pathlib
import re
import sys

FUNCTION = re.compile(r"// Workgroups of \w+ in the order [^\n]*\nstruct (\w+)_block \{.*?\n\};\nstatic __device__ inline \1_block \1_order\(\) \{\n.*?\n\}\n\n", re.S)
LINE = re.compile(r"(?:\n   )? const (\w+)_block blockIdx = \1_order\(\);")


def main(before, after):
    files = sorted(pathlib.Path(after).glob("*.hip"))
    ordered = changed = 0
    for path in files:
        text = path.read_text()
        ordered += FUNCTION.search(text) is not None
        changed += LINE.sub("", FUNCTION.sub("", text)) != (pathlib.Path(before) / path.name).read_text()
    print(f"{len(files)} files, {ordered} with orders, {changed} changed elsewhere")


main(*sys.argv[1:])
