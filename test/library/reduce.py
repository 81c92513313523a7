"""Reductions, prefixes, the largest k and draws; see library.py for the arguments."""
import numpy as np

from library import normal, random, run

for n, d in ((35, 1100), (1, 1), (17, 257)):
    sizes = ["-D", f"N={n}", "-D", f"D={d}"]
    x = normal(n, d)
    X = x.astype(np.float64)
    run("rows", {"x": x}, {"s": X.sum(1), "mean": X.mean(1), "most": X.max(1)}, options=sizes)
    run("columns", {"x": x}, {"s": X.sum(0), "mean": X.mean(0), "most": X.max(0)}, options=sizes)
    run("prefixes", {"x": x}, {"s": X.cumsum(1), "most": np.maximum.accumulate(X, 1)}, options=sizes)

x = random.integers(-9, 10, (35, 1100)).astype(np.float32)  # with many equals
X = x.astype(np.float64)
order = np.argsort(-X, axis=1, kind="stable")[:, :5]
run("places", {"x": x}, {"most": X.argmax(1).astype(np.int32), "least": X.argmin(1).astype(np.int32)})
run("top", {"x": x}, {"values": np.take_along_axis(X, order, 1), "ids": order.astype(np.int32)})
run("split", {"x": x}, {"s": X.sum(1), "most": X.max(1)})

u = random.random(35).astype(np.float32)
e = np.exp(X / 2.5)
reached = np.cumsum(e, 1) / e.sum(1, keepdims=True)
assert np.abs(reached - u[:, None]).min() > 1e-6
run("sample", {"x": x, "u": u, "t": np.array(2.5, np.float32)}, {"ids": (reached <= u[:, None]).sum(1).astype(np.int32)})
