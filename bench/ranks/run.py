#!/usr/bin/env python3
"""Fused programs on four ranks, or as many as are asked for, against their bulk-synchronous twins (--off=comm,flags), in turn (ABBA) in one run.

usage: bench/ranks/run.py [--ranks=N] [BUILD] [RESULTS.jsonl]
Prints a JSON line for each program: medians in ms, and ratio = bulk-synchronous / fused (above 1: fused is faster). The best
runs say more than the medians on a machine that others use too.
"""
import datetime
import json
import re
import statistics
import subprocess
import sys

ROUNDS, RUNS = 6, 15
PROGRAMS = {"ag_gemm": [], "gemm_rs": [], "gemm_ar": [], "flash_decode": [], "mlp_tp": ["--size", "N=64"]}
TWIN = ["--off=comm,flags"]


def measure(tilec, name, sizes, options):
    command = [tilec, "run", f"examples/{name}.tile", f"--time={RUNS}", *sizes, *options]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return tuple(float(re.search(rf"{what} ([0-9.e+-]+) ms", out)[1]) for what in (":", "best"))


def compare(tilec, name, sizes, ranks):
    fused, twin = [], []
    for i in range(ROUNDS):
        for which in ((fused, []), (twin, TWIN)) if i % 2 else ((twin, TWIN), (fused, [])):
            which[0].append(measure(tilec, name, [*sizes, f"--ranks={ranks}"], which[1]))
    median = [statistics.median(times[0] for times in which) for which in (fused, twin)]
    best = [min(times[1] for times in which) for which in (fused, twin)]
    return {"fused_ms": median[0], "twin_ms": median[1], "ratio": round(median[1] / median[0], 3),
            "fused_best_ms": best[0], "twin_best_ms": best[1], "best_ratio": round(best[1] / best[0], 3),
            "spread": round(max(fused)[0] / min(fused)[0], 2)}


def main():
    ranks = next((int(word[8:]) for word in sys.argv[1:] if word.startswith("--ranks=")), 4)
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    build = words[0] if words else "build"
    results = words[1] if len(words) > 1 else None
    about = {"date": datetime.date.today().isoformat(), "machine": machine(), "command": "bench/ranks/run.py",
             "commit": subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()}
    for name, sizes in PROGRAMS.items():
        line = json.dumps({**about, "work": name, "ranks": ranks, **compare(f"{build}/bin/tilec", name, sizes, ranks)})
        print(line, flush=True)
        if results:
            with open(results, "a") as file:
                file.write(line + "\n")


def machine():
    with open("/proc/cpuinfo") as file:
        text = file.read()
    name = re.search(r"model name\s*: (.*)", text)
    return f"{name[1] if name else 'unknown'}, {text.count('processor')} cores"


if __name__ == "__main__":
    main()
