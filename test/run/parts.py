"""Parts of tensors: see parts.tile; the arguments are those of test/library."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "library"))
import numpy as np
from library import normal, run

L, B, D, R = 5, 6, 7, 9
x, w, u, h = normal(L, B, D), normal(L), normal(R, B, D), normal(B, D)

l, at = 1, [2, 0, 4, 3, 2, 1]
zero = np.zeros((B, D), np.float32)
run("read", {"x": x, "l": np.array(l, np.int32), "at": np.array(at, np.int32), "w": w, "u": u},
    {"y": x[l] + x[at[2]] * w[l] - w[4],
     "z": x[at[l]] * w[at[4]] + u[1] + u[at[0] + 1],
     "q": 2 * x[2 * l - 1, 4 - l], "v": x[l].reshape(2, 3, D)[1], "o": zero})

k, n = normal(L, B, D), np.array([3, 4, 5], np.int32)
after = k.copy()
after[l] += x[0]
after[at[0]] = after[at[1]]
after[at[2]] = after[at[2]] * 3 + after[l]
after[4] += x[1]
run("moved", {"x": x, "l": np.array(l, np.int32), "at": np.array(at, np.int32), "k": k, "n": n},
    {"k": after, "y": after[at[3]] * 2, "n": np.array([7, 4, 5], np.int32)})

t = x.copy()
t[0] = h
t[l] = t[0] + t[l]
old = t[l].copy()
t[l] *= 2
g = h.reshape(D, B)
run("made", {"x": x, "l": np.array(l, np.int32), "h": h},
    {"z": t + x, "y": t[::-1] + old,
     "p": np.array([[g[0], g[1], g[6] + g[l]], [g[2], g[3], g[6] - g[l]]])})

x, k, h = normal(D, B), normal(B, D), normal(L, B, D)
K, H = k + x.reshape(B, D), h.copy()
H[1] += x.reshape(B, D)
H *= 3
run("viewed", {"x": x, "k": k, "h": h}, {"k": K, "h": H, "y": K + H[1], "z": np.array([x + x, x * x])})
