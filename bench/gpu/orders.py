#!/usr/bin/env python3
"""usage: orders.py build BUILD FOLDER [--jobs=N] [--bands=1,4,..] [--beside=TILEC]
       orders.py FOLDER [-o FILE]

Products and attention of run.py on sm_90a with their tasks in several orders, of which 1 is row-major: what the order that the pass `remap` chooses is compared with.
`build` compiles the programs into FOLDER from their IR, in which the order is another one; with --beside also what another compiler makes of them. The second form measures on this GPU, the orders of a shape in turns,
compares all of an order's values with those of row-major, and appends a JSON line a shape to FILE (FOLDER/orders.jsonl)."""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
BANDS = "1,4,8,16"  # rows of tiles that tasks go through together
PRODUCTS = [("gemm_nn", *s) for s in ((2048, 4096, 4096), (3072, 3072, 3072), (4096, 4096, 4096), (8192, 8192, 8192))] + [("gemm_tn", 8192, 28672, 8192)]
ATTENTION = [("attention_full", 1, 32, 32, 16384, 128), ("attention_causal", 4, 32, 8, 4096, 128), ("attention_causal", 1, 64, 8, 16384, 128)]


def name_of(program, sizes, band):
    return f"{program}_{'x'.join(map(str, sizes))}_{band}"


def all_programs():
    for program, *sizes in PRODUCTS + ATTENTION:
        yield program, tuple(sizes), ("gemm.tile", "MNK") if program.startswith("gemm") else ("attention.tile", "BHGSD")


def compile_beside(tilec, program, sizes, source, names, to):
    dims = [w for n, v in zip(names, sizes) for w in ("-D", f"{n}={v}")]
    folder = os.path.join(to, name_of(program, sizes, "beside"))
    os.makedirs(folder, exist_ok=True)
    subprocess.run([tilec, "compile", os.path.join(HERE, source), f"--program={program}", "--target=sm_90a", "-W", "no-performance", *dims, "--emit=lib", "-o", folder], check=True)
    folder_strip(folder, program)
    return "beside"


def folder_strip(folder, program):
    subprocess.run(["strip", os.path.join(folder, f"lib{program}.so")], check=True)
    for file in os.listdir(folder):
        if not file.endswith(".so"):
            os.remove(os.path.join(folder, file))


def compile_one(tilec, program, sizes, source, names, band, to):
    """What the compiler chooses; None: it has no such order."""
    folder = os.path.join(to, name_of(program, sizes, band))
    os.makedirs(folder, exist_ok=True)
    words = [f"--program={program}", "--target=sm_90a", "-W", "no-performance"]
    dims = [w for n, v in zip(names, sizes) for w in ("-D", f"{n}={v}")]
    text = subprocess.run([tilec, "compile", os.path.join(HERE, source), *words, *dims, "--emit=ir"], capture_output=True, text=True, check=True).stdout
    own = re.search(r"roles .*?order (\((?:.*, )?(\w+) / (\d+), (\w+(?: down)?), \2\))", text)
    if not own:
        return None
    rows, columns = own[2], own[4]
    front = own[1][1:own[1].index(f"{rows} / ")]
    order = f"({front}{rows}, {columns})" if band == 1 else f"({front}{rows} / {band}, {columns}, {rows})"
    with open(os.path.join(folder, "ordered.tir"), "w", encoding="utf-8") as file:
        file.write(text.replace(f"order {own[1]}", f"order {order}", 1))
    subprocess.run([tilec, "compile", os.path.join(folder, "ordered.tir"), *words, "--passes=none", "--emit=lib", "-o", folder], check=True)
    folder_strip(folder, program)
    return own[1]


