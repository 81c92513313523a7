"""The feed-forward block of a Llama layer in numpy (float64), compared with what tilec wrote.

usage: mlp.py DIR RESULT.npy: reads x, norm, w1, w2, w3 from DIR; exits 1 where an element is off by more than float32
accuracy of sums of this length.
"""
import sys

import numpy as np

directory, result = sys.argv[1:]
x, norm, w1, w2, w3 = (np.load(f"{directory}/{name}.npy").astype(np.float64) for name in ("x", "norm", "w1", "w2", "w3"))
n = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5) * norm
gate = n @ w1.T
want = (gate / (1 + np.exp(-gate)) * (n @ w3.T)) @ w2.T
got = np.load(result)
assert got.dtype == np.float32 and got.shape == want.shape, (got.dtype, got.shape)
bound = 1e-5 * np.abs(want).max()
error = np.abs(got - want).max()
print(f"largest error {error:.3g}, bound {bound:.3g}")
sys.exit(int(error > bound))
