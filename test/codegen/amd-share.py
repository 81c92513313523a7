"""usage: amd-share.py TILEC SOURCE FOLDER: the share of the matrix pipe in products of matrices and in attention, by
bench/gpu/static.py: target, kernel, what it spills, and whether the share is at least what it was. Of attention, decode attention among it, also whether
its loop fetches ahead: behind a load come half of a step's products, at least, before something waits for it; and whether all of a load's place
is the lane's own, which is checked against the rows' end. Of products how many loads may be on their way at the waits in the loop."""
import os
import re
import sys

tilec, source, folder = sys.argv[1:]
sys.path.insert(0, os.path.join(source, "bench/gpu"))
sys.dont_write_bytecode = True
import static

ATTENTION = ("bench/gpu/attention.tile", "attention_causal")
CASES = [("bench/gpu/gemm.tile", "gemm_nn", static.SIZES, 0.85), ("bench/gpu/gemm.tile", "gemm_tn", static.SIZES, 0.85),
         (*ATTENTION, "-D D=64", 0.7), (*ATTENTION, "-D D=128", 0.7), ("bench/gpu/decode.tile", "decode", "-D B=32", 0.6),
         ("test/emu/attention.tile", "causal", "", 0.6)]


def fetches_ahead(text):
    (_, body, _), = static.kernels(text)
    loop = static.main_loop(body)
    stores = "".join("W" if op.startswith("ds_write") else "B" if op.startswith("s_barrier") else "" for op in loop)
    products = sum(op.startswith("v_mfma") for op in loop) / max(1, stores.count("WB"))
    done, issued, least = 0, [], products
    for op in loop * 2:
        done += op.startswith("v_mfma")
        wait = re.match(r"s_waitcnt.*vmcnt\((\d+)\)", op)
        if op.startswith("buffer_load"):
            issued.append(done)
        elif wait and len(issued) > int(wait[1]):
            least = min(least, done - issued[-1 - int(wait[1])])
    whole = all(", 0 offen" in op for op in loop if op.startswith("buffer_load"))
    return whole and 2 * least >= products


def counts_waited(text):
    (_, body, _), = static.kernels(text)
    return sorted({int(n) for op in static.main_loop(body) for n in re.findall(r"vmcnt\((\d+)\)", op)})


for target in ("gfx942", "gfx950"):
    for *case, share in CASES:
        least = 0.62 if target == "gfx950" and case[2] == "-D D=64" else share  # exp alone takes as long as the products
        text, message = static.assembly(tilec, source, target, case, folder)
        for row in static.measure(source, target, text) if text else []:
            ahead = [fetches_ahead(text)] if "/gemm" not in case[0] else counts_waited(text)
            print(target, row["kernel"], row["spilled"], row["private"], row["share"] >= least, *ahead)
        if message:
            print(message)
