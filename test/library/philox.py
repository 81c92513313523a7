"""Philox4x32-10 by numpy, which is checked against the known answers of its authors (Random123, kat_vectors)."""
import numpy as np

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


def words_of(seed, n, d):
    """Words 0 and 1 of each element of a tensor [n, d]."""
    at = np.arange(n * d, dtype=np.uint64).reshape(n, d)
    return philox((at & LOW, at >> np.uint64(32), 0 * at, 0 * at), (seed % 2 ** 64 & 0xFFFFFFFF, seed % 2 ** 64 >> 32))[:2]


def bits_of(seed, n, d):
    words = words_of(seed, n, d)
    return (words[0] | words[1] << np.uint64(32)).astype(np.int64)


def even_of(seed, n, d):
    """From [0, 1), by each of the two words."""
    return [(w >> np.uint64(8)).astype(np.float64) * 2.0 ** -24 for w in words_of(seed, n, d)]


def normal_of(seed, n, d):
    even = even_of(seed, n, d)
    return np.sqrt(-2 * np.log(even[0] + 2.0 ** -24)) * np.cos(2 * np.pi * even[1])
