#!/usr/bin/env python3
"""usage: convolution.py FOLDER [-o FILE] [--commit=NAME]: programs of convolution.tile, compiled into FOLDER/NxHxWxCxOxRxSxSTRIDExPADxDILATION (--emit=lib),
beside cuDNN on this GPU, in the same layout. Channels last: alone, in a loop for each dimension of the weights, in a residual block, which cuDNN has as one
kernel, and depthwise; channels in front: alone and depthwise. Values against f32 of some images. Microseconds of a call in a CUDA graph, medians, in turns (run.py). One JSON line a row."""
import os

import torch
import torch.nn.functional as F

import run as R
from shapes import CONVOLUTIONS


DEPTHWISE = ("depthwise", "depthwise_first")


def first(x):
    """Channels in front, as PyTorch counts dimensions; the same memory."""
    return x.permute(0, 3, 1, 2)


def arguments(name, shape):
    """Images, weights and results as PyTorch counts their dimensions, and the first two as the program has them."""
    n, h, w, c, o, r, s, *_ = shape
    depthwise, size = name in DEPTHWISE, (r * s * (1 if name in DEPTHWISE else c)) ** -0.5
    if name.endswith("first"):
        x, k = R.normal(n, c, h, w), R.normal(c if depthwise else o, 1 if depthwise else c, r, s) * size
        return x, k, x, k[:, 0] if depthwise else k
    x, k = R.normal(n, h, w, c), R.normal(*((r, s, c) if depthwise else (o, r, s, c))) * size
    return first(x), k.permute(2, 0, 1)[:, None] if depthwise else first(k), x, k


def measure(run, name, shape):
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    n, h, w, c, o, r, s, stride, pad, dilation = shape
    x, k, *given = arguments(name, shape)
    args, b = dict(stride=stride, padding=pad, dilation=dilation, groups=c if name in DEPTHWISE else 1), R.normal(o)
    peer = lambda i: F.conv2d(x, k, **args)
    like = peer(0)
    order = torch.contiguous_format if name.endswith("first") else torch.channels_last
    y = torch.full_like(like, float("nan"), memory_format=order)
    looked = [0, n // 2, n - 1]  # images whose values are compared
    want = F.conv2d(x[looked].float(), k.float(), **args)
    if name == "block":
        z = torch.randn_like(like, memory_format=order)
        want = F.relu(want + b.float()[:, None, None] + z[looked].float())
        peer = lambda i: torch.cudnn_convolution_add_relu(x, k, z, 1.0, b, [stride] * 2, [pad] * 2, [dilation] * 2, 1)
        given += [b, z]
    run(*given, y)
    error = R.error_of(y[looked], want)
    ours, peers = R.side_by_side(lambda i: run(*given, y), {"cuDNN": peer}, 4)
    return ours, peers, error, 2e-6 * want[0].numel() * n * r * s * (1 if name in DEPTHWISE else c)


def main():
    a, mesh = R.begin()
    for shape in CONVOLUTIONS:
        for name in ("convolution", "loops", "block", "first", *DEPTHWISE):
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
            print(f"{name:15} {text:30} {ours:8.1f} us {operations / ours:6.0f} TF, peer {peer:8.1f} ({peer / ours:.2f}), error {error:.0e}", flush=True)


if __name__ == "__main__":
    main()
