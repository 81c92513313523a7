"""Decoding one token; see library.py for the arguments."""
import numpy as np

from library import normal, random, run

B, H, G, E, D, S, P, U, V = 3, 6, 2, 20, 75, 150, 40, 16, 301


def attention(q, k, v, at):
    out = np.zeros((B, H, E))
    for b in range(B):
        for h in range(H):
            keys, values = (x[b, : at[b] + 1, h // (H // G)].astype(np.float64) for x in (k, v))
            e = np.exp(keys @ q[b, h] / np.sqrt(E))
            out[b, h] = e @ values / e.sum()
    return out


x, w, o = normal(B, D), normal(H, E, D), normal(D, H, E)
y = np.einsum("bd,hed->bhe", *(a.astype(np.float64) for a in (x, w)))
run("heads", {"x": x, "w": w, "o": o}, {"y": y, "z": np.einsum("bhe,dhe->bd", y, o.astype(np.float64))})

at, q = np.array([0, 63, 149], np.int32), normal(B, H, E)
angle = at[:, None, None] * 10000.0 ** (-2 * np.arange(E // 2) / E)
even, odd = q[..., 0::2].astype(np.float64), q[..., 1::2].astype(np.float64)
turned = np.stack((even * np.cos(angle) - odd * np.sin(angle), even * np.sin(angle) + odd * np.cos(angle)), axis=-1)
run("turn", {"x": q, "at": at}, {"y": turned.reshape(q.shape)}, tolerance=1e-4)

kc, vc, k, v = normal(B, S, G, E), normal(B, S, G, E), normal(B, G, E), normal(B, G, E)
after = [cache.copy() for cache in (kc, vc)]
for cache, new in zip(after, (k, v)):
    cache[np.arange(B), at] = new
run("attend", {"q": q, "kc": kc, "vc": vc, "k": k, "v": v, "at": at},
    {"o": attention(q, *after, at), "kc": after[0].astype(np.float64), "vc": after[1].astype(np.float64)})

table = random.permutation(P)[: B * 10].reshape(B, 10).astype(np.int32)
kp, vp = normal(P, U, G, E), normal(P, U, G, E)
whole = (pages[table].reshape(B, 10 * U, G, E) for pages in (kp, vp))
run("paged", {"q": q, "kp": kp, "vp": vp, "table": table, "at": at}, {"o": attention(q, *whole, at)})

x = random.integers(0, 9, (B, V)).astype(np.float32)
run("next", {"x": x}, {"id": x.argmax(1).astype(np.int32)})
