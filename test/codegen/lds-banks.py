"""usage: lds-banks.py TILEC SOURCE FOLDER COMPILER: the schedule of attention on each of AMD's machines, for rows of 64 and 128
elements: how often its threads access the workgroup's memory in a step, and the most words that meet in a bank in one phase."""
import re
import subprocess
import sys

tilec, source, folder, compiler = sys.argv[1:]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def phases_of(target):
    found = {}
    rows = re.findall(r"^LDS_(READ|WRITE)\((\d+), (\d+), LANES\(([\d, ]+)\)\)", open(f"{source}/target/{target}.def", encoding="utf-8").read(), re.M)
    for what, size, banks, lanes in rows:
        span = [0]
        for lane in map(int, lanes.split(",")):
            span += [at ^ lane for at in span]
        found["load" if what == "READ" else "store", int(size)] = int(banks), span
    return found


def worst(banks, span, size, at):
    most = 0
    for lanes in {tuple(sorted(first & ~63 | (first ^ lane) & 63 for lane in span)) for first in range(len(at))}:
        words = {at[lane] // 4 + word for lane in lanes for word in range(size // 4)}
        most = max(most, max(sum(w % banks == bank for w in words) for bank in range(banks)))
    return most


def accesses(target, width):
    run(tilec, "compile", f"{source}/bench/gpu/attention.tile", "--program=attention_causal", f"--target={target}", f"-DD={width}", "-o", folder)
    include = [f"-I{source}/runtime", f"-I{source}/runtime/include", f"-I{folder}"]
    text = f'-DTEXT="{folder}/attention_causal_{target}.hip"'
    run(compiler, "-std=gnu++17", "-O1", "-w", "-DTILE_EMU", text, *include, f"{source}/test/codegen/Inputs/lds-banks.cpp", "-o", f"{folder}/banks")
    for line in run(f"{folder}/banks").splitlines():
        what, size, *at = line.split()
        yield what, int(size), list(map(int, at))


for target in ("gfx90a", "gfx942", "gfx950"):
    for width in (64, 128):
        found = [worst(*phases_of(target)[what, size], size, at) for what, size, at in accesses(target, width)]
        print(target, width, len(found), max(found))
