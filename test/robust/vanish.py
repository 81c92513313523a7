"""usage: vanish.py TILEC SOURCE: files and folders that go while a command runs: the C compiler that it calls takes them
away first. An exit code, a message, and nothing left behind but what was asked for."""
import os
import shutil
import subprocess
import sys

import numpy as np

RUN = ("run", "--in", "A=in.npy", "--out", "C=out/c.npy")
LIB = ("compile", "--emit=lib", "-o", "out", "-MD")

# What goes, the command, its exit code, what it says, what is in "out" and "temp" then.
CASES = (
    ("true", RUN, 0, "", {"out": ["c.npy"], "temp": []}),
    ("rm in.npy", RUN, 0, "", {"out": ["c.npy"], "temp": []}),
    ("rm -r out", RUN, 3, "tilec: error: out/c.npy: No such file or directory", {"temp": []}),
    ("rm -r temp", RUN, 3, "tilec: error: the C compiler failed on ", {"out": []}),
    ("rm -r out; touch out", RUN, 3, "tilec: error: out/c.npy: Not a directory", {"temp": []}),
    ("rm -r out", LIB, 1, "tilec: error: the C compiler failed on out/sum.c", {"temp": []}),
    ("rm -r out; mkdir out", LIB, 1, "tilec: error: the C compiler failed on out/sum.c", {"out": [], "temp": []}),
    ("rm source.tile", LIB, 0, "", {"out": ["libsum.so", "sum.c", "sum.d", "sum.h", "sum.json"], "temp": []}),
)


def prepare(source):
    for folder in ("out", "temp"):
        if os.path.isfile(folder):
            os.remove(folder)
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
    shutil.copy(source, "source.tile")
    np.save("in.npy", np.zeros(6, dtype="f4"))


def main(tilec, source):
    with open("cc.sh", "w") as f:
        f.write('#!/bin/sh\neval "$VANISH"\nexec cc "$@"\n')
    os.chmod("cc.sh", 0o755)
    for vanish, (command, *options), code, text, left in CASES:
        prepare(source)
        env = dict(os.environ, VANISH=vanish, CC=os.path.abspath("cc.sh"), TMPDIR=os.path.abspath("temp"))
        done = subprocess.run([tilec, command, "source.tile", *options], env=env, capture_output=True, text=True, timeout=60)
        found = {folder: sorted(os.listdir(folder)) for folder in ("out", "temp") if os.path.isdir(folder)}
        if done.returncode != code or text not in done.stderr or found != left:
            sys.exit(f"{vanish}: exit code {done.returncode}, left {found}: {done.stderr}")
    print(f"{len(CASES)} cases")


main(*sys.argv[1:])
