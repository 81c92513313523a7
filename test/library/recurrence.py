"""Alignments, warping, running sums and triangular systems; see library.py for the arguments."""
import numpy as np

from library import normal, random, run


def table(n, m, first, step):
    """Fills a table with a border row and column, element by element."""
    h = first(n, m)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            h[i, j] = step(h, i, j)
    return h[1:, 1:]


def local(s, t):
    return table(len(s), len(t), lambda n, m: np.zeros((n + 1, m + 1), np.int32), lambda h, i, j: max(
        0, h[i - 1, j - 1] + (3 if s[i - 1] == t[j - 1] else -2), h[i - 1, j] - 2, h[i, j - 1] - 2))


def edits(s, t):
    return table(len(s), len(t), lambda n, m: np.add.outer(np.arange(n + 1), np.arange(m + 1)).astype(np.int32), lambda d, i, j: min(
        d[i - 1, j - 1] + (s[i - 1] != t[j - 1]), d[i - 1, j] + 1, d[i, j - 1] + 1))


def warp_border(n, m):
    d = np.full((n + 1, m + 1), np.inf)
    d[0, 0] = 0
    return d


def warp(x, y):
    return table(len(x), len(y), warp_border, lambda d, i, j: abs(float(x[i - 1]) - y[j - 1]) + min(
        d[i - 1, j - 1], d[i - 1, j], d[i, j - 1]))


for n, m in ((150, 201), (1, 65), (129, 64)):
    sizes = ["-D", f"N={n}", "-D", f"M={m}"]
    s, t = random.integers(0, 4, n).astype(np.int8), random.integers(0, 4, m).astype(np.int8)
    run("local", {"s": s, "t": t}, {"h": local(s, t)}, options=sizes)
    run("local_any", {"s": s, "t": t}, {"h": local(s, t)})
    run("edits", {"s": s, "t": t}, {"d": edits(s, t)}, options=sizes)
    x, y = normal(n), normal(m)
    run("warp", {"x": x, "y": y}, {"d": warp(x, y)}, options=sizes)
    a = normal(n, m)
    run("area", {"x": a}, {"y": a.astype(np.float64).cumsum(0).cumsum(1)}, options=sizes)

for n in (64, 150):
    sizes = ["-D", f"N={n}"]
    b, l = normal(n), np.tril(normal(n, n)) / n + 2 * np.eye(n, dtype=np.float32)
    L, B = l.astype(np.float64), b.astype(np.float64)
    run("lower", {"l": l, "b": b}, {"x": np.linalg.solve(L, B)}, options=sizes)
    run("chain", {"l": l, "b": b}, {"y": 2 * np.linalg.solve(L, B + 1).cumsum()}, options=sizes)

for n in (1, 2049):
    x = normal(n)
    run("running", {"x": x}, {"y": x.astype(np.float64).cumsum()}, options=["-D", f"N={n}"])
