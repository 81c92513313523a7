"""A step of a model in bf16, against f64 without rounding between; see library.py for the arguments."""
import numpy as np

from library import normal, random, run

L, B, S, D, H, G, E, F, V = 2, 3, 40, 48, 6, 2, 16, 70, 90
inputs, exact = {}, {}


def bf16(name, *shape, scale=1.0, offset=0.0):
    """An input of such elements, and the numbers that they are."""
    bits = (normal(*shape) * np.float32(scale) + np.float32(offset)).view(np.uint32) >> 16
    inputs[name] = bits.astype(np.uint16).view("V2")
    exact[name] = (bits << 16).view(np.float32).astype(np.float64)


def norm(x, w):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w


def rope(x, at):
    angle = at[:, None, None] * 10000.0 ** (-2 * np.arange(E // 2) / E)
    even, odd = x[..., 0::2], x[..., 1::2]
    return np.stack((even * np.cos(angle) - odd * np.sin(angle), even * np.sin(angle) + odd * np.cos(angle)), axis=-1).reshape(x.shape)


def attend(q, k, v, at):
    out = np.zeros((B, H, E))
    for b in range(B):
        for h in range(H):
            keys, values = (x[b, : at[b] + 1, h // (H // G)] for x in (k, v))
            e = np.exp(keys @ q[b, h] / np.sqrt(E))
            out[b, h] = e @ values / e.sum()
    return out.reshape(B, H * E)


def step(ids, at, w):
    x = w["emb"][ids]
    for l in range(L):
        n = norm(x, w["w.norm1"][l])
        q, k, v = ((n @ w[name][l]).reshape(B, -1, E) for name in ("w.wq", "w.wk", "w.wv"))
        w["kc"][l, np.arange(B), at] = rope(k, at)
        w["vc"][l, np.arange(B), at] = v
        x = x + attend(rope(q, at), w["kc"][l], w["vc"][l], at) @ w["w.wo"][l]
        n = norm(x, w["w.norm2"][l])
        gate = n @ w["w.wg"][l]
        x = x + (gate / (1 + np.exp(-gate)) * (n @ w["w.wu"][l])) @ w["w.wd"][l]
    return norm(x, w["w.norm"]) @ w["w.head"]


bf16("emb", V, D)
for name, rows, columns in (("wq", D, H * E), ("wk", D, G * E), ("wv", D, G * E), ("wo", H * E, D), ("wg", D, F), ("wu", D, F), ("wd", F, D)):
    bf16(f"w.{name}", L, rows, columns, scale=rows**-0.5)
for name, shape in (("norm1", (L, D)), ("norm2", (L, D)), ("norm", (D,))):
    bf16(f"w.{name}", *shape, scale=0.1, offset=1.0)
bf16("w.head", D, V, scale=D**-0.5)
bf16("kc", L, B, S, G, E)
bf16("vc", L, B, S, G, E)
ids, at = random.integers(0, V, B).astype(np.int32), np.array([0, 17, S - 1], np.int32)
run("decode_step", {"ids": ids, "pos": at, **inputs}, {"logits": step(ids, at, exact)}, tolerance=0.015)
