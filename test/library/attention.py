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
