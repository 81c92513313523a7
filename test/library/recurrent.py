"""Cells of recurrent networks; see library.py for the arguments."""
import numpy as np

from library import normal, run

N, K, M = 33, 70, 65


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
    run(name, inputs, cell(**{key: value.astype(np.float64) for key, value in inputs.items()}))
