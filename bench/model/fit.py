#!/usr/bin/env python3
"""Measures the facts about this machine that the cost model uses, and prints them as the row of target/host.def.

usage: bench/model/fit.py [BUILD]
Each program of facts.tile and ranks.tile spends its time on one thing; its count is written beside it here. Facts of one
core are measured with one worker; the best of many runs counts, so that other work on the machine disturbs less.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RUNS, TURNS = 50, 3


def best(tilec, file, program, *options):
    """Seconds of the fastest run."""
    command = [tilec, "run", f"{HERE}/{file}.tile", f"--program={program}", f"--time={RUNS}", "--workers=1", *options]
    out = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(TURNS)]
    return min(float(re.search(r"best ([0-9.e+-]+) ms", text)[1]) for text in out) * 1e-3


def facts(tilec):
    start = best(tilec, "facts", "empty")
    task = (best(tilec, "facts", "tasks") - start) / 65536

    def rest(program, tasks):
        return best(tilec, "facts", program, "--off=fuse") - start - tasks * task

    memory = 2 * 4 * 16777216 / rest("memory", 4096)
    cached = 102 * 2 * 4 * 32768 / rest("cached", 102 * 8)
    ops = 18 * 65536 / rest("ops", 32)
    dot = 2 * 256**3 / rest("dot", 2)
    row = 52 * 2 * 256 * 256 / rest("row", 52 * 2)
    flag = (best(tilec, "ranks", "rounds") - start) / 100
    barrier = (best(tilec, "ranks", "rounds", "--off=comm,flags") - start) / 100
    return {"memory": memory, "link": memory, "flag": flag, "barrier": barrier, "task": task, "start": start,
            "cache": 16e6, "cached": cached, "staged": cached, "dot": dot, "row": row, "ops": ops}


def main():
    found = facts(f"{sys.argv[1] if len(sys.argv) > 1 else 'build'}/bin/tilec")
    for name, value in found.items():
        print(f"{name:8} {value:.3g}")
    print("RATES(" + ", ".join(f".{name} = {value:.2g}" for name, value in found.items()) + ")")


if __name__ == "__main__":
    main()
