"""Gradients of attention; see library.py for the arguments."""
import numpy as np

from library import normal, run

B, H, G, S, D, SCALE = 2, 6, 2, 150, 24, 0.2


def backward(q, k, v, y, causal):
    """By the chain rule, with whole matrices."""
    q, k, v, y = (x.astype(np.float64) for x in (q, k, v, y))
    shared = lambda x: x.reshape(B, G, H // G, *x.shape[2:]).sum(2)
    k, v = (np.repeat(x, H // G, axis=1) for x in (k, v))
    x = q @ k.swapaxes(2, 3) * SCALE
    if causal:
        x[..., np.arange(x.shape[2])[:, None] < np.arange(x.shape[3])] = -np.inf
    most = x.max(-1, keepdims=True)
    lse = most + np.log(np.exp(x - most).sum(-1, keepdims=True))
    p = np.exp(x - lse)
    o = p @ v
    d = p * (y @ v.swapaxes(2, 3) - (y * o).sum(-1, keepdims=True)) * SCALE
    return {"o": o, "lse": lse[..., 0], "gq": d @ k, "gk": shared(d.swapaxes(2, 3) @ q), "gv": shared(p.swapaxes(2, 3) @ y)}


for name, rows, keys in (("whole", 70, S), ("causal", S, 131)):
    given = {"q": normal(B, H, rows, D), "k": normal(B, G, keys, D), "v": normal(B, G, keys, D), "y": normal(B, H, rows, D)}
    run(name, given, backward(*given.values(), name == "causal"))
