"""usage: lds-banks.py TILEC SOURCE FOLDER COMPILER TABLE: the schedules of AMD's machines, attention for rows of 64 and 128 elements,
products with rows of b along and across the sums, of 8-bit floats, and two of one matrix, in tiles of 256 and of 128 columns: how often waves access the workgroup's memory
in a step, or a pair of them, and the most words that meet in a bank in one phase. Fails where a row is not that of TABLE, which has all; a sample of the rows, unless everything runs."""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import sample

tilec, source, folder, compiler, table = sys.argv[1:]

CASES = [(f"attention {width}", "bench/gpu/attention", "attention_causal", [f"-DD={width}"]) for width in (64, 128)]
for file, program, kernel, half in (("bench/gpu/gemm", "gemm_tn", "linear", 1), ("bench/gpu/gemm", "gemm_nn", "matmul", 1),
                                    ("bench/gpu/gemm8", "gemm_f8", "linear", 1), ("test/emu/product_two", "gated", "along", 2),
                                    ("test/emu/product_two", "turned", "across", 2)):
    for size, tile in (4096, 256), (1536, 128):
        sizes = [f"-DM={size}", f"-DN={size // half}", "-DK=4096"]
        CASES.append((f"{program} {tile}", file, program, sizes, f"-DKERNEL(x)={kernel}_##x"))


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


def accesses(target, file, program, sizes, *flags):
    run(tilec, "compile", f"{source}/{file}.tile", f"--program={program}", f"--target={target}", *sizes, "-o", folder)
    include = [f"-I{source}/runtime", f"-I{source}/runtime/include", f"-I{folder}"]
    text = f"{folder}/{program}_{target}.hip"
    with open(text, encoding="utf-8") as file:
        flags += ("-DCOPIED",) if "tile_copies" in file.read() else ()
    run(compiler, "-std=gnu++17", "-O1", "-w", "-DTILE_EMU", f'-DTEXT="{text}"', *flags, *include, f"{source}/test/codegen/Inputs/lds-banks.cpp", "-o", f"{folder}/banks")
    for line in run(f"{folder}/banks").splitlines():
        what, size, *at = line.split()
        yield what, int(size), list(map(int, at))


def row_of(target, name, case):
    found = [worst(*phases_of(target)[what, size], size, at) for what, size, at in accesses(target, *case)]
    return f"{target} {name} {len(found)} {max(found)}"


# gfx90a has no 8-bit floats
every = [(target, *case) for target in ("gfx90a", "gfx942", "gfx950") for case in CASES if (target, case[0][:7]) != ("gfx90a", "gemm_f8")]
with open(table, encoding="utf-8") as file:
    rows = file.read().splitlines()
wrong = [] if [" ".join(row.split()[:3]) for row in rows] == [f"{target} {name}" for target, name, *_ in every] else ["other rows than those of the table"]
for target, name, *case in sample.choose("schedules' accesses to LDS", every, 6):
    row = row_of(target, name, case)
    wrong += [] if row in rows else [row]
sys.exit("\n".join(wrong) or 0)
