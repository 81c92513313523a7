#!/usr/bin/env python3
"""usage: convolution.py FOLDER [-o FILE] [--commit=NAME]: programs of convolution.tile, compiled into FOLDER/NxHxWxCxOxRxSxSTRIDExPADxDILATION (--emit=lib),
beside cuDNN on this GPU, channels last: alone, in a loop for each dimension of the weights, and in a residual block, which cuDNN has as one kernel; values
against f32 of some images. Microseconds of a call in a CUDA graph, medians, in turns (run.py). One JSON line a row."""
import os

import torch
import torch.nn.functional as F

import run as R
from shapes import CONVOLUTIONS



def first(x):
    """Channels in front, as PyTorch counts dimensions; the same memory."""
    return x.permute(0, 3, 1, 2)


def measure(run, name, shape):
    n, h, w, c, o, r, s, stride, pad, dilation = shape
    x, k, b = R.normal(n, h, w, c), R.normal(o, r, s, c) * (r * s * c) ** -0.5, R.normal(o)
    args = dict(stride=stride, padding=pad, dilation=dilation)
    oh, ow = F.conv2d(first(x[:1]), first(k), **args).shape[2:]
    z = R.normal(n, oh, ow, o)
    y = torch.full((n, oh, ow, o), float("nan"), device="cuda", dtype=torch.bfloat16)
    looked = [0, n // 2, n - 1] # images whose values are compared
    want = F.conv2d(first(x[looked]).float(), first(k).float(), **args)
    peer = lambda i: F.conv2d(first(x), first(k), **args)
    given = (x, k, y)
    if name == "block":
        want, given = F.relu(want + b.float()[:, None, None] + first(z[looked]).float()), (x, k, b, z, y)
        peer = lambda i: torch.cudnn_convolution_add_relu(first(x), first(k), first(z), 1.0, b, [stride] * 2, [pad] * 2, [dilation] * 2, 1)
    run(*given)
    error = R.error_of(first(y[looked]), want)
    ours, peers = R.side_by_side(lambda i: run(*given), {"cuDNN": peer}, 4)
    return ours, peers, error, 2e-6 * n * oh * ow * o * r * s * c


def main():
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    a, mesh = R.begin()
    for shape in CONVOLUTIONS:
        for name in ("convolution", "loops", "block"):
            text = "x".join(map(str, shape))
            path = f"{a.folder}/{text}/lib{name}.so"
            if not os.path.exists(path):
                continue
            try:
                ours, peers, error, operations = measure(mesh.program(path, name), name, shape)
            except Exception as x: # the other rows go on
                print(f"{name} {text}: {repr(x)[:150]}", flush=True)
                continue
            R.append(a.o, R.about(a.commit, name, text, ours, peers, error))
            peer = next(iter(peers.values()))
            print(f"{name:11} {text:30} {ours:8.1f} us {operations / ours:6.0f} TF, peer {peer:8.1f} ({peer / ours:.2f}), error {error:.0e}", flush=True)


if __name__ == "__main__":
    main()
