"""usage: random_gathered.py TILEC WORK [PROGRAMS [FIRST]]: random sums of products of neighbours and gathered elements: shifted and strided places, rows
that begin before their tensors or end behind them, columns outside, vectors of other lengths, sums in the loop and beside it. The host against the
interpreter; every third program on an emulated GPU as well, by tasks on waves of which four share a workgroup."""
import os
import random
import subprocess
import sys

import numpy as np

KERNELS = 5
TARGETS = ["host", "host", "emu:sm_90a", "emu:gfx942"]


def place(draw, plain):
    return plain if draw.random() < 0.6 else draw.choice([f"{plain} + {draw.randint(1, 5)}", f"{plain} - {draw.randint(1, 5)}", f"2 * {plain}", f"{plain} / 2"])


def factors(draw, plain):
    """a and the gathered element, in any order."""
    same = place(draw, plain)
    a = f"a[{same}]"
    index = f"{'at' if draw.random() < 0.9 else 'to'}[{same if draw.random() < 0.9 else place(draw, plain)}]"
    x = f"x[{index if draw.random() < 0.9 else index + ' + 1'}]"
    return draw.choice([f"{a} * {x}", f"{x} * {a}", f"{a} * {x}", f"{a} * {x}", f"2 * {a} * {x}"])


def bounds(draw):
    low, high = (draw.choice(["", "", "", f" + {draw.randint(1, 3)}", f" - {draw.randint(1, 3)}"]) for _ in range(2))
    return f"start[q]{low} .. start[q + 1]{high}"


def row(draw):
    """A row at a time, in a tile of rows or on a wave."""
    size, first = draw.choice([1, 3, 16, 64, 256]), draw.choice(["0", "0", "1.5"])
    inside = f"acc: f32 = {first}; for p: {draw.choice(['', '', 'fixed '])}{size} in {bounds(draw)} {{ acc += sum({factors(draw, 'p')}, p); }}"
    more = draw.choice(["", "", " acc += sum(a[p] * 2, p);"])
    inside = inside.replace(", p); }", f", p);{more} }}")
    if draw.random() < 0.3:
        return f"each q of r on wave {{ {inside} y[q] = acc; }}"
    return f"each i: {draw.choice([1, 7, 64])} of r {{ for q in i {{ {inside} y[q] = acc; }} }}"


def step(draw):
    """Rows in step."""
    rows, lanes = draw.choice([1, 4, 8, 32]), draw.choice([1, 4, 16])
    on = draw.choice(["", " on wave", " on wave"])
    at = draw.choice(["where(i32(pos(k)) < length, first + i32(pos(k)), -1)", "where(pos(k) < length, i64(first) + pos(k), -1)"])
    return (f"each i: fixed {rows} of r{on} {{ first = start[i]; length = start[i + 1] - first; acc: f32[i] = 0; "
            f"for k: {lanes} in 0 .. max(length, i) {{ place = {at}; acc += sum(a[place] * x[at[place]], k); }} y[i] = acc; }}")


def kernel(draw, number):
    body = row(draw) if draw.random() < 0.7 else step(draw)
    unused = "" if "to[" in body else " + 0 * f32(to[0])"
    body = body.replace("= acc;", f"= acc{unused};")
    return (f"kernel k{number}(start: i32[r + 1], a: f32[z], at: i32[z], to: i32[m], x: f32[n]) -> (y: f32[r]) {{ {body} }}\n"
            f"program p{number}(start: i32[R + 1], a: f32[Z], at: i32[Z], to: i32[M], x: f32[N]) -> (y: f32[R]) {{ y = k{number}(start, a, at, to, x); }}\n")


def inputs(draw, folder):
    random_ = np.random.default_rng(draw.randint(0, 2**30))
    rows, n, m = draw.choice([0, 1, 5, 33, 70]), draw.choice([1, 2, 17, 100]), draw.choice([1, 40, 300])
    lengths = random_.integers(0, draw.choice([3, 9, 40]), rows)
    if rows and draw.random() < 0.3:
        lengths[rows // 2] = draw.choice([100, 700, 5000])
    start = np.concatenate(([0], np.cumsum(lengths))) + draw.choice([0, 0, 0, -4, 3])
    z = max(0, int(start[-1]) - draw.choice([0, 0, 0, 5]))
    data = {"start": start.astype(np.int32), "a": random_.standard_normal(z).astype(np.float32), "at": random_.integers(-2, n + 2, z).astype(np.int32),
            "to": random_.integers(0, n, m).astype(np.int32), "x": random_.standard_normal(n).astype(np.float32)}
    words = []
    for name, value in data.items():
        np.save(f"{folder}/{name}.npy", value)
        words += ["--in", f"{name}={folder}/{name}.npy"]
    return words


def main(tilec, folder, programs="10", first="1"):
    wrong = refused = 0
    for seed in range(int(first), int(first) + int(programs)):
        draw = random.Random(seed)
        with open(f"{folder}/gathered.tile", "w", encoding="ascii") as to:
            to.write("dim R <= 4194304, Z <= 134217728, M <= 1048576, N <= 4194304;\n" + "".join(kernel(draw, i) for i in range(KERNELS)))
        words, target = inputs(draw, folder), draw.choice(TARGETS)
        for i in range(KERNELS):
            command = [tilec, "run", f"{folder}/gathered.tile", f"--program=p{i}", f"--target={target}", "--check", "--workers=2", *words]
            done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"TILEC_DIAGNOSTICS": "text"}, check=False)
            refused += "[unsupported]" in done.stderr
            if done.returncode and "[unsupported]" not in done.stderr:
                wrong += 1
                print(f"seed {seed}, p{i}, {target}: {done.stdout[-300:]}{done.stderr[-600:]}")
    print(f"{programs} programs of {KERNELS} kernels, {wrong} wrong, {refused} refused")


main(*sys.argv[1:])
