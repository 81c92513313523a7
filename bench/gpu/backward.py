#!/usr/bin/env python3
"""usage: backward.py build BUILD FOLDER: compiles programs of backward.tile by BUILD/bin/tilec; backward.py FOLDER [-o FILE] [--commit=NAME]: measures them beside
cuDNN's backward pass on this GPU, as it is and where PyTorch is told to be deterministic; values of some heads against f32. Microseconds of a call in a CUDA graph,
medians, in turns (run.py). One JSON line a row."""
import os
import sys

from libraries import compile_all, folder_of
from shapes import BACKWARD

if sys.argv[1:2] != ["build"]:
    import torch

    import run as R

NAMES = ("B", "H", "_", "S", "D")


def program_of(shape):
    """Its name, its folder, its dims."""
    return "backward_causal" if shape[5] else "backward_full", folder_of(NAMES, shape), dict(zip("BHGSD", shape))


def wanted(q, k, v, do, causal):
    """In f32: the gradients, and of each row what the forward pass leaves. One group of heads."""
    q, k, v = (x.float().detach().requires_grad_() for x in (q, k, v))
    s = q.shape[-2]
    x = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if causal:
        x = x.masked_fill(torch.ones(s, s, device="cuda", dtype=torch.bool).triu(1), float("-inf"))
    (x.softmax(-1) @ v).backward(do.float())
    return q.grad, k.grad, v.grad


def forward(q, k, v, causal):
    """What cuDNN's forward pass leaves."""
    return torch.ops.aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal)


def peer(q, k, v, do, causal, made, deterministic):
    """cuDNN's backward pass alone."""
    o, lse, *sums, most_q, most_k, seed, offset, _ = made

    def call(i):
        torch.use_deterministic_algorithms(deterministic, warn_only=True)
        given = torch.ops.aten._scaled_dot_product_cudnn_attention_backward(do, q, k, v, o, lse, seed, offset, None, *sums, most_q, most_k, 0.0, causal)
        torch.use_deterministic_algorithms(False)
        return given

    return call


def same_twice(call):
    first = call(0)
    return all(torch.equal(a, b) for _ in range(3) for a, b in zip(first, call(0)))


def measure(run, b, h, g, s, d, causal):
    causal = bool(causal)
    q, k, v, do = R.normal(b, h, s, d), R.normal(b, g, s, d), R.normal(b, g, s, d), R.normal(b, h, s, d)
    left = forward(q, k, v, causal)
    o, lse = left[0].contiguous(), left[1].float().reshape(b, h, s).contiguous()
    made = [torch.full_like(x, float("nan")) for x in (q, k, v)]
    ours = lambda i: run(q, k, v, o, lse, do, *made)
    ours(0)
    torch.cuda.synchronize()
    error = 0
    for bi, gi in ((0, 0), (b - 1, g - 1)):
        heads = slice(gi * (h // g), (gi + 1) * (h // g))
        want = wanted(q[bi, heads], k[bi, gi], v[bi, gi], do[bi, heads], causal)
        error = max([error] + [R.error_of(x, y) for x, y in zip((made[0][bi, heads], made[1][bi, gi], made[2][bi, gi]), want)])
    peers = {"cudnn": peer(q, k, v, do, causal, left, False), "cudnn deterministic": peer(q, k, v, do, causal, left, True)}
    flops = 10 * b * h * s * s * d // (1 + causal)
    us, others = R.side_by_side(ours, peers, max(2, round(6e-3 / (flops * 2e-15))))
    return us, others, error, flops, same_twice(peers["cudnn deterministic"])


def main():
    if sys.argv[1:2] == ["build"]:
        compile_all(sys.argv[2], "backward.tile", sys.argv[3], map(program_of, BACKWARD))
        return
    a, mesh = R.begin()
    for shape in BACKWARD:
        name, text, _ = program_of(shape)
        path = f"{a.folder}/{text}/lib{name}.so"
        if not os.path.exists(path):
            continue
        try:
            us, peers, error, flops, same = measure(mesh.program(path, name), *shape)
        except Exception as x: # the other rows go on
            print(f"{name} {text}: {repr(x)[:300]}", flush=True)
            continue
        R.append(a.o, R.about(a.commit, name, text, us, peers, error))
        others = ", ".join(f"{n} {t:.0f} ({t / us:.3f})" for n, t in peers.items())
        print(f"{name:15} {text:22} {us:7.0f} us {flops / us * 1e-6:4.0f} TF, {others}{'' if same else ' (it is not)'}, error {error:.1e}", flush=True)


if __name__ == "__main__":
    main()
