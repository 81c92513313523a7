"""Random numbers by position against numpy's; see library.py for the arguments."""
import numpy as np

from library import normal, run
from philox import bits_of, even_of, normal_of

N, D = 37, 70
for seed in (0, 1, -1, 0x123456789ABCDEF):
    given, even = {"seed": np.array(seed, np.int64)}, even_of(seed, N, D)
    run("bits", given, {"y": bits_of(seed, N, D)})
    if seed != 1:
        continue
    run("split", given, {"y": bits_of(seed, N, D)})
    run("uniform", given, {"y": even[0].astype(np.float32)}, tolerance=0)
    run("normal", given, {"y": normal_of(seed, N, D)}, tolerance=2e-5)
    x, rate = normal(N, D), np.float32(0.3)
    kept = np.where(even[0].astype(np.float32) < rate, 0, x / (1 - rate))
    run("dropped", {"x": x, **given, "rate": np.array(rate)}, {"y": kept}, tolerance=1e-6)
doubles = np.random.default_rng(1).standard_normal((N, D))
run("doubles", {"x": doubles, **given, "rate": np.array(0, np.float32)}, {"y": doubles}, tolerance=0)
assert abs(np.mean(even[0]) - 0.5) < 0.02 and abs(np.mean(kept == 0) - 0.3) < 0.03
