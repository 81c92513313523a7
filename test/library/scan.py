"""Scans; see library.py for the arguments."""
import numpy as np

from library import normal, random, run

B, T, H, G, P, M, D = 2, 60, 6, 2, 12, 20, 33


def scan(x, a, k, q):
    k, q = (np.repeat(t.astype(np.float64), H // G, axis=2) for t in (k, q))
    s, y = np.zeros((B, H, P, M)), []
    for t in range(T):
        s = np.exp(a[:, t].astype(np.float64))[..., None, None] * s + x[:, t, :, :, None] * k[:, t, :, None]
        y.append(np.einsum("bhpm,bhm->bhp", s, q[:, t]))
    return np.stack(y, 1)


def delta(x, a, u, k, q):
    k, q = (np.repeat(t.astype(np.float64), H // G, axis=2) for t in (k, q))
    s, y = np.zeros((B, H, P, M)), []
    for t in range(T):
        s = np.exp(a[:, t].astype(np.float64))[..., None, None] * s
        lack = u[:, t, :, None] * (x[:, t] - np.einsum("bhpm,bhm->bhp", s, k[:, t]))
        s = s + lack[..., None] * k[:, t, :, None]
        y.append(np.einsum("bhpm,bhm->bhp", s, q[:, t]))
    return np.stack(y, 1)


given = {"x": normal(B, T, H, P), "a": -random.random((B, T, H), dtype=np.float32), "k": normal(B, T, G, M), "q": normal(B, T, G, M)}
for name in ("thirds", "whole"):
    run(name, given, {"y": scan(**given)}, 1e-4)

one = given["k"] / np.linalg.norm(given["k"], axis=-1, keepdims=True)
given |= {"u": random.random((B, T, H), dtype=np.float32), "k": one.astype(np.float32)}
for name in ("delta", "delta_whole"):
    run(name, given, {"y": delta(**given)}, 1e-4)

for name, rows in (("convolution", T), ("short", 2)):
    x, w, b = normal(B, rows, D), normal(4, D), normal(D)
    far = np.concatenate([np.zeros((B, 3, D)), x], 1)
    run(name, {"x": x, "w": w, "b": b}, {"y": b + sum(w[p] * far[:, p : p + rows] for p in range(4))})
