"""Packed integers that programs store: see packed_stores.tile; the arguments are those of test/library."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "library"))
import numpy as np
from library import normal, random, run

N, M = 10, 24


def wrap(x, bits):
    return ((x + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)).astype(np.int8)


x = random.integers(-20, 20, (N, M)).astype(np.int32)
o = random.integers(-20, 20, (5, 7)).astype(np.int32)
k = random.integers(-8, 8, (3, N, M)).astype(np.int8)
f = (6 * normal(N, M)).astype(np.float32)
after = k.copy()
after[1] = wrap(k[1] + x, 4)
run("stored", {"x": x, "f": f, "o": o, "k": k},
    {"a": wrap(x, 4), "b": wrap(x, 2), "c": np.clip(np.trunc(f), -8, 7).astype(np.int8), "d": wrap(o, 4), "k": after,
     "e": np.clip(np.trunc(f), -2, 1).astype(np.int32) + k[2]})
