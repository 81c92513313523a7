#!/usr/bin/env python3
"""Random kernels over split vectors: what the placement rules accept must give on 3 ranks what it gives on one.

usage: placements.py TILEC DIR COUNT [SEED]: prints how many programs were accepted; exits 1 at the first that differs.
"""
import random
import subprocess
import sys

GRIDS = {"n": ["i: 4 of n", "i of n", "i: * of n"], "m": ["i: 4 of m", "i of m", "i: * of m"], "1": ["i: 1 of 1"]}
LOOPS = ["j: 3 of {}", "j of {}", "j: * of {}", "j: 3 in 0 .. {}", "j: 2 in 1 .. {}"]
UPDATES = ["s += {};", "s = s + {};", "s = max(s, {});", "s = s * 0.5 + {};", "s -= {};", "s = min(s, {});",
           "s += {} * 2.0;"]
COLLECTIVES = ["{}", "all_reduce({})", "all_gather({})"]


def element(rng, vector, index):
    plain = f"{vector}[{index}]"
    return rng.choice([plain] * 5 + [f"{vector}[{index} - 1]", f"f32(pos({index}))", f"{vector}[{index} / 2]"])


def kernel(rng, result):
    """A kernel k(x, y) with one result over n, m or a single element, and one loop that reduces n or m."""
    over = rng.choice("nm")
    grid, loop = rng.choice(GRIDS[result]), rng.choice(LOOPS).format(over)
    position = loop.startswith("j of")
    own = element(rng, {"n": "x", "m": "y", "1": "x"}[result], "i")
    term = element(rng, "x" if over == "n" else "y", "j")
    term = rng.choice([term, f"{term} * {own}", f"{term} + {own}", f"exp({term})", f"{term} * 2.0", f"-{term}",
                       f"{term} * f32(n)", f"where(pos(j) < 3, {term}, 0.0)"])
    if not position:
        term = f"{rng.choice(['sum', 'sum', 'max', 'min'])}({term}, j)"
    update = rng.choice(UPDATES).format(term)
    if position and rng.random() < 0.2:
        update = f"if j > 2 {{ {update} }}"
    body = rng.choice([f"for {loop} {{ {update} }}"] * 4 + [f"s = {own};"])
    last = rng.choice(["s", "s", "s * 2.0", "s / f32(n)", "sqrt(abs(s))", "s + 1", f"s + {own}", f"s * {own}", "-s",
                       "max(s, 0)", "s * s"])
    tile = "" if grid.startswith("i of") else "[i]"
    start = rng.choice(["0", "0", "0", "-inf" if "max(s" in update else "-1", "1"])  # -inf stays -inf: it would hide what differs
    return (f"kernel k(x: f32[n], y: f32[m]) -> (f: f32[{result}]) {{\n"
            f"  each {grid} {{ s: f32{tile} = {start}; {body} f[i] = {last}; }}\n}}\n")


def programs(rng):
    result = rng.choice("nm1")
    x, y = rng.choice(["N", "N @ tp", "N @ tp"]), rng.choice(["M", "M @ tp"])
    call = rng.choice(["k(x, y)", "k(x, y)", "k(exp(x), y)", "k(x, y) + k(x, y)", "k(x, y) * 2.0"])
    head = f"dim N = 13, M = 7;\nmesh tp = 3;\n{kernel(rng, result)}"
    for collective in COLLECTIVES:
        yield (f"{head}program p(x: f32[{x}], y: f32[{y}]) -> (c: f32[{dict(n='N', m='M').get(result, '1')}]) {{\n"
               f"  c = {collective.format(call)};\n}}\n")


def main():
    tilec, folder, count = sys.argv[1:4]
    rng = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    path, accepted = f"{folder}/placement.tile", 0
    for _ in range(int(count)):
        for text in programs(rng):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            command = [tilec, "run", path, "--target=interp", "--check"]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            accepted += run.returncode == 0
            if run.returncode > 1 or run.returncode < 0 or "invalid-ir" in run.stderr:
                sys.exit(f"{text}\nexit code {run.returncode}\n{run.stdout}{run.stderr}")
    print(f"{accepted} programs accepted, all agree")
    sys.exit(0 if accepted else 1)


if __name__ == "__main__":
    main()
