#!/usr/bin/env python3
"""What the assembly of AMD kernels says of their speed, without a machine: one JSON line a kernel.

usage: static.py TILEC SOURCE [--all]; --all: every program of the examples and of the library's tests too.

Of the loop with the most matrix instructions (none: of no loop), for each wave and step: `mfma`, cycles of the matrix pipe by
target/*.def; `valu`, of the vector instructions and the issue of matrix instructions (4 cycles each, 16 for exp2, log2, rcp,
rsq, sqrt, sin and cos; share_exp8: with 8 for these, as an open change of LLVM, 156411, has it for gfx950); `lds`, bytes over 128 a cycle and unit (reads of 8 and 16 bytes on gfx950: 256), all conflict-free,
of the four SIMDs that share it. share = mfma / max(mfma, valu, lds)."""
import glob
import heapq
import json
import os
import re
import subprocess
import sys
import tempfile

TARGETS = ("gfx90a", "gfx942", "gfx950")
SIZES = "-D M=4096 -D N=4096 -D K=4096"
WORK = [("bench/gpu/gemm.tile", "gemm_nn", SIZES), ("bench/gpu/gemm.tile", "gemm_tn", SIZES),
        ("bench/gpu/gemm8.tile", "gemm_f8", SIZES), ("bench/gpu/gemm8.tile", "gemm_fnuz", SIZES),
        ("bench/gpu/siblings.tile", "gate_up", ""), ("bench/gpu/siblings.tile", "keys_values", ""),
        *(("bench/gpu/gemm.tile", program, f"-D M={m} -D N=7168 -D K=8192") for program in ("gemm_nn", "gemm_tn") for m in (16, 64)),
        ("examples/gemm.tile", "gemm", SIZES), ("bench/gpu/attention.tile", "attention_full", "-D D=64"),
        ("bench/gpu/attention.tile", "attention_full", "-D D=128"), ("bench/gpu/attention.tile", "attention_causal", "-D D=64"),
        ("bench/gpu/attention.tile", "attention_causal", "-D D=128"), ("bench/gpu/decode.tile", "decode", "-D B=32"), ("bench/gpu/decode.tile", "decode", "-D B=4"),
        ("examples/flash_decode.tile", "flash_decode", "--ranks=1"), ("examples/mlp_tp.tile", "mlp_tp", "--ranks=1")]
