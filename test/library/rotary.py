"""Rotary position embedding; see library.py for the arguments."""
import numpy as np

from library import normal, random, run

N, H, D = 19, 6, 48
x, at, base = normal(N, H, D), random.integers(0, 500, N).astype(np.int32), np.array(10000, np.float32)
angle = at[:, None, None] * 10000.0 ** (-2 * np.arange(D // 2) / D)
X = x.astype(np.float64)


def turned(a, b):
    return a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)


want = np.stack(turned(X[..., 0::2], X[..., 1::2]), axis=-1).reshape(N, H, D)
inputs = {"x": x, "at": at, "base": base}
run("neighbours", inputs, {"y": want}, tolerance=2e-4)  # angles up to 500 have the error of float32
run("split", inputs, {"y": want}, tolerance=2e-4)
run("halves", inputs, {"y": np.concatenate(turned(X[..., : D // 2], X[..., D // 2 :]), axis=-1)}, tolerance=2e-4)
