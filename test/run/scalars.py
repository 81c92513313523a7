"""Scalars that are computed: see scalars.tile; the arguments are those of test/library."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "library"))
import numpy as np
from library import normal, run

N, D, S, AT, F = 37, 70, 50, 2, 0.75
x, u = normal(N, D), normal(S)
X, U = x.astype(np.float64), u.astype(np.float64)


def one(value, dtype=np.float64):
    return np.array([value], dtype)


t = U.sum() * F + np.exp(X[AT, 0])
run("scalars", {"x": x, "u": u, "f": np.array(F, np.float32), "at": np.array(AT, np.int32)},
    {"a": one(X.sum()), "b": (X - X.max()) * X.sum() + F * X[3, AT], "c": one(int((x > 0).sum()), np.int32), "d": one(t / X.max()),
     "m": one(X.max()), "e": np.array([t + X[0, 0], X[AT, AT]]), "g": one(3, np.int32)},
    tolerance=2e-5)
run("extents", {"u": u}, {"n": one(S, np.int64), "y": U * S, "z": U * (S + 1)})
z = normal(N)
total = 5 + z.astype(np.float64).sum()
run("counted", {"x": z, "calls": one(7, np.int32), "s": one(5, np.float32), "last": np.zeros(3, np.float32)},
    {"calls": one(8, np.int32), "s": one(total), "last": np.array([0, total, 8.0]), "y": z * total})
for at, f in ((3, 0.5), (2, -1.5), (1, 2.0)):
    a = X * f if at > 2 and U.sum() > 0 else -X if at == 2 else X
    run("chosen", {"x": x, "u": u, "f": np.array(f, np.float32), "at": np.array(at, np.int32)},
        {"a": a, "b": one(f if f > 0 else 2 * U.sum()), "c": X.T, "d": X + 1}, tolerance=2e-5)
