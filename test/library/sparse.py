"""Sparse matrix times vector; see library.py for the arguments."""
import numpy as np

from library import normal, random, run


def matrix(rows, columns):
    """Entries in the order of rows; some rows are empty, one is full and long."""
    counts = random.integers(0, 9, rows)
    counts[rows // 2] = columns
    row = np.repeat(np.arange(rows), counts).astype(np.int32)
    return row, random.integers(0, columns, row.size).astype(np.int32), normal(row.size)


def product(row, col, val, x, rows):
    return np.bincount(row, val.astype(np.float64) * x[col].astype(np.float64), minlength=rows)


def compressed(rows, columns, row, col, val):
    x = normal(columns)
    ptr = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=rows)))).astype(np.int32)
    for kernel in ("lane", "wave", "merge_parts"):
        run(kernel, {"ptr": ptr, "col": col, "val": val, "x": x}, {"y": product(row, col, val, x, rows)})


for rows, columns in ((1, 3), (64, 200), (131, 77)):
    compressed(rows, columns, *matrix(rows, columns))
nothing = np.zeros(0, np.int32)
compressed(5, 4, nothing, nothing, normal(0))

row = np.sort(random.integers(3, 125, 1000)).astype(np.int32)
col, val, x = random.integers(0, 50, 1000).astype(np.int32), normal(1000), normal(50)
run("coo", {"row": row, "col": col, "val": val, "x": x}, {"y": product(row, col, val, x, 130)})

for rows, entries in ((130, 1000), (5, 4097)):
    row, col, val = (random.integers(0, n, entries).astype(np.int32) for n in (rows, 50, 9))
    val = val.astype(np.float32)
    run("any_order", {"row": row, "col": col, "val": val, "x": x}, {"y": product(row, col, val, x, rows)},
        options=["-D", f"ROWS={rows}", "-D", f"ENTRIES={entries}"])

used = random.random((70, 9)) < 0.6
col = np.where(used, random.integers(0, 50, used.shape), -1).astype(np.int32)
val = normal(*used.shape)
run("ell", {"col": col, "val": val, "x": x},
    {"y": np.where(used, val.astype(np.float64) * x[np.maximum(col, 0)], 0).sum(axis=1)})
