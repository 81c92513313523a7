#!/usr/bin/env python3
"""usage: random_tiles.py TILEC FOLDER [--programs=N] [--first=SEED]: tiles of 2 to 13 positions that divide a row or do not, in rows of any
length and element type, under one to seven other dimensions, of tensors split over 1 to 3 ranks; summed, maximised or added. Each on
an emulated GPU, drawn by the seed, against the interpreter. Prints what differs."""
import random
import subprocess
import sys

TARGETS = ["gfx90a", "gfx942", "gfx950", "sm_90a"]
ELEMS = ["f64", "f32", "f32", "f32", "f16", "bf16", "bf16", "f8e4m3", "f8e5m2", "i64", "i32", "i16", "i8", "u8"]


def kernel(r, elem, lead, tile):
    """A kernel of x[lead.., n] that reduces its rows."""
    dims = [f"d{i}" for i in range(lead)]
    each = ", ".join(f"i{i} of d{i}" for i in range(lead - 1)) + (", " if lead > 1 else "") + f"l: {r.choice([1, 16, 16])} of d{lead - 1}"
    at = ", ".join([f"i{i}" for i in range(lead - 1)] + ["l"])
    x, shape = f"f32(x[{at}, j])", ", ".join(dims)
    head = f"kernel k(x: {elem}[{shape}, n]) -> (y: f32[{shape}"
    kind = r.choice(["sum", "max", "grid", "square", "sum"])
    if kind == "grid":
        return f"{head}]) {{ each {each}, j: fixed {tile} of n {{ y[{at}] += sum({x}, j); }} }}\n"
    body = {"sum": f"acc += sum({x}, j);", "max": f"acc = max(acc, max({x} - f32(pos(j)), j));", "square": f"acc += sum({x} * {x}, j);",}[kind]
    begin = "-inf" if kind == "max" else "0"
    over = f"j: * in 0 .. {tile}" if r.random() < 0.15 else f"j: fixed {tile} of n"
    return f"{head}]) {{ each {each} {{ acc: f32[l] = {begin}; for {over} {{ {body} }} y[{at}] = acc; }} }}\n"


def program(r):
    tile, elem, lead, ranks = r.randint(2, 13), r.choice(ELEMS), r.choice([1, 1, 1, 2, 3, 7]), r.choice([1, 1, 2, 3])
    n = max(tile, tile * r.randint(1, 6) + r.choice([0, 0, 0, 0, 1, -1]))
    dims = [r.randint(1, 3 if lead > 1 else 30) for _ in range(lead)]
    shape = ", ".join(map(str, dims))
    text = kernel(r, elem, lead, tile)
    mesh, split = (f"mesh tp = {ranks};\n", " @ tp") if ranks > 1 else ("", "")
    whole = f"{elem}[{shape}, {n}]"
    part = f"{elem}[{shape}, {n}{split}]"
    return (f"{mesh}{text}program p(x: {whole}, z: {part}) -> (y: f32[{shape}], w: {part}) {{\n  y = k(x);\n  w = z + x;\n}}\n")


def main():
    tilec, folder = sys.argv[1:3]
    options = dict(a[2:].split("=") for a in sys.argv[3:])
    first, n, wrong = int(options.get("first", 1)), int(options.get("programs", 20)), 0
    for seed in range(first, first + n):
        r = random.Random(seed)
        target, text, file = TARGETS[seed % len(TARGETS)], program(r), f"{folder}/tiles-{seed}.tile"
        with open(file, "w", encoding="utf-8") as to:
            to.write(text)
        command = [tilec, "run", "--check", f"--seed={seed}", f"--target=emu:{target}", file]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            wrong += 1
            print(f"seed {seed}, {target}: {text}{done.stdout}{done.stderr}", flush=True)
    print(f"{n} programs, {wrong} wrong")


main()