def build(o):
    tilec, wanted = os.path.join(o.folder, "bin", "tilec"), [(p, s, *where, int(band)) for p, s, where in all_programs() for band in o.bands.split(",")]
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        made = list(pool.map(lambda w: compile_one(tilec, *w, o.to), wanted))
        beside = list(pool.map(lambda w: compile_beside(o.beside, *w[:4], o.to), [w for w in wanted if w[-1] == 1] if o.beside else []))
    subprocess.run(["cp", os.path.join(o.folder, "libtile.so"), o.to], check=True)
    commit = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    with open(os.path.join(o.to, "built.json"), "w", encoding="utf-8") as to:
        json.dump(dict(commit=commit, variants=o.bands.split(",") + beside[:1], own={name_of(w[0], w[1], w[-1]): order for w, order in zip(wanted, made)}), to)
    print(f"{sum(map(bool, made))} of {len(made)} programs in {o.to}")


def inputs_of(R, program, sizes):
    """Sets of inputs, the shape of the result, and microseconds of a call at the machine's nominal rate."""
    if program.startswith("gemm"):
        m, n, k = sizes
        sets = 1 + int(4 * R.L2 / (2 * (m * k + n * k)))
        return [(R.normal(m, k), R.normal(k, n) if program.endswith("nn") else R.normal(n, k)) for _ in range(sets)], (m, n), m * n * k * 3e-9
    b, h, g, s, d = sizes
    return [(R.normal(b, h, s, d), R.normal(b, g, s, d), R.normal(b, g, s, d))], (b, h, s, d), b * h * s * s * d * (3e-9 if program.endswith("causal") else 6e-9)


def measured(R, mesh, folder, program, sizes, variants):
    """Microseconds by band, and the largest difference from row-major."""
    given, shape, us = inputs_of(R, program, sizes)
    results = {band: R.torch.full(shape, float("nan"), device="cuda", dtype=R.torch.bfloat16) for band in variants}
    runs = {band: mesh.program(os.path.join(folder, name_of(program, sizes, band), f"lib{program}.so"), program) for band in variants}
    calls = {band: lambda i, run=runs[band], to=results[band]: run(*given[i % len(given)], to) for band in variants}
    for call in calls.values():
        call(0)
    wrong = max((results[band].float() - results["1"].float()).abs().max().item() for band in variants)
    first, others = R.side_by_side(calls["1"], {band: calls[band] for band in variants if band != "1"}, len(given) * max(1, round(4e3 / us / len(given))))
    return {"1": first, **others}, wrong


def run(o):
    import run as R
    R.torch.cuda.set_stream(R.torch.cuda.Stream())
    with open(os.path.join(o.folder, "built.json"), encoding="utf-8") as file:
        built = json.load(file)
    mesh = R.Mesh(o.folder)
    for program, sizes, _ in all_programs():
        R.torch.manual_seed(0)
        own = built["own"][name_of(program, sizes, 1)]
        if not own:
            continue
        times, wrong = measured(R, mesh, o.folder, program, sizes, built["variants"])
        chosen = re.search(r"/ (\d+)", own)[1]
        print(f"{program:17} {'x'.join(map(str, sizes)):22} {own:26} of row-major {times['1'] / times[chosen]:.3f}: " + ", ".join(f"{band} {us:.1f}" for band, us in times.items()) +
              f"; differ by {wrong:g}", flush=True)
        R.append(o.output, {**R.about(built["commit"], f"order of {program}", "x".join(map(str, sizes)), times[chosen], {"row-major": times["1"]}, wrong),
                            "order": own, "bands": {band: round(us, 2) for band, us in times.items()}})


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("words", nargs="+")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--bands", default=BANDS, help="rows of a band, of which one is 1")
    p.add_argument("--beside", help="another compiler, for programs in its own order")
    p.add_argument("-o", dest="output")
    o = p.parse_args()
    if o.words[0] == "build":
        o.folder, o.to = o.words[1:]
        return build(o)
    o.folder, = o.words
    o.output = o.output or os.path.join(o.folder, "orders.jsonl")
    return run(o)


if __name__ == "__main__":
    main()
