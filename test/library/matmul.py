"""Products of matrices; see library.py for the arguments."""
import numpy as np

from library import normal, run

for m, n, k in ((131, 270, 67), (1, 1, 1), (128, 256, 64)):
    sizes = ["-D", f"M={m}", "-D", f"N={n}", "-D", f"K={k}"]
    a, b = normal(m, k), normal(k, n)
    A, B = a.astype(np.float64), b.astype(np.float64)
    run("product", {"a": a, "b": b}, {"c": A @ B}, options=sizes)
    run("precise", {"a": A, "b": B}, {"c": A @ B}, tolerance=1e-14, options=sizes)
    run("layer", {"x": a, "w": np.ascontiguousarray(b.T)}, {"y": A @ B}, options=sizes)
    run("turned", {"x": a}, {"y": A.T}, tolerance=0, options=sizes)
