#!/usr/bin/env python3
"""usage: run.py TILEC FOLDER [--programs=N] [--first=SEED] [--targets=interp,host,emu:gfx942,..] [--jobs=N] [--seconds=S] [--show=SEED]
       [--rotate=TARGET,..] [--wrong=OPERATOR]

Draws programs, runs them with `tilec run` on each target, and compares every result with numpy, which evaluates the same
trees by docs/reference/language.md: exactly where the language fixes every bit, else within a bound. Prints what differs, is
refused or fails: its seed, the program, the command, and the element that is the worst. A target may have options behind
it, as in `host+--relaxed`. Of --rotate's each program takes one, by its seed. With --wrong numpy
takes the operator for another one, so that there are differences to find. Exit code 1 where anything was found.
"""
import argparse
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import traceback

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from oracle import elements as el  # noqa: E402
from oracle import program  # noqa: E402
from oracle import tiles  # noqa: E402
from oracle.expr import Tensor  # noqa: E402

SLACK = 4  # times the bound that is estimated here


def command(tilec, folder, b, target):
    name, *options = target.split("+")
    words = [tilec, "run", f"{folder}/p.tile", f"--target={name}", "--seed=1", "-W", "no-all", *options]
    for n in sorted(b.runtime):
        if "*" not in n and re.search(rf"\b{n}\b", b.program_text()):
            words.append(f"--size={n}={b.sizes[n]}")
    for n in b.arrays:
        words += ["--in", f"{n}={folder}/{n}.npy"]
    for n in [o[0] for o in b.outputs] + [s[0] for s in b.states]:
        words += ["--out", f"{n}={folder}/out-{n}.npy"]
    return words


def expected(b):
    env = {n: Tensor(t, np.asarray(a, np.float64 if el.is_float(t) else None)) for n, (t, a) in b.arrays.items()}
    with np.errstate(all="ignore"):
        for s in b.steps:
            s(env)
    return {n: (t, env[n]) for n, t in [(o[0], o[1]) for o in b.outputs] + b.states}


def difference(elem, got, want):
    """None, or what is the worst; and how many elements were compared. A scalar is a tensor of one element."""
    want = Tensor(elem, np.atleast_1d(want.val), np.atleast_1d(want.err))
    if got.shape != np.shape(want.val):
        return f"shape {got.shape}, expected {np.shape(want.val)}", 0
    val, err = np.asarray(want.val), np.where(np.isnan(want.err), np.inf, want.err)
    if el.is_float(elem):
        same = (got == val) | (np.isnan(got) & np.isnan(val)) | np.isinf(err)
        with np.errstate(all="ignore"):
            off = np.where(same, 0, np.abs(got - val) - SLACK * err)
        wrong = ~same & ~(off <= 0)
    else:
        wrong, off = (got != val) & (err == 0), np.abs(got.astype(np.float64) - val.astype(np.float64))
    compared = int(np.isfinite(err).sum())
    if not wrong.any():
        return None, compared
    off = np.where(wrong, np.where(np.isnan(off), np.inf, off), -1)
    at = np.unravel_index(int(np.argmax(off)), off.shape)
    first = tuple(int(k) for k in np.argwhere(wrong)[0]) if np.ndim(val) else ()
    return f"{int(wrong.sum())} of {val.size} differ, first at {first}; worst at {tuple(map(int, at))}: {got[at]!r}, expected {val[at]!r} within {SLACK * float(err[at]):.3g}", compared


def write(b, folder):
    with open(f"{folder}/p.tile", "w", encoding="utf-8") as to:
        to.write(b.source())
    for n, (elem, a) in b.arrays.items():
        state = any(n == s[0] for s in b.states)
        np.save(f"{folder}/{n}.npy", el.encoded(elem, np.atleast_1d(a) if state else a))


def judge(tilec, folder, b, target, want, limit):
    """What went wrong on one target, or None; and how many elements were compared."""
    words = command(tilec, folder, b, target)
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"does not end within {limit} s", 0
    if done.returncode:
        refused = "[unsupported]" in done.stderr or "[split-not-parallel]" in done.stderr
        kind = "not supported" if refused else f"exit code {done.returncode}"
        return f"{kind}\n{done.stdout}{done.stderr[:3000]}", 0
    found, compared = [], 0
    for n, (elem, tensor) in want.items():
        array = np.load(f"{folder}/out-{n}.npy")
        what, count = difference(elem, el.decoded(elem, array), tensor)
        compared += count
        if what:
            found.append(f"{n}: {what}")
    return ("\n".join(found) or None), compared


def one(tilec, folder, seed, targets, rotate, limit):
    """(what was found, not supported, elements that were compared, elements)."""
    folder = f"{folder}/{seed}"
    os.makedirs(folder, exist_ok=True)
    found, open_, compared, total = [], 0, 0, 0
    targets = targets + rotate[seed % len(rotate) : seed % len(rotate) + 1] if rotate else targets
    try:
        b = program.drawn(seed)
        want = expected(b)
        write(b, folder)
        for target in targets:
            what, count = judge(tilec, folder, b, target, want, limit)
            compared, total = compared + count, total + sum(np.size(t.val) for _, t in want.values())
            if what and what.startswith("not supported"):
                open_ += 1
            elif what:
                found.append(f"seed {seed} on {target}: {what}\n{shlex.join(command(tilec, folder, b, target))}")
                break
        if found:
            found.append(b.source())
    except Exception:  # the generator's own fault is a finding like any other
        found.append(f"seed {seed}: {traceback.format_exc()}")
    if not found:
        shutil.rmtree(folder)
    return "\n".join(found), open_, compared, total


def batch(arguments):
    tilec, folder, seeds, targets, rotate, limit, end = arguments
    out = []
    for seed in seeds:
        if time.time() > end:
            break
        out.append(one(tilec, folder, seed, targets, rotate, limit))
    return out


def options():
    p = argparse.ArgumentParser()
    p.add_argument("tilec")
    p.add_argument("folder")
    p.add_argument("--programs", type=int, default=100)
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--targets", default="interp,host")
    p.add_argument("--rotate", default="")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--seconds", type=float, default=1e9)
    p.add_argument("--limit", type=float, default=120, help="seconds that one run may take")
    p.add_argument("--show", type=int)
    p.add_argument("--wrong")
    return p.parse_args()


def main():
    o = options()
    if o.show is not None:
        print(program.drawn(o.show).source(), end="")
        return
    if o.wrong:
        tiles.OPERATORS[o.wrong] = tiles.OPERATORS["max" if o.wrong != "max" else "min"]
    end, targets, rotate = time.time() + o.seconds, o.targets.split(","), [t for t in o.rotate.split(",") if t]
    seeds = range(o.first, o.first + o.programs)
    jobs = [(os.path.abspath(o.tilec), o.folder, seeds[k:k + 20], targets, rotate, o.limit, end) for k in range(0, o.programs, 20)]
    done = wrong = unsupported = compared = total = 0
    with concurrent.futures.ProcessPoolExecutor(o.jobs) as pool:
        for results in pool.map(batch, jobs):
            for what, open_, some, all_ in results:
                done, wrong, unsupported = done + 1, wrong + bool(what), unsupported + open_
                compared, total = compared + some, total + all_
                if what:
                    print(what, flush=True)
    print(f"{done} programs, {wrong} wrong, {unsupported} runs not supported, {100 * compared // max(total, 1)} % of the elements compared")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
