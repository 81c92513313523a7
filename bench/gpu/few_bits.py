#!/usr/bin/env python3
"""usage: few_bits.py BUILD FOLDER [--check]: programs of weights.tile in variants, compiled for sm_90a into FOLDER/VARIANT_MxNxK, for weights.py FOLDER to
measure beside each other. Variants are plans that a file of sizes forces, and texts: emitted ones with few_bits.h in them, edited on the way to nvcc.
--check: the variants in the emulator against the interpreter instead, at smaller sizes."""
import os
import re
import shutil
import subprocess
import sys

# Of a text. few: mma.m16n8k16; warp: each warp gives slots back; plain: no step is made under the products of the one before; none: slots are got and given
# back, and nothing is computed: what copying alone takes.
PLANS = {"auto": None, "s1": (64, 1), "s2": (64, 2), "s4": (64, 4), "r128s2": (128, 2), "r128s4": (128, 4), "r192s4": (192, 4)}
TEXTS = {"now": "", "none": "none", "warp": "warp", "few": "few,warp", "fewgroup": "few", "fewplain": "few,warp,plain"}
VARIANTS = [("auto", text) for text in TEXTS] + [(plan, text) for plan in list(PLANS)[1:] for text in ("now", "few", "fewplain")]
SIZES = {(16, 4096, 4096): VARIANTS, (1, 4096, 4096): VARIANTS[:6], (16, 14336, 4096): VARIANTS[:6], (64, 4096, 4096): VARIANTS, (64, 14336, 4096): VARIANTS[:6],
         (4096, 4096, 4096): [("auto", "now"), ("auto", "warp")]}
PROGRAMS, DEPTH = ["w4", "w8", "w2"], {"i4": 128, "i8": 128, "t2": 256}


def edited(text, words):
    text = text.replace('#include "device/tile_made.h"\n', '#include "device/tile_made.h"\n#include "few_bits.h"\n')
    if "few" in words or "none" in words:
        text = re.sub(r"tile_wgmma_(commit|keep|wait0)\(.*\);", ";", text)
    if "few" in words:
        text = re.sub(r"tile_made_words_(i8|i4|t2)_bf16", r"few_words_\1_bf16", text)
        text = re.sub(r"tile_chain_rs_bf16_0\((.*)\);", r"few_mma_bf16(\1, thread);", text)
    if "none" in words:
        text = re.sub(r"tile_made_words_.*;", ";", text)
        text = re.sub(r"tile_chain_rs_bf16_0\((\w+), (\d+), .*\);", r"for (int z = 0; z < \2 / 2; z++) \1[z] = 1;", text)
    if "warp" in words:
        text = re.sub(r"tile_ring_free_read\((.*?), (.*?), 1, \d+ \+ group, thread\);", r"few_free(\1, \2, thread);", text)
        text = re.sub(r"tile_ring_make\(&all.x_q, 1, (\d+)\)", r"tile_ring_make(&all.x_q, 1, 4 * \1)", text)
    if "few" in words and "few_mma_bf16(" not in text:
        sys.exit("few_bits.py: the text has no product whose operand is made on the way")
    if "plain" in words:
        text = re.sub(r"for \(; p_run \+ \d+ <= past; .*?\{", "for (; false;) {", text)
    return text


def compiler():
    """In the place of nvcc, or of the emulator's compiler."""
    words, args = os.environ["FEW_BITS"].split(","), sys.argv[1:]
    for i, arg in enumerate(args):
        if arg.endswith((".hip", ".cpp")) and os.path.exists(arg):
            with open(arg, encoding="utf-8") as file:
                text = edited(file.read(), words)
            with open(arg, "w", encoding="utf-8") as file:
                file.write(text)
    sys.exit(subprocess.call([os.environ["FEW_BITS_COMPILER"], "-I", os.path.dirname(os.path.abspath(__file__)), *args]))


def sizes_file(path, plan, m, target):
    """Tiles of so many rows of weights, and slices."""
    columns = min(64, -(-m // 8) * 8)
    with open(path, "w", encoding="utf-8") as to:
        for kernel, elem in (("grouped", "i4"), ("scaled", "i8"), ("scaled", "t2")):
            if plan:
                to.write(f"kernel {kernel} on {target} with Q = {elem} {{ i = {columns}; j = {plan[0]}; p = {DEPTH[elem]}; slices = {plan[1]}; }}\n")


def main():
    build, folder = sys.argv[1:3]
    check, here = "--check" in sys.argv, os.path.dirname(os.path.abspath(__file__))
    os.makedirs(folder, exist_ok=True)
    shutil.copy(f"{build}/libtile.so", folder)
    for (m, n, k), variants in SIZES.items():
        for plan, text in variants:
            if check and (m > 64 or text == "none" or n > 4096):
                continue
            sizes_file(f"{folder}/sizes", PLANS[plan], m, "sm_90a")
            size = ["-D", f"M={m}", "-D", f"N={1088 if check else n}", "-D", f"K={k // 4 if check else k}", f"--tuned={folder}/sizes"]
            env = os.environ | {"FEW_BITS": TEXTS[text], "FEW_BITS_COMPILER": "clang++" if check else "nvcc", "TILEC_CLANGXX" if check else "TILEC_NVCC": os.path.abspath(__file__)}
            for program in PROGRAMS:
                to = f"{folder}/{plan}-{text}_{m}x{n}x{k}"
                way = ["run", "--target=emu:sm_90a", "--check"] if check else ["compile", "--target=sm_90a", "--emit=lib", "-o", to]
                done = subprocess.run([f"{build}/bin/tilec", *way, f"{here}/weights.tile", f"--program={program}", *size], env=env, capture_output=True, text=True, check=False)
                spills = "" if "spill" not in done.stderr else " spills"
                print(to, program, done.returncode, spills, done.stdout.strip() if check else "", flush=True)
                if done.returncode:
                    print(done.stderr[-500:])


if "FEW_BITS" in os.environ:
    compiler()
else:
    main()
