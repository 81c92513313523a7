#!/usr/bin/env python3
"""usage: scan.py build BUILD FOLDER: compiles programs of scan.tile by BUILD/bin/tilec; scan.py FOLDER [-o FILE] [--commit=NAME]: measures them beside Triton's
kernels of mamba_ssm, causal_conv1d and fla where they are installed, and PyTorch's compiler; values of some heads against f32. Microseconds of a call in a CUDA graph,
medians, in turns (run.py). One JSON line a row."""
import os
import sys

from libraries import compile_all, folder_of
from shapes import DELTAS, SCANS

if sys.argv[1:2] != ["build"]:
    import torch
    import torch.nn.functional as F

    import run as R

NAMES = ("B", "T", "H", "_", "P", "M")
CHUNK = 256 # places, as scan.tile says


def wanted(x, a, k, q):
    """Of one head, by the matrix of all decays."""
    sums = a.float().cumsum(0)
    left = (sums[:, None] - sums[None]).masked_fill(torch.ones(len(a), len(a), device="cuda", dtype=torch.bool).triu(1), float("-inf")).exp()
    return (left * (q.float() @ k.float().t())) @ x.float()


def mamba(x, a, k, q):
    """The Triton kernels of mamba_ssm; None: they are not there."""
    try:
        from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined
    except ImportError:
        return None
    minus = -torch.ones(a.shape[-1], device="cuda") # a is the step times it, and mamba_ssm scales x by the step: ours get x so
    step = -a
    over = (x.float() / step[..., None]).bfloat16()
    return lambda i: mamba_chunk_scan_combined(over, step, minus, k, q, chunk_size=CHUNK)


def scan(run, b, t, h, g, p, m):
    x, a, k, q = R.normal(b, t, h, p), -0.1 * torch.rand(b, t, h, device="cuda") - 0.01, R.normal(b, t, g, m) * m**-0.5, R.normal(b, t, g, m)
    y = torch.full_like(x, float("nan"))
    run(x, a, k, q, y)
    error = max(R.error_of(y[bi, :, hi], wanted(x[bi, :, hi], a[bi, :, hi], k[bi, :, hi * g // h], q[bi, :, hi * g // h])) for bi, hi in ((0, 0), (b - 1, h - 1)))
    return *R.side_by_side(lambda i: run(x, a, k, q, y), {"mamba_ssm": mamba(x, a, k, q)}, 4), error


def states(x, a, e, k, q):
    """Of one head, place after place."""
    left, s, y = a.float().exp(), torch.zeros(x.shape[1], k.shape[1], device="cuda"), []
    for i in range(len(x)):
        s = s * left[i]
        s = s + torch.outer(e[i] * (x[i].float() - s @ k[i].float()), k[i].float())
        y.append(s @ q[i].float())
    return torch.stack(y)


def fla_delta(x, a, e, k, q):
    """fla's Triton kernels; None: they are not there."""
    try:
        from fla.ops.gated_delta_rule import chunk_gated_delta_rule
    except ImportError:
        return None
    return lambda i: chunk_gated_delta_rule(q, k, x, a, e, scale=1.0)


def delta(run, b, t, h, g, p, m):
    x, a, e = R.normal(b, t, h, p), -0.1 * torch.rand(b, t, h, device="cuda") - 0.01, torch.rand(b, t, h, device="cuda")
    k, q = F.normalize(R.normal(b, t, g, m).float(), dim=-1).bfloat16(), R.normal(b, t, g, m) * m**-0.5
    y = torch.full_like(x, float("nan"))
    run(x, a, e, k, q, y)
    n = 1000
    error = max(R.error_of(y[bi, :n, hi], states(x[bi, :n, hi], a[bi, :n, hi], e[bi, :n, hi], k[bi, :n, hi * g // h], q[bi, :n, hi * g // h])) for bi, hi in ((0, 0), (b - 1, h - 1)))
    return *R.side_by_side(lambda i: run(x, a, e, k, q, y), {"fla": fla_delta(x, a, e, k, q)}, 4), error


def conv1d(run, b, t, h, g, p, m):
    d, r = h * p, 4
    x, w, c = R.normal(b, t, d), R.normal(r, d), R.normal(d)
    y = torch.full_like(x, float("nan"))
    run(x, w, c, y)
    plain = lambda x, w, c: F.silu(F.conv1d(F.pad(x.transpose(1, 2), (r - 1, 0)), w.t()[:, None], c, groups=d)).transpose(1, 2)
    error = R.error_of(y, plain(x.float(), w.float(), c.float()))
    peer = torch.compile(plain, dynamic=False)
    peers = {"torch.compile": lambda i: peer(x, w, c)}
    try:
        from causal_conv1d import causal_conv1d_fn
        across, own = x.transpose(1, 2), w.t().contiguous()
        peers["causal_conv1d"] = lambda i: causal_conv1d_fn(across, own, c, activation="silu")
    except ImportError:
        pass
    return *R.side_by_side(lambda i: run(x, w, c, y), peers, 8), error


WORK = (("delta", DELTAS, delta), ("scan", SCANS, scan), ("conv1d", SCANS, conv1d))


def main():
    if sys.argv[1:2] == ["build"]:
        compile_all(sys.argv[2], "scan.tile", sys.argv[3], ((name, folder_of(NAMES, x), dict(zip("BTHGPM", x))) for name, shapes, _ in WORK for x in shapes))
        return
    torch.backends.cuda.matmul.allow_tf32 = False
    a, mesh = R.begin()
    for name, shapes, measure in WORK:
        for shape in shapes:
            text = folder_of(NAMES, shape)
            path = f"{a.folder}/{text}/lib{name}.so"
            if not os.path.exists(path):
                continue
            try:
                us, peers, error = measure(mesh.program(path, name), *shape)
            except Exception as x: # the other rows go on
                print(f"{name} {text}: {repr(x)[:300]}", flush=True)
                continue
            R.append(a.o, R.about(a.commit, name, text, us, peers, error))
            print(f"{name:7} {text:28} {us:8.1f} us, " + ", ".join(f"{n} {t:.1f} ({t / us:.2f})" for n, t in peers.items()) + f", error {error:.1e}", flush=True)


if __name__ == "__main__":
    main()
