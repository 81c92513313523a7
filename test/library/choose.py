"""Decision trees; see library.py for the arguments."""
import numpy as np

from library import normal, random, run


def sparse(rows, entries, columns=70):
    ends = np.sort(random.integers(0, entries + 1, rows - 1))
    ptr = np.concatenate([[0], ends, [entries]]).astype(np.int32)
    col = random.integers(0, columns, entries).astype(np.int32)
    val, x = normal(entries), normal(columns)
    y = np.array([np.sum(val[a:b].astype(np.float64) * x[col[a:b]]) for a, b in zip(ptr, ptr[1:])])
    run("spmv", {"ptr": ptr, "col": col, "val": val, "x": x}, {"y": y})


for shape in [(10, 120), (10, 121), (9, 1000)]:
    sparse(*shape)


def mark(a, n, m=21, k=5):
    if (a + 2 * n) / 4 < 0.5 * m - 1:
        return (3, 4) if a >= n else (1, 1)
    return (6, 8) if k < 5 else (1, 1)


x = normal(21, 21)
for a, n in [(2.0, 18), (10.0, 10), (30.0, 4), (29.5, 4), (np.nan, 4)]:
    for k in (5,) if a <= 20 else (4, 5):
        y, z = mark(a, n, k=k)
        run("marks", {"x": x, "r": normal(n), "a": np.float32(a)}, {"y": y * x, "z": z * x}, 1e-6, [f"-DK={k}"])

run("numbers", {"x": x}, {"y": 2 * (x + 1)}, 1e-6)
