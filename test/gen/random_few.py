"""usage: random_few.py TILEC WORK [PROGRAMS [FIRST]]: random products of few rows with matrices of every stored type, whose rows run along the
sum: odd sizes, 0 and 1, rows beyond the tensor, shifted places, bounds that conditions choose, run-time numbers of rows. The host against the interpreter."""
import os
import random
import subprocess
import sys

KERNELS = 6
TYPES = ["f32", "bf16", "f16", "i8", "i4", "t2"]


def extent(draw, most):
    some = [draw.randint(2, 20), draw.randint(1, most), draw.randint(1, most), draw.randint(1, most // 2) * 2, draw.randint(1, (most + 15) // 16) * 16]
    return draw.choice([0, 1, *some, *some])


def bounds(draw, k):
    return draw.choice(["of k", "of k", f"in 0 .. {k}", f"in {draw.randint(0, 5)} .. k", f"in 0 .. (begin(j) < {draw.randint(0, 40)} ? k : 0)",
                        f"in 0 .. min(k, {draw.randint(0, 2 * k + 1)})"])


def operands(draw, elem, shift):
    down, along = shift
    w = f"w[j{f' + {down}' if down else ''}, p{f' + {along}' if along else ''}]"
    wide = draw.choice(["f32", "f32", "bf16", "f16"]) if elem in ("i8", "i4", "t2") else elem if draw.random() < 0.3 else "f32"
    x = draw.choice(["x[i, p]", "x[i, p]", "(x[i, p] * 2)", "(x[i, p] + 1)"]) if wide == "f32" else "x[i, p]"
    return x, f"{wide}({w})" if wide != elem else w, wide


def body(draw, x, w, p):
    form = draw.random()
    if form < 0.6:
        return f"acc: f32[i, j] = 0; for {p} {{ acc += {x} @ {w}; }} y[i, j] = acc;"
    if form < 0.75:
        return f"acc: f32[j, i] = 0; for {p} {{ acc += {w} @ {x}; }} y[i, j] = acc;"
    if form < 0.9:
        return f"acc: f32[i, j] = 1; rest: f32[i, j] = 0; for {p} {{ acc += {x} @ {w}; rest += {x} @ {w}; }} y[i, j] = acc + rest;"
    return f"acc: f32[i, j] = 0; for {p} {{ acc += sum(f32({x}) * f32({w}), p); }} y[i, j] = acc;"


def grouped(draw, x, w, k):
    """Groups of the sum, each scaled by a number for its column; also such whose factors know the group."""
    width = draw.choice([32, 64, 128, 256, 512, draw.randint(1, 200)])
    if x == "x[i, p]" and draw.random() < 0.2:
        x = "(x[i, p] * f32(pos(e)))"
    scale = draw.choice(["s[j, e]", "s[j, e]", "s[j, e]", "(s[j, e] * 2)", "(s[j, e] + s[j, 0])"])
    p = f"p: {draw.choice([16, 64])} in {width} * e .. min(k, {width} * (e + 1))"
    text = (f"acc: f32[i, j] = {draw.choice([0, 1])}; for e of {-(-k // width)} {{ part: f32[i, j] = 0; for {p} {{ part += {x} @ {w}; }} "
            f"acc += {draw.choice([f'part * {scale}', f'{scale} * part'])}; }} y[i, j] = acc;")
    return text, -(-k // width)


def kernel(draw, number):
    runtime, elem = draw.random() < 0.3, draw.choice(TYPES)
    m, n, k = extent(draw, 20), extent(draw, 150), extent(draw, 500)
    shift = draw.choice([(0, 0), (0, 0), (draw.randint(0, 9), draw.randint(0, 3))])
    x, w, wide = operands(draw, elem, shift)
    rows = "M" if runtime else m
    ranges = f"i: {draw.choice([1, 4, 8, 16, 64])} of m, j: {draw.choice([16, 64, 128])} of n"
    p = f"p: {draw.choice([8, 64, 256])} {bounds(draw, k)}"
    text, groups = body(draw, x, w, p), 1
    if draw.random() < 0.35 and k and wide == "f32":
        text, groups = grouped(draw, x, w, k)
    # What lies beyond the matrix: rows that are missing in it, places behind its rows.
    stored = (max(0, n + shift[0] - draw.choice([0, 0, draw.randint(0, 40)])), max(0, k + shift[1] - draw.choice([0, 0, 0, draw.randint(0, 3)])))
    if draw.random() < 0.5:
        stored = (n + shift[0], k + shift[1])
    text = f"kernel k{number}(x: {wide}[m, k], w: {elem}[r, c], s: f32[n, g]) -> (y: f32[m, n]) {{\n  each {ranges} {{ {text} }}\n}}\n"
    return (text, f"x{number}: {wide}[{rows}, {k}], w{number}: {elem}[{stored[0]}, {stored[1]}], s{number}: f32[{n}, {groups}]",
            f"y{number}: f32[{rows}, {n}]", f"y{number} = k{number}(x{number}, w{number}, s{number});")


def program(draw):
    parts = [kernel(draw, i) for i in range(KERNELS)]
    return ("dim M <= 20;\n" + "".join(part[0] for part in parts) + f"program p({', '.join(part[1] for part in parts)}) -> ({', '.join(part[2] for part in parts)}) {{\n  "
            + "\n  ".join(part[3] for part in parts) + "\n}\n")


def main():
    tilec, work = sys.argv[1:3]
    programs, first = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((3, 10), (4, 1)))
    os.makedirs(work, exist_ok=True)
    wrong = refused = 0
    for seed in range(first, first + programs):
        draw = random.Random(seed)
        path = os.path.join(work, "few.tile")
        with open(path, "w") as file:
            file.write(program(draw))
        size = draw.choice([["-D", "M=1"], *[[f"--size=M={rows}"] for rows in (0, 1, 3, 16, 20)]])
        run = subprocess.run([tilec, "run", path, f"--seed={seed}", *size, "--check"], capture_output=True, text=True)
        refused += "not supported yet" in run.stderr
        if run.returncode or len(run.stdout.splitlines()) < KERNELS:
            wrong += 1
            print(f"seed {seed}: exit {run.returncode}\n{run.stderr}{run.stdout}")
    print(f"{programs} programs of {KERNELS} products, {wrong} wrong, {refused} refused")


main()
