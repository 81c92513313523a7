"""Cells of recurrent networks; see library.py for the arguments."""
import numpy as np

from library import normal, run

N, K, M, T = 33, 70, 65, 4


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, h, c, wx, wh, b):
    i, f, g, o = np.split(x @ wx.T + h @ wh.T + b, 4, axis=1)
    cn = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return {"hn": sigmoid(o) * np.tanh(cn), "cn": cn}


def gru(x, h, wx, wh, bx, bh):
    (s, z, g), (hs, hz, hg) = np.split(x @ wx.T + bx, 3, axis=1), np.split(h @ wh.T + bh, 3, axis=1)
    z = sigmoid(z + hz)
    return {"hn": (1 - z) * np.tanh(g + sigmoid(s + hs) * hg) + z * h}


for name, cell, gates in (("lstm", lstm, 4), ("gru", gru, 3)):
    inputs = {"x": normal(N, K), "h": normal(N, M), "wx": normal(gates * M, K), "wh": normal(gates * M, M)}
    if name == "lstm":
        inputs.update(c=normal(N, M), b=normal(gates * M))
    else:
        inputs.update(bx=normal(gates * M), bh=normal(gates * M))
    wide = {key: value.astype(np.float64) for key, value in inputs.items()}
    run(f"one_{name}", inputs, cell(**wide))
    x, ys, carried = normal(T, N, K), [], dict(wide)
    for step in x:
        carried["x"] = step
        last = cell(**carried)
        carried.update(h=last["hn"], **({"c": last["cn"]} if name == "lstm" else {}))
        ys.append(last["hn"])
    run(f"{name}_steps", {**inputs, "x": x, "ys": normal(T, N, M)}, {**last, "ys": np.array(ys)}, 1e-4)

x, h, b = normal(N, K), normal(N, M), normal(4 * M)
q, s = np.random.default_rng(2).integers(-9, 10, (4 * M, K)).astype(np.int8), 0.1 * normal(4 * M)
A, B, c = normal(20, 5), normal(13, 13), normal(N, M)
run("stored_lstm", {"x": x, "h": h, "c": c, "wx.q": q, "wx.scale": s, "wh.A": A, "wh.B": B, "b": b},
    lstm(x.astype(np.float64), h, c, s[:, None] * q, np.kron(A, B).astype(np.float64), b), 1e-4)

A, cs, ds = normal(80, K), normal(115), normal(K)
wh, bx, bh = normal(3 * M, M), normal(3 * M), normal(3 * M)
run("stored_gru", {"x": x, "h": h, "wx.A": A, "wx.c": cs, "wx.d": ds, "wh": wh, "bx": bx, "bh": bh},
    gru(x.astype(np.float64), h, np.vstack([A, np.outer(cs, ds)]), wh, bx, bh), 1e-4)

wx, wh, b = normal(M, K), normal(M, M), normal(M)
run("fast", {"x": x, "h": h, "wx": wx, "wh": wh, "b": b},
    {"hn": 0.3 * np.tanh(x.astype(np.float64) @ wx.T + h @ wh.T + b) + 0.6 * h.astype(np.float64)})

u, v, p, r, bz, bg = normal(M, 9), normal(9, K), normal(M, 7), normal(7, M), normal(M), normal(M)
a = x.astype(np.float64) @ (u @ v).T + h @ (p @ r).T
z = sigmoid(a + bz)
run("fast_gated", {"x": x, "h": h, "wx.U": u, "wx.V": v, "wh.U": p, "wh.V": r, "bz": bz, "bg": bg},
    {"hn": (0.9 * (1 - z) + 0.1) * np.tanh(a + bg) + z * h}, 1e-4)
