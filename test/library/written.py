"""Kernels that are not in the library, as a user would write them; see library.py for the arguments."""
import numpy as np

from library import normal, random, run

B, H, S, D, W, C, HH, WW, G, V = 2, 4, 75, 16, 12, 8, 9, 11, 2, 50

q, k, v, bias = normal(B, H, S, D), normal(B, H, S, D), normal(B, H, S, D), normal(H, W)
x = q.astype(np.float64) @ k.transpose(0, 1, 3, 2) / np.sqrt(D)
i, j = np.mgrid[:S, :S]
x = np.where((j <= i) & (i - j < W), x + bias[:, np.clip(i - j, 0, W - 1)], -np.inf)
e = np.exp(x - x.max(-1, keepdims=True))
run("attend", {"q": q, "k": k, "v": v, "bias": bias}, {"o": e / e.sum(-1, keepdims=True) @ v})

x, at, alpha = normal(S, H, D), random.integers(0, 4096, S).astype(np.int32), 2.0
angle = at[:, None] * (10000 * alpha ** (D / (D - 2))) ** (-2 * np.arange(D // 2) / D)
a, b, c, s = x[..., ::2], x[..., 1::2], np.cos(angle)[:, None], np.sin(angle)[:, None]
y = np.stack([a * c - b * s, a * s + b * c], axis=-1).reshape(S, H, D)
run("rope_ntk", {"x": x, "at": at, "alpha": np.array(alpha, np.float32)}, {"y": y}, tolerance=2e-3)

x, u, limit, token = normal(B, V), np.array([0.3, 0.9], np.float32), 0.8, []
p = np.exp(x.astype(np.float64))
p /= p.sum(1, keepdims=True)
for row, draw in zip(p, u):
    order = np.argsort(-row)
    kept = np.zeros(V)
    best = order[:np.searchsorted(np.cumsum(row[order]), limit) + 1]
    kept[best] = row[best]
    token.append(np.argmax(np.cumsum(kept) > draw * kept.sum()))
run("sample", {"x": x, "u": u, "p": np.array(limit, np.float32)}, {"token": np.array(token, np.int32)})

x, k = normal(B, C, HH, WW), normal(C, 3, 3)
wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))).astype(np.float64)
run("conv", {"x": x, "k": k},
    {"y": sum(wide[:, :, p:p + HH, q:q + WW] * k[:, p, q][:, None, None] for p in range(3) for q in range(3))})

x, gain, bias = normal(B, C, S), normal(C), normal(C)
y = x.astype(np.float64).reshape(B, G, -1)
y = (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5)
run("norm", {"x": x, "gain": gain, "bias": bias}, {"y": y.reshape(B, C, S) * gain[:, None] + bias[:, None]})
