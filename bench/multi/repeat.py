#!/usr/bin/env python3
"""usage: repeat.py BUILD FOLDER [--ranks=R] [--repeats=N] [--program=NAME,..] [--comm=FORM]

Runs each program of several ranks N times on this machine's processors, with new inputs each time, and compares every result with numpy. Ranks are threads. Runs
are queued, up to 12 at once: slots of symmetric memory are used again while others still read."""
import argparse
import ctypes
import os
import subprocess
import threading

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
QUEUED = 12  # the runtime takes 16 runs of an instance


class Config(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("rank", ctypes.c_int), ("nranks", ctypes.c_int), ("device", ctypes.c_int), ("allgather", ctypes.c_void_p), ("ctx", ctypes.c_void_p),
                ("workers", ctypes.c_int), ("timeout_ms", ctypes.c_int), ("group", ctypes.c_char_p), ("target", ctypes.c_char_p)]


# ---- bf16 ----

def rounded(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def values(x):
    return (x.astype(np.uint32) << 16).view(np.float32)


# ---- the programs: what each rank gets, and what it has to make ----

def split(x, axis, ranks):
    return [np.ascontiguousarray(p) for p in np.split(x, ranks, axis)]


def products(make, axes, ranks, s):
    a, b = make(s["M"], s["K"]), make(s["K"], s["N"])
    return [list(given) for given in zip(split(a, axes[0], ranks), split(b, axes[1], ranks))], values(a) @ values(b)


def ag_gemm(make, ranks, s):
    given, whole = products(make, (0, 1), ranks, s)
    return given, split(whole, 1, ranks)


def gemm_rs(make, ranks, s):
    given, whole = products(make, (1, 0), ranks, s)
    return given, split(whole, 0, ranks)


def gemm_ar(make, ranks, s):
    given, whole = products(make, (1, 0), ranks, s)
    return given, [whole] * ranks


def flash_decode(make, ranks, s):
    q, k, v = make(s["B"], s["H"], s["D"]), make(s["B"], s["G"], s["S"], s["D"]), make(s["B"], s["G"], s["S"], s["D"])
    group = s["H"] // s["G"]
    x = np.einsum("bgrd,bgsd->bgrs", values(q).reshape(s["B"], s["G"], group, -1), values(k)) / s["D"] ** 0.5
    w = np.exp(x - x.max(-1, keepdims=True))
    o = np.einsum("bgrs,bgsd->bgrd", w / w.sum(-1, keepdims=True), values(v)).reshape(q.shape)
    return [[q, *kv] for kv in zip(split(k, 2, ranks), split(v, 2, ranks))], [o] * ranks


def moe(make, ranks, s):
    x, gate, w1, w2 = make(s["M"], s["D"]), make(s["E"], s["D"]), make(s["E"], s["F"], s["D"]), make(s["E"], s["D"], s["F"])
    logits = values(x) @ values(gate).T
    ids = np.argsort(-logits, kind="stable")[:, :s["T"]]
    weights = np.exp(np.take_along_axis(logits, ids, 1))
    h = np.einsum("rd,rtfd->rtf", values(x), values(w1)[ids])
    z = np.einsum("rtf,rtdf->rtd", h / (1 + np.exp(-h)), values(w2)[ids])
    y = np.einsum("rt,rtd->rd", weights / weights.sum(-1, keepdims=True), z)
    return [[own, gate, *w] for own, *w in zip(split(x, 0, ranks), split(w1, 1, ranks), split(w2, 2, ranks))], split(y, 0, ranks)


def gather(make, ranks, s):
    a = make(s["M"], s["N"])
    return [[x] for x in split(a, 0, ranks)], [values(a)] * ranks


def summed(make, ranks, s):
    a = make(ranks, s["M"], s["N"])
    return [[x] for x in split(a, 0, ranks)], values(a).sum(0)


def scatter(make, ranks, s):
    given, whole = summed(make, ranks, s)
    return given, split(whole, 0, ranks)


def reduce(make, ranks, s):
    given, whole = summed(make, ranks, s)
    return given, [whole] * ranks


def exchange(make, ranks, s):
    a = make(s["M"], s["N"])
    return [[x] for x in split(a, 0, ranks)], split(values(a), 1, ranks)


PROGRAMS = {f.__name__: f for f in (ag_gemm, gemm_rs, gemm_ar, flash_decode, moe, gather, scatter, reduce, exchange)}


def sizes_of(ranks):
    return {"M": 6 * ranks, "N": 40 * ranks, "K": 16 * ranks, "R": ranks, "B": 2, "H": 8, "G": 2, "S": 48 * ranks, "D": 32, "E": 4, "F": 8 * ranks, "T": 2}


# ---- runs ----

def compile_program(o, name):
    to = os.path.join(o.folder, f"{name}_{o.ranks}")
    sizes = [w for size in sizes_of(o.ranks).items() for w in ("-D", f"{size[0]}={size[1]}")]
    subprocess.run([os.path.join(o.build, "bin", "tilec"), "compile", os.path.join(HERE, "programs.tile"), f"--program={name}", f"--ranks={o.ranks}", f"--comm={o.comm}",
                    "--emit=lib", "-W", "no-performance", "-o", to, *sizes], check=True)
    return os.path.join(to, f"lib{name}.so")


class Rank:
    def __init__(self, tile, rank, ranks, name, library):
        self.tile, self.mesh, self.instance = tile, ctypes.c_void_p(), ctypes.c_void_p()
        self.config = Config(size=ctypes.sizeof(Config), rank=rank, nranks=ranks, workers=1, group=f"repeat-{os.getpid()}-{name}".encode(), target=b"host")
        self.check(tile.tile_mesh_open(ctypes.byref(self.config), ctypes.byref(self.mesh)))
        self.check(getattr(library, name + "_open")(self.mesh, None, ctypes.byref(self.instance)))
        self.run = getattr(library, name + "_run")

    def check(self, code):
        if code:
            raise RuntimeError(self.tile.tile_last_error().decode())

    def enqueue(self, arrays):
        self.check(self.run(self.instance, (ctypes.c_void_p * len(arrays))(*(x.ctypes.data for x in arrays)), None))

    def sync(self):
        self.check(self.tile.tile_stream_sync(self.mesh, None))


def wrong(made, want):
    """Results of 16 bits; NaN is wrong."""
    return not np.all(np.abs(values(made) - want) <= 0.02 * (np.abs(want).max() + np.abs(want)))


def rank_main(o, tile, rank, name, library, turns, bad):
    try:
        r = Rank(tile, rank, o.ranks, name, library)
        for batch in turns:
            made = [np.full(want[rank].shape, 0x7FC0, np.uint16) for _, want in batch]
            for (given, _), to in zip(batch, made):
                r.enqueue([*given[rank], to])
            r.sync()
            bad.extend(f"{name}: rank {rank}" for (_, want), to in zip(batch, made) if wrong(to, want[rank]))
    except Exception as error:  # whatever ends a rank's thread
        bad.append(f"{name}: rank {rank}: {error}")


def repeat(o, tile, name):
    rng, bad = np.random.default_rng(len(name)), []
    library = ctypes.CDLL(compile_program(o, name))
    make = lambda *shape: rounded(rng.standard_normal(shape))
    runs = [PROGRAMS[name](make, o.ranks, sizes_of(o.ranks)) for _ in range(o.repeats)]
    turns = [runs[i:i + QUEUED] for i in range(0, o.repeats, QUEUED)]
    threads = [threading.Thread(target=rank_main, args=(o, tile, r, name, library, turns, bad)) for r in range(o.ranks)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(f"{name}: {o.ranks} ranks, {o.repeats} runs, {len(bad)} wrong" + (f": {bad[0]}" if bad else ""), flush=True)
    return len(bad)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("folder")
    p.add_argument("--ranks", type=int, default=4)
    p.add_argument("--repeats", type=int, default=300)
    p.add_argument("--program", type=lambda w: w.split(","), default=list(PROGRAMS))
    p.add_argument("--comm", default="auto")
    o = p.parse_args()
    tile = ctypes.CDLL(os.path.join(o.build, "libtile.so"), mode=ctypes.RTLD_GLOBAL)
    tile.tile_last_error.restype = ctypes.c_char_p
    raise SystemExit(any([repeat(o, tile, name) for name in o.program]))


if __name__ == "__main__":
    main()
