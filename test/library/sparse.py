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
    want = product(row, col, val, x, rows)
    for kernel in ("lane", "wave", "rows", "adaptive", "merge_parts", "merge_rows", "joined", "joined_rows"):
        run(kernel, {"ptr": ptr, "col": col, "val": val, "x": x}, {"y": want})
    inputs = sliced(ptr, col, val, 5) | {"x": x, "y": np.zeros(rows, np.float32)}
    run("sliced", inputs, {"y": want})


def sliced(ptr, col, val, longest):
    """Slices of 32 rows, the longer ones first; rows of more than `longest` entries are in pieces of 7."""
    lengths = np.diff(ptr)
    order = np.argsort(-lengths, kind="stable").astype(np.int32)
    row, far = order[lengths[order] <= longest], order[lengths[order] > longest]
    widths = [lengths[row[b:b + 32]].max() for b in range(0, row.size, 32)]
    start = 32 * np.concatenate(([0], np.cumsum(widths, dtype=np.int32))).astype(np.int32)
    scol, sval = np.full(start[-1], -1, np.int32), np.zeros(start[-1], np.float32)
    for i, r in enumerate(row):
        places = start[i // 32] + 32 * np.arange(lengths[r]) + i % 32
        scol[places], sval[places] = col[ptr[r]:ptr[r + 1]], val[ptr[r]:ptr[r + 1]]
    pieces = [range(at, min(at + 7, ptr[r + 1])) for r in far for at in range(ptr[r], ptr[r + 1], 7)]
    entries = np.array([e for piece in pieces for e in piece], np.int64)
    first = np.concatenate(([0], np.cumsum((lengths[far] + 6) // 7))).astype(np.int32)
    far_ptr = np.concatenate(([0], np.cumsum([len(piece) for piece in pieces]))).astype(np.int32)
    return {"start": start, "row": row, "scol": scol, "sval": sval, "first": first, "long_row": far, "ptr": far_ptr,
            "col": col[entries], "val": val[entries]}


def outside():
    """Rows that begin before the entries, or end behind them; columns outside x."""
    ptr = np.array([-3, 2, 2, 14, 25, 31, 40], np.int32)
    col, val, x = random.integers(-2, 12, 31).astype(np.int32), normal(31), normal(10)
    terms = np.where((col >= 0) & (col < 10), val.astype(np.float64) * x[np.clip(col, 0, 9)], 0)
    want = np.array([terms[max(a, 0):max(b, 0)].sum() for a, b in zip(ptr, ptr[1:])])
    for kernel in ("lane", "wave", "rows", "adaptive"):
        run(kernel, {"ptr": ptr, "col": col, "val": val, "x": x}, {"y": want})
    x[0] = np.inf  # what lies outside of the entries has column 0: 0 times infinity is NaN, in compiled text as well
    run("rows", {"ptr": ptr, "col": np.abs(col), "val": val, "x": x}, {}, options=["--allow-nan"])


for rows, columns in ((1, 3), (64, 200), (131, 77)):
    compressed(rows, columns, *matrix(rows, columns))
outside()
row = np.sort(np.concatenate((np.full(9000, 3), random.integers(4, 40, 30)))).astype(np.int32)  # one enormous row
compressed(40, 60, row, random.integers(0, 60, row.size).astype(np.int32), normal(row.size))
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
