"""usage: kernel_views.py TILEC SOURCE FOLDER: views in kernels against numpy's, padded with zeros."""
import os
import subprocess
import sys

import numpy as np

tilec, source, folder = sys.argv[1:4]
os.makedirs(folder, exist_ok=True)
random = np.random.default_rng(3)
n = 21


def save(name, value):
    np.save(f"{folder}/{name}.npy", value)
    return ["--in", f"{name}={folder}/{name}.npy"]


def padded(x):
    return np.pad(x, [(0, 0)] + [(20, 20)] * (x.ndim - 1))


for program, kind in (("views", np.float32), ("counted", np.int32)):
    x, y = random.integers(-9, 9, (n, 96)).astype(kind), random.integers(-9, 9, (n, 4, 6)).astype(kind)
    k = np.array([11, 0, 7, -3 if kind is np.float32 else 40, 9, 5], np.int32)
    words = save("x", x) + save("y", y) + save("k", k)
    X, Y, Z = padded(x.reshape(n, 12, 8)), padded(y.reshape(n, 24)), y.reshape(n, 3, 8)
    want = {
        "a": (X[:, 20:32, 20:28] - X[:, 21:33, 18:26]).sum(2),
        "b": Y[:, 20:44] + Y[:, 19:43],
        "c": Z,
        "d": Z[:, 1] + X[:, 31, 24:32],
        "g": X[:, 20 + np.minimum(k, 19), 25] + X[:, 23, 20 + np.minimum(k, 19)],
    }
    for target in (["--check"], ["--target=interp"]):
        outs = [word for name in want for word in ("--out", f"{name}={folder}/out-{name}.npy")]
        subprocess.run([tilec, "run", source, f"--program={program}", *words, *outs, *target], check=True)
        for name, value in want.items():
            got = np.load(f"{folder}/out-{name}.npy")
            assert np.array_equal(got, value), (program, target, name, got - value)
