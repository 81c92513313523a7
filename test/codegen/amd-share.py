"""usage: amd-share.py TILEC SOURCE FOLDER: the share of the matrix pipe in products of matrices and in attention, by
bench/gpu/static.py: target, kernel, what it spills, and whether the share is at least what it was. Of attention also whether
its loop fetches what the next step needs: before its first product, but not before it stores what this one needs."""
import os
import sys

tilec, source, folder = sys.argv[1:]
sys.path.insert(0, os.path.join(source, "bench/gpu"))
sys.dont_write_bytecode = True
import static

ATTENTION = ("bench/gpu/attention.tile", "attention_causal")
CASES = [("bench/gpu/gemm.tile", "gemm_nn", static.SIZES, 0.85), ("bench/gpu/gemm.tile", "gemm_tn", static.SIZES, 0.85),
         (*ATTENTION, "-D D=64", 0.7), (*ATTENTION, "-D D=128", 0.7)]


def fetches_ahead(text):
    (_, body, _), = static.kernels(text)
    loop = static.main_loop(body)
    at = {what: [i for i, op in enumerate(loop) if op.startswith(what)] for what in ("ds_write", "global_load", "v_mfma")}
    return min(at["ds_write"]) < min(at["global_load"]) and max(at["global_load"]) < min(at["v_mfma"])


for target in ("gfx942", "gfx950"):
    for *case, share in CASES:
        least = 0.45 if target == "gfx950" and case[2] == "-D D=64" else share  # exp alone takes longer than the products
        text, message = static.assembly(tilec, source, target, case, folder)
        for row in static.measure(source, target, text) if text else []:
            ahead = [fetches_ahead(text)] if case[1] == ATTENTION[1] else []
            print(target, row["kernel"], row["spilled"], row["private"], row["share"] >= least, *ahead)
        if message:
            print(message)
