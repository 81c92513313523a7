"""Convolutions and a stencil; see library.py for the arguments."""
import numpy as np

from library import normal, run

B, C, H, W, O, KH, KW = 2, 5, 13, 70, 35, 3, 5
x, k, a, bias = normal(B, C, H, W), normal(O, C, KH, KW), normal(H, W), normal(O)


def windows(stride, pad, dilation):
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    reach = tuple(dilation * (n - 1) + 1 for n in (KH, KW))
    return np.lib.stride_tricks.sliding_window_view(padded, reach, axis=(2, 3))[:, :, ::stride, ::stride, ::dilation, ::dilation]


def convolution(stride, pad, dilation=1):
    return np.einsum("bcijrs,ocrs->boij", windows(stride, pad, dilation), k.astype(np.float64))


for stride, pad in ((1, 0), (2, 2), (3, 1)):
    options = ["-D", f"STRIDE={stride}", "-D", f"PAD={pad}"]
    want = convolution(stride, pad)
    run("direct", {"x": x, "k": k}, {"y": want}, options=options)
    run("turned", {"x": x, "k": k}, {"y": want}, options=options)
    given = {"x": x.transpose(0, 2, 3, 1).copy(), "k": k.transpose(2, 3, 1, 0).copy(), "bias": bias}
    run("runs", given, {"y": np.maximum(want.transpose(0, 2, 3, 1) + bias, 0)}, options=options)
    run("product", {"x": x, "k": k.reshape(O, -1)}, {"y": want.transpose(0, 2, 3, 1).reshape(-1, O)}, options=options)

for stride, pad, dilation in ((1, 0, 1), (2, 1, 2), (3, 4, 3)):
    options = ["-D", f"STRIDE={stride}", "-D", f"PAD={pad}", "-D", f"DILATION={dilation}"]
    given = {"x": x.transpose(0, 2, 3, 1).copy(), "k": k.transpose(0, 2, 3, 1).copy()}
    run("last", given, {"y": convolution(stride, pad, dilation).transpose(0, 2, 3, 1)}, options=options)
    each = np.einsum("bcijrs,crs->bcij", windows(stride, pad, dilation), k[0].astype(np.float64))
    run("depthwise", {"x": x, "k": k[0].copy()}, {"y": each}, options=options)
    given = {"x": given["x"], "k": k[0].transpose(1, 2, 0).copy()}
    run("depthwise_last", given, {"y": each.transpose(0, 2, 3, 1)}, options=options)

A = np.pad(a.astype(np.float64), 1)
run("five", {"a": a}, {"b": 0.2 * (A[1:-1, 1:-1] + A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])})
