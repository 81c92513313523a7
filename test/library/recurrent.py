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