INSTRUCTION = re.compile(r"\s+([a-z]\w+)(?:\s+([^;]*))?")
LABEL = re.compile(r"([.\w]+):")
SLOW = re.compile(r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_")
LDS_BYTES = {"b8": 1, "b16": 2, "b32": 4, "b64": 8, "b96": 12, "b128": 16}
FACTS = {"vgprs": "vgpr_count", "spilled": "vgpr_spill_count", "private": "private_segment_fixed_size",
         "lds_bytes": "group_segment_fixed_size", "threads": "max_flat_workgroup_size"}
CU_LDS = {"gfx90a": 65536, "gfx942": 65536, "gfx950": 163840}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def letters(name):
    return re.sub(r"[^a-z0-9]", "", name)


def matrix_cycles(source, target):
    """By the instruction's letters; of several rows for one (element types) the slowest."""
    cycles = {}
    for name, n in re.findall(r"^MFMA\((\w+),.*, (\d+)\)$", open(f"{source}/target/{target}.def", encoding="utf-8").read(), re.M):
        key = letters(name.removeprefix("scale_").removesuffix("_1k"))
        cycles[key] = max(int(n), cycles.get(key, 0))
    return cycles


def cycles_of(target, matrix, op):
    """The unit that an instruction keeps busy, and for how long."""
    if "mfma" in op:
        name = re.sub(r"^v_mfma_(scale_)?|_1k$|_e64$", "", op)
        return "mfma", matrix[letters(name)]
    if op.startswith("ds_"):
        width = next((b for w, b in LDS_BYTES.items() if op.split("_tr_")[0].endswith(w)), 4) * (2 if "2" in op.split("_")[1] else 1)
        fast = target == "gfx950" and "read" in op and width in (8, 16)
        return "lds", 4 * 64 * width / (256 if fast else 128)
    if op.startswith("v_"):
        return "valu", 16 if SLOW.match(op) else 4
    return "other", 4


def kernels(text):
    """Name, instructions with their labels, and metadata of each kernel of an assembly file."""
    for name in re.findall(r"^\s+\.amdhsa_kernel (\w+)", text, re.M):
        body = text[text.index(f"\n{name}:"):text.index(".section", text.index(f"\n{name}:"))]
        notes = next(n for n in text.split("  - .agpr_count")[1:] if f".name:           {name}\n" in n)
        yield name, body, {k: int(re.search(rf"\.{v}:\s*(\d+)", notes)[1]) for k, v in FACTS.items()}


def blocks_of(body):
    """Basic blocks: their instructions with operands, and the labels that they go on to; names without a label are numbers."""
    blocks, name = {}, 0
    ops, to = blocks.setdefault(name, ([], []))
    for line in body.splitlines():
        label, op = LABEL.match(line), INSTRUCTION.match(line)
        branch = op and "branch" in op[1]
        if op:
            ops.append(f"{op[1]} {op[2] or ''}")
        if branch:
            to.append(op[2].strip())
        if label or branch:
            name = label[1] if label else len(blocks)
            if not ops or ops[-1].split()[0] not in ("s_branch", "s_endpgm"):
                to.append(name)
            ops, to = blocks.setdefault(name, ([], []))
    return blocks


def reached(blocks, without):
    """What the first block leads to, not by way of another."""
    found, queue = {without}, [0]
    while queue:
        name = queue.pop()
        if name not in found and name in blocks:
            found.add(name)
            queue += blocks[name][1]
    return found - {without}


def way_around(blocks, head):
    """The instructions of the shortest way from a block back to it: what a loop rarely needs is not on it."""
    found, queue, n = set(), [(0, 0, head, [])], 0
    while queue:
        _, _, name, way = heapq.heappop(queue)
        if name == head and way:
            return way
        if name in found or name not in blocks:
            continue
        found.add(name)
        way = way + blocks[name][0]
        for to in blocks[name][1]:
            n += 1
            heapq.heappush(queue, (len(way), n, to, way))
    return []


def main_loop(body):
    """The instructions of the loop with the most matrix instructions; of several the shortest, which has no masks. A loop's head is on
    every way that leads back to it."""
    blocks = blocks_of(body)
    heads = {to for name, (_, after) in blocks.items() for to in after if name not in reached(blocks, to)}
    loops = [loop for loop in (way_around(blocks, head) for head in heads) if any("mfma" in op for op in loop)]
    return min(loops, key=lambda loop: (-sum("mfma" in op for op in loop), len(loop)), default=[])


def occupancy(target, facts):
    """Waves of a SIMD that registers and LDS leave room for."""
    by_registers = min(8, 512 // (-(-max(facts["vgprs"], 1) // 8) * 8))
    groups = CU_LDS[target] // max(facts["lds_bytes"], 1)
    return min(by_registers, max(1, groups * facts["threads"] // 256)) if facts["lds_bytes"] else by_registers


def measure(source, target, text):
    matrix = matrix_cycles(source, target)
    for name, body, facts in kernels(text):
        row = {"kernel": name, **facts, "waves": occupancy(target, facts)}
        loop = main_loop(body)
        if loop:
            busy = {"mfma": 0, "valu": 0, "lds": 0, "other": 0}
            for op in (text.split()[0] for text in loop):
                unit, n = cycles_of(target, matrix, op)
                busy[unit] += n
                busy["valu"] += 4 if unit == "mfma" else 0
            row.update({k: round(busy[k]) for k in ("mfma", "valu", "lds")})
            row["share"] = round(busy["mfma"] / max(busy["mfma"], busy["valu"], busy["lds"]), 3)
            if target == "gfx950":
                valu = busy["valu"] - 8 * sum(bool(SLOW.match(op)) for op in loop)
                row["share_exp8"] = round(busy["mfma"] / max(busy["mfma"], valu, busy["lds"]), 3)
        yield row


def assembly(tilec, source, target, case, folder):
    path, program, options = case
    made = run(tilec, "compile", f"{source}/{path}", f"--program={program}", f"--target={target}", "-o", folder, *options.split())
    if made.returncode:
        return None, made.stderr.splitlines()[0]
    texts = glob.glob(f"{folder}/{program}*_{target}.hip")
    flags = ["-x", "hip", f"--offload-arch={target}", "--cuda-device-only", "-nogpulib", "-nogpuinc", "-O3", "-S", "-o", "-"]
    done = run("clang-22", *flags, "-I", f"{source}/runtime", "-I", f"{source}/runtime/include", texts[0])
    return (done.stdout, None) if done.returncode == 0 else (None, done.stderr.splitlines()[0])


def everything(tilec, source):
    for path in sorted(glob.glob(f"{source}/examples/*.tile") + glob.glob(f"{source}/test/library/*.tile")):
        names = run(tilec, "compile", "--emit=programs", path, "--ranks=1").stdout.split()
        with open(path, encoding="utf-8") as file:
            declared = re.findall(r"^program (\w+)", file.read(), re.M)
        yield from ((os.path.relpath(path, source), name if name in declared else name[:-1], "--ranks=1") for name in names)


def main():
    tilec, source, *rest = sys.argv[1:]
    work = WORK + (list(everything(tilec, source)) if rest else [])
    for case in work:
        for target in TARGETS:
            with tempfile.TemporaryDirectory() as folder:
                text, message = assembly(tilec, source, target, case, folder)
            head = {"file": case[0], "program": case[1], "options": case[2], "target": target}
            for row in measure(source, target, text) if text else [{"message": message[:200]}]:
                print(json.dumps({**head, **row}), flush=True)


if __name__ == "__main__":
    main()
