"""Every matrix of a folder times a vector, compiled, against numpy in float64.

usage: spmv.py TILEC SOURCE MATRICES FOLDER: exits 1 where an element is off by more than what rounding a sum of its
row's length in float32 may cost.
"""
import os
import pathlib
import subprocess
import sys

import numpy as np

import mtx

tilec, source, matrices, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
paths = sorted(pathlib.Path(matrices).glob("*.mtx"))
assert len(paths) >= 12, paths
for path in paths:
    rows, columns, ptr, col, val = mtx.read(path)
    x = np.random.default_rng(rows).standard_normal(columns).astype(np.float32)
    tensors = {"ptr": ptr, "col": col, "val": val.astype(np.float32), "x": x}
    words = []
    for name, value in tensors.items():
        np.save(f"{folder}/{name}.npy", value)
        words += ["--in", f"{name}={folder}/{name}.npy"]
    row = np.repeat(np.arange(rows), np.diff(ptr))
    terms = tensors["val"].astype(np.float64) * x[col]
    want = np.bincount(row, terms, minlength=rows)
    bound = (np.diff(ptr) + 2) * 2.0**-24 * np.bincount(row, np.abs(terms), minlength=rows)
    check = ["--check"] if col.size < 13000 else []
    results = ("lane", "wave", "parts")
    outs = [word for name in results for word in ("--out", f"{name}={folder}/{name}.npy")]
    subprocess.run([tilec, "run", source, *words, *outs, *check], check=True)
    for name in results:
        error = np.abs(np.load(f"{folder}/{name}.npy") - want)
        print(f"{path.stem} {name}: {rows} x {columns}, {col.size} entries, largest error {error.max():.3g}")
        if not (error <= bound).all():
            sys.exit(f"row {np.argmax(error - bound)}: error {error[np.argmax(error - bound)]:.3g}")
