#!/usr/bin/env python3
"""usage: weights.py FOLDER [-o FILE] [--commit=NAME]: programs of weights.tile, compiled into FOLDER/MxNxK (--emit=lib -D M=.. -D N=..
-D K=..), beside cuBLAS on weights of bf16; values against f32. The goal is what LAUNCH microseconds and the bytes of the weights at RATE
take. Microseconds of a call in a CUDA graph, medians, in turns, over weights larger than the L2 (run.py). One JSON line a row."""
import datetime
import os

import torch

import run as R

BITS = {"w8": 8, "f8": 8, "w4": 4, "w4s": 4, "w4z": 4, "w2": 2}
SETS, GROUP = 20, 128  # of weights, at most; places that have a scale
FEW = 16               # rows, up to which launch and memory limit a product
LAUNCH, RATE = (2.5, 3.0), (4.0e6, 3.5e6)  # of few rows, and of more; bytes a microsecond


def unpacked(q, bits):
    """Two's complement, the first element in the lowest bits of a byte."""
    if bits == 8:
        return q.float()
    x = torch.stack([q.int() >> at & (1 << bits) - 1 for at in range(0, 8, bits)], -1).reshape(q.shape[0], -1)
    return torch.where(x >= 1 << (bits - 1), x - (1 << bits), x).float()


def weights(name, n, k):
    bits = BITS[name]
    if name == "f8":
        return R.normal(n, k).to(torch.float8_e4m3fn)
    if bits == 8:
        return torch.randint(-128, 128, (n, k), device="cuda", dtype=torch.int8)
    q = torch.randint(0, 256, (n, k * bits // 8), device="cuda", dtype=torch.uint8)
    return q & 0x55 | q & (q & 0x55) << 1 & 0xAA if bits == 2 else q  # -1, 0, 1


def scales(name, n, k):
    """Arguments behind the weights."""
    if name in ("w8", "f8", "w2"):
        return [torch.rand(n, device="cuda") * 0.01]
    s = torch.rand(n, k // GROUP, device="cuda") * 0.01
    return [s.bfloat16(), torch.randint(-4, 4, s.shape, device="cuda").bfloat16()] if name == "w4z" else [s]


def widened(name, q, more):
    """The weights as f32."""
    w, wide = q.float() if name == "f8" else unpacked(q, BITS[name]), [x.float().repeat_interleave(GROUP, 1) if x.ndim == 2 else x[:, None] for x in more]
    return ((w - wide[1]) * wide[0]).bfloat16().float() if name == "w4z" else w * wide[0]


def measure(run, name, m, n, k):
    moved = n * k * BITS[name] // 8
    sets = min(1 + int(3 * R.L2 / moved), SETS)
    x, q, more = [R.normal(m, k) for _ in range(sets)], [weights(name, n, k) for _ in range(sets)], [scales(name, n, k) for _ in range(sets)]
    y, d = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16), torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    ours = lambda i: run(x[i % sets], q[i % sets], *more[i % sets], y)
    ours(0)
    error = R.error_of(y, x[0].float() @ widened(name, q[0], more[0]).t())
    b = [R.normal(n, k) for _ in range(min(1 + int(3 * R.L2 / (2 * n * k)), 8))]
    calls = sets * max(1, min(round(96 / sets), round(10e-3 / max(m * n * k * 3e-15, 8e-6) / sets)))
    us, peers = R.side_by_side(ours, {"cublas bf16": lambda i: torch.mm(x[i % sets], b[i % len(b)].t(), out=d)}, calls)
    return us, peers["cublas bf16"], error, LAUNCH[m > FEW] + moved / RATE[m > FEW]


def main():
    o, mesh = R.begin()
    for shape in sorted(x for x in os.listdir(o.folder) if x.count("x") == 2):
        m, n, k = map(int, shape.split("_")[-1].split("x"))  # words in front of it tell builds apart
        for name in BITS:
            path = f"{o.folder}/{shape}/lib{name}.so"
            if not os.path.exists(path):
                continue
            us, peer, error, goal = measure(mesh.program(path, name), name, m, n, k)
            line = dict(date=str(datetime.date.today()), gpu=torch.cuda.get_device_name(), commit=o.commit, command="bench/gpu/weights.py FOLDER", work=name, shape=shape,
                        dtype="bf16", ours_us=round(us, 2), peers_us={"cublas bf16": round(peer, 2)}, rel_err=float(f"{error:.2g}"))
            R.append(o.o, line)
            print(f"{name:4} {shape:24} {us:8.2f} us, cuBLAS bf16 {peer:8.2f} ({peer / us:.2f}), goal {goal:6.2f}, {2e-6 * m * n * k / us:5.0f} TF, error {error:.0e}", flush=True)


if __name__ == "__main__":
    main()
