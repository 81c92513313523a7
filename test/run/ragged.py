"""See ragged.tile: `make SEED PATH` draws the operands of a grouped product, `check SEED PATH` compares its result;
`starts NUMBERS PATH` writes starts, `kept NUMBERS PATH` compares what an update has added to each row, `counted NUMBERS PATH`
the tiles of each group."""
import sys

import numpy as np

what, path = sys.argv[1], sys.argv[3]


def operands(seed):
    random = np.random.default_rng(seed)
    rows, groups = int(random.choice([0, 1, 15, 16, 17, 100, 299])), int(random.choice([1, 2, 5, 12]))
    cuts = np.sort(random.integers(0, rows + 1, groups - 1)) if seed % 3 else np.full(groups - 1, rows // 3)
    start = np.concatenate([[0], cuts, [rows]]).astype(np.int32)
    return random.standard_normal((rows, 40), np.float32), random.standard_normal((groups, 40, 24), np.float32), start


if what in ("starts", "kept", "counted"):
    start = np.array([int(x) for x in sys.argv[2].split(",")], np.int32)
if what == "starts":
    np.save(path + ".s.npy", start)
elif what == "kept":
    row, y = np.arange(40), np.load(path + ".y.npy")
    group = np.searchsorted(start, row, side="right") - 1
    in_group = (row >= start[0]) & (row < start[-1])
    added = np.where(in_group, group + 1, 0)
    assert np.all(np.abs(y - added) <= 1) and np.any(y - added), (y, added)
elif what == "counted":
    assert np.array_equal(np.load(path + ".y.npy"), (np.diff(start) + 7) // 8), np.load(path + ".y.npy")
else:
    x, w, start = operands(int(sys.argv[2]))
    if what == "make":
        for name, array in {"x": x, "w": w, "s": start}.items():
            np.save(f"{path}.{name}.npy", array)
    else:
        y = np.concatenate([x[a:b] @ w[g] for g, (a, b) in enumerate(zip(start, start[1:]))])
        np.testing.assert_allclose(np.load(path + ".y.npy"), y, rtol=1e-4, atol=1e-4)
