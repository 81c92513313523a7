#!/usr/bin/env python3
"""usage: predict.py TILEC [--ranks=2,4,8] [--work=NAME,..] [-o FILE]

Predicts the rows of works.py by `tilec explain`, before they are measured. `least`: the longest of link, products and memory, and latency; `most`: the kernels
one after the other. `us` is `most` times what the measured times of two ranks (bench/results/gpu.jsonl) are of their predictions: those of the row, else the
mean of the work; without one, `most` itself."""
import argparse
import datetime
import json
import math
import os
import re
import subprocess

import works

HERE = os.path.dirname(os.path.abspath(__file__))
BOUNDS = re.compile(r"link ([\d.e+-]+), products ([\d.e+-]+), memory ([\d.e+-]+), latency ([\d.e+-]+): bound by (.*)")


def measured():
    """The latest times of two ranks, by work and shape."""
    found = {}
    with open(os.path.join(HERE, "..", "results", "gpu.jsonl"), encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row.get("gpu") != "2 x NVIDIA H200" or "ours_us" not in row:
                continue
            shape = row["shape"]
            batch = re.match(r"batch (\d+), .*?, (\d+) keys a rank", shape)
            found[row["work"], f"batch {batch[1]} x {batch[2]}" if batch else f"M {shape.split()[0]}"] = row["ours_us"]
    return found


def predicted(tilec, program, sizes, ranks):
    command = [tilec, "explain", os.path.join(HERE, "programs.tile"), f"--program={program}", "--target=sm_90a", "-W", "no-performance", *works.options(sizes, ranks)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    link, products, memory, latency = map(float, BOUNDS.search(text).groups()[:4])
    most = float(re.search(r"^model: program \w+: ([\d.e+-]+) us", text, re.M)[1])
    return dict(least=round(max(link, products, memory) + latency, 1), most=most, bound=BOUNDS.search(text)[5])


def factors(two):
    """Measured to predicted, of each row, and their mean of each work."""
    real, of = measured(), {}
    for (work, shape), p in two.items():
        if (work, shape) in real:
            of[work, shape] = real[work, shape] / p["most"]
    for work in {w for w, _ in of}:
        each = [math.log(x) for (w, shape), x in of.items() if w == work and shape]
        of[work, ""] = math.exp(sum(each) / len(each))
    return of


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tilec")
    p.add_argument("--ranks", type=lambda w: [int(x) for x in w.split(",")], default=[2, 4, 8])
    p.add_argument("--work", type=lambda w: w.split(","), default=[])
    p.add_argument("-o", dest="output")
    o = p.parse_args()
    commit = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    chosen = lambda work: not o.work or work in o.work
    of = factors({(work, shape): predicted(o.tilec, program, sizes, 2) for work, shape, program, sizes in works.rows(2) if chosen(work)})
    for ranks in o.ranks:
        for work, shape, program, sizes in works.rows(ranks):
            if not chosen(work):
                continue
            found = predicted(o.tilec, program, sizes, ranks)
            factor = of.get((work, shape), of.get((work, "")))
            row = dict(date=datetime.date.today().isoformat(), predicted=True, target="sm_90a", commit=commit, command="bench/multi/predict.py", ranks=ranks, work=work, shape=shape,
                       **found, factor=factor and round(factor, 3), us=round(found["most"] * (factor or 1), 1))
            print(f"{ranks} ranks  {work:12} {shape:16} {row['least']:8.1f} {row['most']:8.1f} us; {row['us']:8.1f} as two ranks were; bound by {row['bound']}", flush=True)
            if o.output:
                with open(o.output, "a", encoding="utf-8") as to:
                    to.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
