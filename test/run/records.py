"""Records: see records.tile; the arguments are those of test/library."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "library"))
import numpy as np
from library import normal, run

B, D, F, L = 5, 8, 12, 2
x, up, down, gain, bias = normal(B, D), normal(D, F), normal(F, D), normal(L, D), normal(D)
a, b, total = normal(4, 2), normal(2, 4), normal(B, D)
h = x @ up
n = 2 * (h / (1 + np.exp(-h.astype(np.float64)))) @ down
k = total + n
run("step",
    {"x": x, "w.first.gain": gain, "w.first.mlp.up": up, "w.first.mlp.down": down, "w.first.codes.A": a,
     "w.first.codes.B": b, "w.bias": bias, "k.sum": total, "k.calls": np.array([3], np.int32)},
    {"y": 2 * n + k, "both.a": 2 * n + gain[0, 0], "both.b": (n + 1) @ np.kron(a, b).T, "k.sum": k,
     "k.calls": np.array([4], np.int32)}, tolerance=2e-5)
run("kernels", {"x": x, "w.gain": gain, "w.inner.bias": bias}, {"y": x * gain[1] + bias})
s, m, t, o = normal(B, D), normal(B, D), normal(B, D), normal(B, D)
y = x * x.sum(dtype=np.float64)
run("twice", {"x": x, "k.sum": s, "k.most": m, "j.sum": t, "j.most": o},
    {"k.sum": s + x, "k.most": np.maximum(m, x), "j.sum": t + y, "j.most": np.maximum(o, y), "total": np.array([y.sum()])},
    tolerance=1e-4)
