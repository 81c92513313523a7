"""Softmax, norms, embedding and elementwise kernels; see library.py for the arguments."""
import math

import numpy as np

from library import normal, random, run

N, D, V = 37, 301, 50
x, y, w, b, table = 3 * normal(N, D), normal(N, D), normal(D), normal(D), normal(V, D)
X, Y, W, B = (tensor.astype(np.float64) for tensor in (x, y, w, b))

e = np.exp(X - X.max(1, keepdims=True))
centred = X - X.mean(1, keepdims=True)
run("norms", {"x": x, "w": w, "b": b},
    {"soft": e / e.sum(1, keepdims=True),
     "rms": X / np.sqrt((X * X).mean(1, keepdims=True) + 1e-5) * W,
     "layer": centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * W + B})

ids = random.integers(0, V, N).astype(np.int32)
run("rows", {"ids": ids, "table": table}, {"y": table[ids].astype(np.float64)}, tolerance=0)

silu = X / (1 + np.exp(-X))
run("elements", {"x": x, "y": y, "s": np.array(0.3, np.float32)},
    {"a": X + Y, "m": X * Y, "c": 0.3 * X, "e": silu,
     "f": X * 0.5 * (1 + np.vectorize(math.erf)(X / math.sqrt(2))), "g": silu * Y})

run("gradient", {"ids": ids, "dy": x}, {"table": np.array([X[ids == v].sum(0) for v in range(V)])})
counts = random.integers(-2, 7, 9000).astype(np.int32)
run("counts", {"x": counts}, {"count": np.bincount(counts[(counts >= 0) & (counts < 5)], minlength=5).astype(np.int32)})
