"""Attention; see library.py for the arguments."""
import numpy as np

from library import normal, run

B, H, G, S, D, L = 2, 6, 2, 150, 24, 300


def attention(q, k, v, scale, window=None):
    """Query i sees the keys i - window < j <= i, or all without a window."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    k, v = (np.repeat(x, H // G, axis=1) for x in (k, v))
    scores = q @ k.swapaxes(2, 3) * scale
    if window:
        distance = np.arange(q.shape[2])[:, None] - np.arange(k.shape[2])
        scores[..., (distance < 0) | (distance >= window)] = -np.inf
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


q, k, v = normal(B, H, 70, D), normal(B, G, S, D), normal(B, G, S, D)
run("whole", {"q": q, "k": k, "v": v}, {"o": attention(q, k, v, 0.2)})
q = normal(B, H, S, D)
run("causal", {"q": q, "k": k, "v": v}, {"o": attention(q, k, v, 0.2, S)})
q = normal(B, H, D)
run("decode", {"q": q, "k": k, "v": v}, {"o": attention(q[:, :, None], k, v, D**-0.5)[:, :, 0]})

q, k, v = normal(B, H, L, D), normal(B, G, L, D), normal(B, G, L, D)
run("window", {"q": q, "k": k, "v": v},
    {"one": attention(q, k, v, 0.2, 1), "some": attention(q, k, v, 0.2, 37), "all": attention(q, k, v, 0.2, L)})

q, k, v = normal(S, H, D), normal(S, G, D), normal(S, G, D)
for cuts in [[1, 65, 65, 149], [0, 0, 0, 0], [40, 80, 120, 150]]:
    start, o = np.array([0, *cuts, S], np.int32), np.empty((S, H, D))
    for a, b in zip(start, start[1:]):
        if a < b:
            rows = (x[None, a:b].swapaxes(1, 2) for x in (q, k, v))
            o[a:b] = attention(*rows, 0.2, S)[0].swapaxes(0, 1)
    run("documents", {"q": q, "k": k, "v": v, "start": start}, {"o": o})
