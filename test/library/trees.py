"""Bonsai trees; see library.py for the arguments."""
import numpy as np

from library import normal, random, run

N, D, L, H, Q, M = 21, 70, 5, 3, 7, 15
z, W, V, t = normal(N, D), normal(M, L, D), normal(M, L, D), normal(Q, D)


def codes(*shape):
    return random.integers(-1, 2, shape).astype(np.int8)


def node(zw, zv, w, v):
    return (w @ zw) * np.tanh(0.7 * (v @ zv))


def soft(W, V, sharp):
    share = np.ones((N, M))
    for k in range(Q):
        side = np.tanh(sharp * (z.astype(np.float64) @ t[k]))
        share[:, 2 * k + 1], share[:, 2 * k + 2] = share[:, k] * (1 + side) / 2, share[:, k] * (1 - side) / 2
    return sum(share[:, k, None] * (z @ W[k].T.astype(np.float64)) * np.tanh(0.7 * (z @ V[k].T.astype(np.float64)))
               for k in range(M))


def path(zw, zv, W, V, depth=H):
    y = np.zeros((N, L))
    for i in range(N):
        k = 0
        for _ in range(depth + 1):
            y[i] += node(zw[i].astype(np.float64), zv[i].astype(np.float64), W[k], V[k])
            k = 2 * k + (1 if k < Q and t[k] @ z[i] > 0 else 2)
    return y


flat = {"z": z, "W": W.reshape(M * L, D), "V": V.reshape(M * L, D), "t": t}
run("soft", flat, {"y": soft(W, V, 2.5)})
run("sharp", flat, {"y": path(z, z, W, V)}, 1e-4)
run("hard", {"z": z, "W": W, "V": V, "t": t}, {"y": path(z, z, W, V)}, 1e-4)
run("leaf", {"z": z, "W": W[:1], "V": V[:1], "t": t[:0]}, {"y": path(z, z, W, V, 0)}, 1e-4)

q, s, u, v = codes(M * L, D), normal(M * L), normal(M * L, 6), normal(6, D)
run("stored", {"z": z, "W.q": q, "W.scale": s, "V.U": u, "V.V": v, "t": t},
    {"y": soft((q * s[:, None]).reshape(M, L, D), (u @ v).reshape(M, L, D), 2.5)}, 1e-4)

bw, aw, cw, bv, av, cv = codes(20, D), normal(20), codes(M, L, 20), codes(24, D), normal(24), codes(M, L, 24)
run("codes", {"z": z, "Bw": bw, "aw": aw, "W": cw, "Bv": bv, "av": av, "V": cv, "t": t},
    {"y": path(aw * (z @ bw.T), av * (z @ bv.T), cw, cv)}, 1e-4)
