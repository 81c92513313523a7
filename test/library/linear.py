"""Linear layers; see library.py for the arguments."""
import math

import numpy as np

from library import normal, run

M, N, K = 131, 257, 67


def f64(*tensors):
    return (tensor.astype(np.float64) for tensor in tensors)


def silu(x):
    return x / (1 + np.exp(-x))


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def rounded(x):
    """To bf16, to nearest, ties to even."""
    bits = x.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


a, b, c, r = normal(M, K), normal(K, N), normal(N), normal(M, N)
A, B, C, R = f64(a, b, c, r)
run("bias", {"a": a, "b": b, "c": c}, {"y": A @ B + C})
run("residual", {"a": a, "b": b, "r": r}, {"y": A @ B + R})

w, u = np.ascontiguousarray(b.T), normal(N, K)
y = A @ B + C
run("layers", {"x": a, "w": w, "b": c, "r": r},
    {"plain": y, "relu": np.maximum(y, 0), "gelued": gelu(y), "silued": silu(y), "rest": y + R})
run("gated", {"x": a, "g": w, "u": u}, {"y": silu(A @ B) * (A @ u.astype(np.float64).T)})

A, W, C = f64(rounded(a), rounded(w), rounded(c))
run("half", {"x": a, "w": w, "b": c}, {"y": gelu(A @ W.T + C)}, tolerance=2.0**-8)
