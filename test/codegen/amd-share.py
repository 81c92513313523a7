"""usage: amd-share.py TILEC SOURCE FOLDER: the share of the matrix pipe in products of matrices, by bench/gpu/static.py."""
import os
import sys

tilec, source, folder = sys.argv[1:]
sys.path.insert(0, os.path.join(source, "bench/gpu"))
sys.dont_write_bytecode = True
import static

for target in ("gfx942", "gfx950"):
    for program in ("gemm_nn", "gemm_tn"):
        case = ("bench/gpu/gemm.tile", program, static.SIZES)
        text, message = static.assembly(tilec, source, target, case, folder)
        for row in static.measure(source, target, text) if text else []:
            print(target, row["kernel"], row["spilled"], row["private"], row["share"] >= 0.85)
        if message:
            print(message)
