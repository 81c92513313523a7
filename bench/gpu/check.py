#!/usr/bin/env python3
"""Every example, and every program of the library's tests, on a GPU (or its emulator) against the interpreter: one JSON
line a case, with the commit, the day and the device. Where the interpreter has no bound, nothing was compared: such a case is
not right.

usage: check.py [--ranks=N] TILEC SOURCE TARGET [JOBS [COMMAND ..]]; COMMAND goes before tilec, such as a sanitizer: then
not for the examples at their own sizes. With --ranks the meshes alone, on so many GPUs: as threads and as processes."""
import concurrent.futures
import datetime
import glob
import json
import math
import os
import re
import subprocess
import sys

# Own sizes, then ragged ones.
CASES = [
    ("gemm", ""), ("gemm", "-D M=140 -D N=50 -D K=70"), ("gemm", "-D M=257 -D N=513 -D K=129"),
    ("attention", ""), ("attention", "-D H=4 -D S=200"), ("attention", "-D H=2 -D G=1 -D S=333 -D D=64"),
    ("softmax", ""), ("softmax", "-D N=33 -D D=1000"), ("softmax", "-D N=5 -D D=30"),
    ("rmsnorm", ""), ("rmsnorm", "-D N=33 -D D=1000"), ("rmsnorm", "-D N=5 -D D=30"),
    ("stories/stories", ""), ("stories/stories", "-D L=2 -D D=12 -D F=10 -D H=4 -D G=2 -D E=6 -D V=20 -D S=9 -D B=2"),
]
# Programs for each schedule of sm_90a (schedules.tile).
SCHEDULED = ["product", "with_bias", "beyond", "uneven", "beside", "late", "quantised", "kept", "gate_up", "keys_values", "odd_rows", "few_rows", "one_row", "few_gate_up", "one_keys_values", "eight", "eight_gate_up", "shallow", "full", "causal", "one_token"]
MESHES = [
    ("ag_gemm", ""), ("ag_gemm", "-D M=37 -D N=50 -D K=40"), ("gemm_rs", ""), ("gemm_rs", "-D M=150 -D N=50 -D K=40"),
    ("gemm_ar", ""), ("gemm_ar", "-D M=30 -D N=50 -D K=41"), ("mlp_tp", ""), ("mlp_tp", "-D D=16 -D H=23 --size N=9"),
    ("flash_decode", ""), ("flash_decode", "-D B=1 -D H=2 -D G=1 -D S=30 -D D=8"),
]
LINE = re.compile(r"(\S+): (\S+): largest error (\S+), bound there (\S+)(?: \(expected (\S+)\))?: (agrees|differs|not comparable)(.*)")


def library(tilec, source, meshes=None):
    """The programs of test/library, those of meshes on one rank; or those of meshes alone, with these options."""
    for path in sorted(glob.glob(f"{source}/test/library/*.tile")):
        text = open(path).read()
        is_mesh = re.search("^mesh", text, re.M)
        if meshes and not is_mesh:
            continue
        ranks = (meshes or ["--ranks=1"]) if is_mesh else []
        names = subprocess.run([tilec, "compile", "--emit=programs", path] + ranks, capture_output=True, text=True)
        for listed in names.stdout.split():
            # As files are named: a name that C has taken ends in _ there.
            name = listed if re.search(rf"^program {listed}\b", text, re.M) else listed[:-1]
            yield f"test/library/{os.path.basename(path)}", " ".join([f"--program={name}"] + ranks)


def output(_, name, error, bound, expected, verdict, rest):
    """The bound that judged the worst element: of the worst case, else the expected one where nothing is beyond it."""
    bound = float(bound)
    if math.isinf(bound) and "all equal" in rest:
        bound = 0.0
    elif math.isinf(bound) and expected and "beyond the expected" not in rest:
        bound = float(expected)
    elif verdict == "not comparable":
        bound = math.inf
    return {"name": name, "error": float(error), "bound": bound, "agrees": verdict != "differs"}


def run(tilec, source, target, before, case):
    path, options = case
    command = before + [tilec, "run", f"--target={target}", f"{source}/{path}", "--check"] + options.split()
    p = subprocess.run(command, capture_output=True, text=True)
    row = {"file": path, "options": options, "target": target, "exit": p.returncode,
           "outputs": [output(*found) for found in LINE.findall(p.stdout)]}
    if p.returncode:
        lines = [line for line in (p.stderr or p.stdout).splitlines() if not line.startswith("=")]
        row["message"] = lines[0][:300] if lines else ""
    if before:
        row["tool"] = " ".join(before)
        row["summary"] = [line for line in p.stdout.splitlines() if "SUMMARY" in line]
    return row


def verdict(row):
    if "not supported yet" in row.get("message", ""):
        return "refused"
    clean = all(": 0 " in line for line in row.get("summary", []))
    agree = row["outputs"] and all(o["agrees"] for o in row["outputs"])
    if row["exit"] not in (0, 4) or not clean or not agree:
        return "wrong"
    return "right" if all(math.isfinite(o["bound"]) for o in row["outputs"]) else "unbounded"


def said(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return ""


def origin(source, target):
    device = "emulator" if target.startswith("emu:") else said("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")
    return {"commit": said("git", "-C", source, "rev-parse", "--short", "HEAD"), "date": datetime.date.today().isoformat(),
            "device": device or said("rocminfo")}


def cases_of(tilec, source, ranks, small):
    """All on one rank; or the meshes on `ranks`, as threads, then as processes."""
    chosen = [(n, o, "") for n, o in CASES] + [(n, o, "--ranks=1") for n, o in MESHES]
    ways = [f"--ranks={ranks}", f"--ranks={ranks} --processes"]
    if ranks:
        chosen = [(n, o, way) for n, o in MESHES for way in ways]
    examples = [(f"examples/{n}.tile", f"{way} {o}".strip()) for n, o, way in chosen if o or not small]
    if not ranks:
        examples += [("bench/gpu/schedules.tile", f"--program={name}") for name in SCHEDULED]
    return examples + list(library(tilec, source, ways[:1] if ranks else None))


def main():
    ranks = next((int(a[8:]) for a in sys.argv if a.startswith("--ranks=")), 0)
    tilec, source, target, *rest = [a for a in sys.argv[1:] if not a.startswith("--ranks=")]
    jobs = int(rest[0]) if rest else 1
    before = rest[1:]
    cases = cases_of(tilec, source, ranks, bool(before))
    count = {"right": 0, "unbounded": 0, "refused": 0, "wrong": 0}
    where = origin(source, target)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for row in pool.map(lambda c: run(tilec, source, target, before, c), cases):
            row["verdict"] = verdict(row)
            count[row["verdict"]] += 1
            print(json.dumps(row | where), flush=True)
    print(f"{len(cases)} cases: {count}", file=sys.stderr)
    return count["wrong"] + count["unbounded"] != 0


if __name__ == "__main__":
    sys.exit(main())
