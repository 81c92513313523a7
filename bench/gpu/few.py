#!/usr/bin/env python3
"""usage: few.py build BUILD FOLDER
       few.py FOLDER [-o FILE] [--commit=NAME] [--only=WORD]

Products of 1 to 64 rows (gemm.tile) by the compiler's own choice and by roles in tiles that files of sizes ask for: rows and columns of a tile, slices,
workgroups a processor. `build` compiles them into FOLDER, libraries that need no compiler; variants that come out alike are left out. Then each shape's
variants and cuBLAS are measured in turns, as in run.py, with values checked. A line a shape; one JSON line a shape to FILE."""
import argparse
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = (1, 4, 16, 64)
SHAPES = {"tn": ((4096, 4096), (7168, 8192), (14336, 4096)), "nn": ((4096, 4096), (7168, 8192))}  # columns, K
KERNEL = {"tn": "linear", "nn": "matmul"}
CALLS = 100  # of a graph
BLOCK, GROUP, PROCESSORS = 8, 64, 132  # rows that a product has at least; rows of a group; an H200


def exchanged(m):
    """Few rows on the right: in how many slices, in tiles of how many columns, how many workgroups a processor."""
    plans = {False: ((1, 64, 2), (1, 64, 3), (1, 128, 1), (1, 128, 2), (2, 64, 1), (2, 64, 2), (2, 128, 1), (4, 64, 2)),
             True: ((1, 64, 1), (1, 64, 2), (1, 128, 1), (2, 64, 1), (2, 64, 2), (2, 128, 1), (4, 64, 1))}
    for slices, columns, resident in plans[m > GROUP // 2]:
        yield max(BLOCK * slices, -(-m // BLOCK) * BLOCK), columns, slices, resident


def on_the_left(n):
    """64 rows on the left: columns that give each processor a tile or its part of one."""
    for slices in (1, 2):
        yield GROUP, -(-n * slices // (PROCESSORS * BLOCK)) * BLOCK, slices, 1
    yield from ((GROUP, 64, 1, 1), (GROUP, 128, 2, 1))


def variants(m, n):
    """Names, and what is asked for."""
    yield "own", ""
    for rows, columns, slices, resident in dict.fromkeys([*exchanged(m), *(on_the_left(n) if m == GROUP else ())]):
        yield f"{rows}x{columns} s{slices} r{resident}", f"i = {rows}; j = {columns}; slices = {slices}; resident = {resident};"


def compile_one(tilec, to, m, n, k, way, asked):
    program = f"gemm_{way}"
    os.makedirs(to, exist_ok=True)
    with open(f"{to}/asked", "w", encoding="utf-8") as file:
        file.write(f"kernel {KERNEL[way]} on sm_90a {{ {asked} }}\n")
    command = [tilec, "compile", f"{HERE}/gemm.tile", f"--program={program}", "--target=sm_90a", f"--tuned={to}/asked", "-W", "no-performance",
               "-D", f"M={m}", "-D", f"N={n}", "-D", f"K={k}", "-o", to]
    subprocess.run(command, check=True)
    with open(f"{to}/{program}_sm_90a.hip", encoding="utf-8") as file:
        text = file.read()
    return text, command + ["--emit=lib"]


def build(args):
    tilec = os.path.join(args.build, "bin/tilec")
    os.makedirs(args.folder, exist_ok=True)
    for way in KERNEL:
        for n, k in SHAPES[way]:
            for m in ROWS:
                texts = set()
                for name, asked in variants(m, n):
                    to = f"{args.folder}/{way}_{m}x{n}x{k}/{name.replace(' ', '_')}"
                    text, library = compile_one(tilec, to, m, n, k, way, asked)
                    alike = text in texts or (asked and "in roles" not in text)
                    if not alike:
                        subprocess.run(library, check=True)
                        subprocess.run(["strip", f"{to}/libgemm_{way}.so"], check=True)
                    for file in os.listdir(to):
                        if not file.endswith(".so"):
                            os.remove(f"{to}/{file}")
                    if alike:
                        os.rmdir(to)
                    texts.add(text)
    subprocess.run(["cp", os.path.join(args.build, "libtile.so"), args.folder], check=True)


def shape(R, mesh, folder, work):
    way, sizes = work.split("_")
    m, n, k = map(int, sizes.split("x"))
    nn = way == "nn"
    sets = 1 + int(4 * R.L2 / (2 * (m * k + n * k)))
    a, b = [R.normal(m, k) for _ in range(sets)], [R.normal(k, n) if nn else R.normal(n, k) for _ in range(sets)]
    want = a[0].float() @ (b[0].float() if nn else b[0].float().t())
    calls, errors = {}, {}
    for name in sorted(os.listdir(f"{folder}/{work}"), key=lambda name: (name != "own", name)):
        run = mesh.program(f"{folder}/{work}/{name}/libgemm_{way}.so", f"gemm_{way}")
        c = R.torch.full((m, n), float("nan"), device="cuda", dtype=R.torch.bfloat16)
        run(a[0], b[0], c)
        errors[name] = R.error_of(c, want)
        calls[name] = lambda i, run=run, c=c: run(a[i % sets], b[i % sets], c)
    own, d = calls.pop("own"), R.torch.empty(m, n, device="cuda", dtype=R.torch.bfloat16)
    calls["cublas"] = lambda i: R.torch.mm(a[i % sets], b[i % sets] if nn else b[i % sets].t(), out=d)
    us, peers = R.side_by_side(own, calls, sets * max(1, round(CALLS / sets)))
    return us, peers, errors


def measure(args):
    import run as R
    R.torch.manual_seed(0)
    R.torch.cuda.set_stream(R.torch.cuda.Stream())
    mesh, all_wrong = R.Mesh(args.folder), []
    for work in sorted(os.listdir(args.folder)):
        if not os.path.isdir(f"{args.folder}/{work}") or args.only not in work:
            continue
        us, peers, errors = shape(R, mesh, args.folder, work)
        wrong, error = [f"{work} {name}" for name, error in errors.items() if not error < 1e-2], max(errors.values())
        best = sorted(peers, key=peers.get)
        print(f"{work:20s} own {us:6.2f}  " + "  ".join(f"{name} {peers[name]:.2f} ({us / peers[name]:.3f})" for name in best[:6]) + f"  error {error:.1e}", flush=True)
        all_wrong += wrong
        R.append(args.o, R.about(args.commit, "few rows, " + work.split("_")[0], work.split("_")[1], us, peers, error))
    assert not all_wrong, f"other values: {all_wrong}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="+")
    parser.add_argument("-o")
    parser.add_argument("--commit", default="")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    if args.words[0] == "build":
        args.build, args.folder = args.words[1:]
        build(args)
    else:
        args.folder, = args.words
        measure(args)


main()
