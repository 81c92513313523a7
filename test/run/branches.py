"""Branches at run time: see branches.tile; the arguments are those of test/library."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "library"))
import numpy as np
from library import normal, run

M, N, K, L = 20, 23, 17, 3
x = normal(M, N)
X = x.astype(np.float64)


def names(a, n):
    t = X + 1
    if a > 0.5 and n[0] != 2:
        t = t * 3
        u = t / (1 + np.exp(-t))
        z = u + X
    else:
        u, z = X, t
    if n[1] >= 0:
        y = t + u if X.max() > a else t - u
    else:
        w, v = (t + u, u) if n[2] > 0 else (u, t)
        y = w - 2 * v
    return {"y": y, "z": z}


def steps(n, h, g):
    t, h, g = X + 1, h.astype(np.float64), g.astype(np.float64)
    for l in range(L):
        if n[l] > 0:
            h = h + 2 * t
            g[l] += 2 * h
        elif n[l] < 0:
            h, t = t, t + 2 * X
    return {"y": h + t, "h": h, "g": g}


def ranks(A, B, C, a, n, h):
    p, q = A @ B, C
    s, z = p, p
    if a > 0.5:
        h, q = (h + 2 * s, q) if n[0] > n[1] else (s, C + C)
    else:
        p, z = p + p, q
    return {"y": s + h + p + q, "z": z, "h": h}


for a, n in ((0.75, (1, 1, 0)), (0.75, (2, -1, 1)), (0.25, (1, -1, -1)), (50, (1, 0, 0))):
    n = np.array(n, np.int32)
    run("names", {"x": x, "a": np.array(a, np.float32), "n": n}, names(a, n), tolerance=2e-6)
for n in ((1, 1, 1), (0, 0, 0), (-1, 0, 2), (3, -1, -1)):
    n, h, g = np.array(n, np.int32), normal(M, N), normal(L, M, N)
    run("steps", {"x": x, "n": n, "h": h, "g": g}, steps(n, h, g), tolerance=2e-6)
for a in (1.0, -1.0):
    t = X + 1 + 2 * X
    want = {"y": 2 * t, "z": t} if a > 0 else {"y": X + 1, "z": X}
    run("updated", {"x": x, "a": np.array(a, np.float32)}, want, tolerance=2e-6)
for a, n in ((0.75, (2, 1, 0)), (0.75, (1, 1, 0)), (0.25, (0, 0, 0))):
    n, arrays = np.array(n, np.int32), [normal(M, K), normal(K, N), normal(M, N), normal(M, N)]
    inputs = dict(zip("ABCh", arrays)) | {"a": np.array(a, np.float32), "n": n}
    A, B, C, h = (v.astype(np.float64) for v in arrays)
    run("ranks", inputs, ranks(A, B, C, a, n, h), tolerance=5e-6)
