"""Philox4x32-10 by numpy, which is checked against the known answers of its authors (Random123, kat_vectors), and what is made of
its bits; see library.py for the arguments."""
import numpy as np

from library import normal, run

N, D = 37, 70
LOW = np.uint64(0xFFFFFFFF)


def philox(counter, key):
    """Ten rounds over arrays of four words and two words."""
    c, k = [np.asarray(w, np.uint64) for w in counter], [np.uint64(w) for w in key]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ k[0], b & LOW, (a >> np.uint64(32)) ^ c[3] ^ k[1], a & LOW]
        k = [(k[0] + np.uint64(0x9E3779B9)) & LOW, (k[1] + np.uint64(0xBB67AE85)) & LOW]
    return c


ANSWERS = (((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
           ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
           ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0), (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)))
for counter, key, want in ANSWERS:
    assert tuple(int(w) for w in philox(counter, key)) == want

for seed in (0, 1, -1, 0x123456789ABCDEF):
    unsigned = seed % 2 ** 64
    at = np.arange(N * D, dtype=np.uint64).reshape(N, D)
    words = philox((at & LOW, at >> np.uint64(32), 0 * at, 0 * at), (unsigned & 0xFFFFFFFF, unsigned >> 32))
    bits = (words[0] | words[1] << np.uint64(32)).astype(np.int64)
    given = {"seed": np.array(seed, np.int64)}
    even = [(w >> np.uint64(8)).astype(np.float64) * 2.0 ** -24 for w in words[:2]]
    run("bits", given, {"y": bits})
    if seed == 1:
        run("split", given, {"y": bits})
    run("uniform", given, {"y": even[0].astype(np.float32)}, tolerance=0)
    run("normal", given, {"y": np.sqrt(-2 * np.log(even[0] + 2.0 ** -24)) * np.cos(2 * np.pi * even[1])}, tolerance=2e-5)
    x, rate = normal(N, D), np.float32(0.3)
    kept = np.where(even[0].astype(np.float32) < rate, 0, x / (1 - rate))
    run("dropped", {"x": x, **given, "rate": np.array(rate)}, {"y": kept}, tolerance=1e-6)
assert abs(np.mean(even[0]) - 0.5) < 0.02 and abs(np.mean(kept == 0) - 0.3) < 0.03
