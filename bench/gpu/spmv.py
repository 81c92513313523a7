#!/usr/bin/env python3
"""spmv.py build BUILD FOLDER: spmv.tile, compiled into FOLDER. spmv.py FOLDER [-o FILE] [--commit=C] [--train=TABLE]: each program on each
matrix beside cuSPARSE as PyTorch calls it, in turns; values against float64. One matrix again and again, as a solver has it. With --train
the matrices of TRAINING are measured as well, and all go to a table for tilec tune --train."""
import argparse, datetime, json, math, os, statistics, subprocess, sys


def build(tilec, folder):
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run([f"{tilec}/bin/tilec", "compile", f"{here}/spmv.tile", "--target=sm_90a", "--emit=lib", "-o", folder], check=True)
    subprocess.run(["cp", f"{tilec}/libtile.so", folder], check=True)


if sys.argv[1] == "build":
    build(*sys.argv[2:4])
    sys.exit()

import torch
import run as R
from spmv_matrices import MATRICES, TRAINING, sliced

ARMS = "lane wave short_rows some_rows adaptive long_rows longer_rows merge_path sliced".split()
CALLS, TURNS, MOST_US = 4, 7, 4000  # calls in a graph; turns; an arm that takes longer is not measured


def of_matrix(runs, ptr, col, val):
    """A call of each arm and of the peer, and their results; what is expected, and how far sums in float32 may be off."""
    n, z, device = len(ptr) - 1, len(col), col.device
    x = torch.randn(n, device=device)
    row = torch.repeat_interleave(torch.arange(n, device=device), (ptr[1:] - ptr[:-1]).long())
    terms = val.double() * x[col.long()].double()
    want, size = (torch.zeros(n, device=device, dtype=torch.float64).index_add_(0, row, t) for t in (terms, terms.abs()))
    form, matrix = sliced(ptr, col, val), torch.sparse_csr_tensor(ptr, col, val, (n, n))
    sizes = [n, n, len(form[0]) - 1, len(form[1]), len(form[2]), len(form[5]), len(form[6]) - 1, len(form[7])]
    out, calls = {}, {}
    for arm in ARMS:
        out[arm] = torch.full((n,), float("nan"), device=device)
        given = [*form, x, out[arm], *sizes] if arm == "sliced" else [ptr, col, val, x, out[arm], n, n, z]
        calls[arm] = lambda i, run=runs[arm], given=given: run(*given)
    calls["cusparse"] = lambda i: out.__setitem__("cusparse", torch.mv(matrix, x))
    return calls, out, want, size * 5e-5


def measure(calls, out, want, bound, name):
    graphs = {}
    for arm, call in calls.items():
        call(0)
        torch.cuda.synchronize()
        if not ((out[arm] - want).abs() <= bound).all():
            raise SystemExit(f"{name}: {arm} computes something else")
        if R.microseconds(R.graph(call, 1), 1) < MOST_US:
            graphs[arm] = R.graph(call, CALLS)
    times = {arm: [] for arm in graphs}
    for turn in range(TURNS):
        for arm, graph in sorted(graphs.items(), reverse=turn % 2 == 1):
            times[arm].append(R.microseconds(graph, CALLS))
    return {arm: statistics.median(t) for arm, t in times.items()}


def features(ptr, col):
    """R, C and Z are known; the others take a pass over ptr."""
    length = (ptr[1:] - ptr[:-1]).double()
    return {"R": len(ptr) - 1, "C": len(ptr) - 1, "Z": len(col), "longest": int(length.max()), "spread": round(length.std(correction=0).item(), 3)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder"), parser.add_argument("-o"), parser.add_argument("--commit", default=""), parser.add_argument("--train")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.cuda.set_stream(torch.cuda.Stream())
    mesh = R.Mesh(options.folder)
    runs = {arm: mesh.program(f"{options.folder}/lib{arm}.so", arm) for arm in ARMS}
    table, ratios = [], []
    for name, make in {**MATRICES, **(TRAINING if options.train else {})}.items():
        ptr, col, val = make("cuda")
        us = measure(*of_matrix(runs, ptr, col, val), name)
        facts = features(ptr, col)
        table.append((name in MATRICES, name, facts, us))
        if name not in MATRICES:
            continue
        best = min((arm for arm in us if arm != "cusparse"), key=us.get)
        ratios.append(us["cusparse"] / us[best])
        print(f"{name:20s} {facts['Z'] / 1e6:6.2f}M cusparse {us['cusparse']:7.1f} {best} {us[best]:.1f} {ratios[-1]:.2f}", flush=True)
        R.append(options.o, dict(date=str(datetime.date.today()), gpu=torch.cuda.get_device_name(), commit=options.commit, work="spmv", shape=name, **facts,
                                 us={arm: round(t, 2) for arm, t in us.items()}))
    print(f"oracle: {math.exp(statistics.mean(map(math.log, ratios))):.2f} of cuSPARSE's speed in geometric mean")
    if options.train:
        with open(options.train, "w", encoding="utf-8") as to:
            names = list(table[0][2])
            to.write("\t".join(["sample", *names, *(f"us:{arm}" for arm in ARMS)]) + "\n")
            for own, name, facts, us in table:
                to.write("\t".join([("test " if own else "") + name, *(str(facts[k]) for k in names), *(f"{us.get(arm, 1e9):.2f}" for arm in ARMS)]) + "\n")


main()
