"""usage: library.py TILEC SOURCE WORK: every program of docs/reference/library.md runs as printed and agrees with the interpreter, and
every head of its tables is the one in frontend/std."""
import glob
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import sample

from pages import blocks_of


def heads_of(source):
    """Heads of the library's kernels and programs on one line each, without the word and an empty result."""
    heads = {}
    for path in glob.glob(os.path.join(source, "frontend/std/*.tile")):
        for name, rest in re.findall(r"^(?:kernel|program) (\w+)(\([^{]*)\{", open(path).read(), re.M):
            heads[name] = name + " ".join(rest.split()).replace(" -> ()", "").replace("( ", "(").replace(" )", ")")
    return heads


def formats_of(source):
    path = os.path.join(source, "frontend/std/formats.tile")
    return re.findall(r"^format (.*) \{$", open(path).read(), re.M)


def check_heads(page, source):
    heads, told = heads_of(source), re.findall(r"^\| `((\w+)\(.*?\))` \|", page, re.M)
    wrong = [head for head, name in told if not heads.get(name, "").startswith(head)]
    assert len(told) > 40 and not wrong, "heads that the library does not have: %s" % wrong
    missing = heads.keys() - {name for _, name in told}
    assert not missing, "kernels that the page does not have: %s" % missing
    untold = [head for head in formats_of(source) if "| `%s` |" % head not in page]
    assert not untold, "formats that the page does not have: %s" % untold
    calls = set(re.findall(r"(\w+)\(", "\n".join(blocks_of(page))))
    unused = [name for _, name in told if name not in calls]
    assert not unused, "kernels without an example: %s" % unused


def programs_of(tilec, path, block):
    """Those that are compiled on their own; what only calls bind runs where it is called. Files of names that C has taken end in _."""
    done = subprocess.run([tilec, "compile", path, "--emit=programs"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    files = done.stdout.split()
    return [name for name in re.findall(r"^program (\w+)", block, re.M) if name in files or name + "_" in files]


def run_blocks(tilec, page, work):
    os.makedirs(work, exist_ok=True)
    found = []
    for i, block in enumerate(blocks_of(page)):
        path = os.path.join(work, "block%d.tile" % i)
        with open(path, "w") as f:
            f.write(block)
        found += [(path, name) for name in programs_of(tilec, path, block)] if "program " in block else []
    assert len(found) >= 30, found
    for path, name in sample.choose("examples of the library's page", found, 10):
        done = subprocess.run([tilec, "run", path, "--program=" + name, "--check"], capture_output=True, text=True)
        print(name, done.stdout, done.stderr, flush=True)
        assert done.returncode == 0, (name, done.returncode)


def main(tilec, source, work):
    page = open(os.path.join(source, "docs/reference/library.md")).read()
    check_heads(page, source)
    run_blocks(tilec, page, work)


main(*sys.argv[1:])
