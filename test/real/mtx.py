"""Matrix Market text to CSR, for tests of sparse kernels.

mtx.read(path) gives (rows, columns, ptr int32, col int32, val float64), rows in order, symmetric halves expanded.
"""
import numpy as np


def read(path):
    with open(path, encoding="utf-8") as file:
        kind = file.readline().split()
        assert kind[:3] == ["%%MatrixMarket", "matrix", "coordinate"], (path, kind)
        field, symmetry = kind[3:]
        assert field in ("real", "integer", "pattern") and symmetry in ("general", "symmetric"), (path, kind)
        line = file.readline()
        while line.startswith("%"):
            line = file.readline()
        rows, columns, count = map(int, line.split())
        words = np.array(file.read().split(), dtype=np.float64).reshape(count, 2 if field == "pattern" else 3)
    row, col = words[:, 0].astype(np.int64) - 1, words[:, 1].astype(np.int64) - 1
    val = np.ones(count) if field == "pattern" else words[:, 2]
    if symmetry == "symmetric":
        off = row != col
        row, col, val = (np.concatenate(pair) for pair in ((row, col[off]), (col, row[off]), (val, val[off])))
    order = np.lexsort((col, row))
    ptr = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=rows))))
    return rows, columns, ptr.astype(np.int32), col[order].astype(np.int32), val[order]
