"""usage: process.py WORK: forks, opens a library of another version, ends with work under way, and runs two ranks in two processes. Prints a line for each."""
import os
import subprocess
import sys
import tempfile
import threading

import numpy as np

import tilec

TEXT = "dim N <= 64, D = 8;\nprogram rows(x: f32[N, D]) -> (y: f32[N, D]) { y = softmax(x); }\n"
RANKS = """
dim M = 6, K <= 8;
mesh tp = 2;
program gathered(a: f32[M @ tp, K]) -> (c: f32[M, K]) { c = all_gather(a); }
"""
x = np.ones((4, 8), "f4")


def forked(f):
    """A child opens a mesh of its own; the parent's goes on."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, b"child %g" % f(x).sum())
        os._exit(0)
    os.wait()
    print(os.read(read, 20).decode(), "parent", f(x).sum())


def ended():
    """The interpreter ends while a thread calls, and with programs in cycles."""
    text = f"import tilec, numpy, threading\nf = tilec.load({TEXT!r})\nf.self = f\nx = numpy.ones((4, 8), 'f4')\nf(x)\n"
    text += "def work():\n    while True: f(x)\nthreading.Thread(target=work, daemon=True).start()\n"
    text += "import time; time.sleep(0.05)\n"
    done = [subprocess.run([sys.executable, "-c", text], capture_output=True, text=True) for _ in range(4)]
    print("ends:", {d.returncode for d in done})


def dropped():
    """Programs that nobody has any more give their workspace back; others go on."""
    for n in range(1, 5):
        f = tilec.load(TEXT, N=n)
        f(np.ones((n, 8), "f4"))
        del f
    import gc
    from tilec import _runtime
    gc.collect()
    print("left:", len(_runtime.live_instances))


def versions(f):
    """A library that the compiler of another version made is refused by name; others go on."""
    with tempfile.TemporaryDirectory() as other:
        compiler = os.path.join(other, "cc")
        with open(compiler, "w") as to:
            to.write('#!/bin/sh\nfor word; do case $word in *.c) sed -i "s/[.]abi = [0-9]*/.abi = 1000/" "$word" ;; esac; done\nexec cc "$@"\n')
        os.chmod(compiler, 0o755)
        os.environ["CC"] = compiler
        try:
            tilec.load(TEXT, N=7)(np.ones((7, 8), "f4"))
        except tilec.RunError as e:
            print("versions:", e)
    del os.environ["CC"]
    print("goes on:", f(x).sum())


def rank():
    f = tilec.load(RANKS)
    mine = np.full((3, 5), int(os.environ["RANK"]), "f4")
    c = f(mine)
    print(f"rank {os.environ['RANK']}:", c[0, 0], c[5, 4])


def ranks():
    ours = dict(os.environ, WORLD_SIZE="2", TILE_GROUP=f"python-{os.getpid()}")
    jobs = [subprocess.Popen([sys.executable, __file__, "rank"], env=dict(ours, RANK=str(r)), stdout=subprocess.PIPE, text=True)
            for r in range(2)]
    print("".join(job.communicate()[0] for job in jobs), end="")
    try:
        tilec.load(RANKS)(np.ones((3, 5), "f4"))
    except tilec.RunError as e:
        print("alone:", e)


if sys.argv[1] == "rank":
    rank()
else:
    program = tilec.load(TEXT)
    program(x)
    forked(program)
    versions(program)
    del program
    dropped()
    ended()
    ranks()
