"""usage: npy.py TILEC: every element type goes through `run`, from both byte orders and both orders of dimensions, and
comes back as numpy has it; a malformed file names the byte."""
import subprocess
import sys

import numpy as np

TYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "bf16": "V2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u8": "u1",
         "bool": "b1", "f8e4m3": "V1", "f8e5m2": "V1", "f8e4m3fnuz": "V1", "i4": "i1", "t2": "i1"}
SOURCE = """kernel turn(x: {t}[n, m, k]) -> (y: {t}[n, m, k]) {{ each i: 2 of n, j: 2 of m, l: 2 of k {{ y[i, j, l] = x[i, j, l]; }} }}
program p(X: {t}[3, 5, 2]) -> (Y: {t}[3, 5, 2]) {{ Y = turn(X); }}
"""


def values_of(elem, code):
    rng = np.random.default_rng(1)
    if elem in ("bool", "i4", "t2"):
        low, high = {"bool": (0, 2), "i4": (-8, 8), "t2": (-1, 2)}[elem]
        return rng.integers(low, high, (3, 5, 2)).astype(code)
    if code[0] == "V":
        return rng.integers(0, 120, (3, 5, 2)).astype("u" + code[1]).view(code)
    return (rng.standard_normal((3, 5, 2)) * 100).astype(code)


def run(tilec, target):
    command = [tilec, "run", "npy.tile", f"--target={target}", "--in", "X=x.npy", "--out", "Y=y.npy"]
    return subprocess.run(command, capture_output=True, text=True)


def check(tilec, elem, code):
    with open("npy.tile", "w") as f:
        f.write(SOURCE.format(t=elem))
    good = values_of(elem, code)
    for order in "<>":
        for layout in "CF":
            typed = good if code[0] == "V" or code[1] == "1" else good.astype(order + code)
            np.save("x.npy", np.asarray(typed, order=layout))
            done = run(tilec, "interp")
            assert done.returncode == 0, (elem, done.stderr)
            back = np.load("y.npy")
            assert back.tobytes() == good.tobytes() and back.shape == good.shape, (elem, order, layout, back, good)
    done = run(tilec, "host")
    if elem == "t2":  # tiles of two, four a byte
        assert "a task that stores part of a byte" in done.stderr
        return
    assert done.returncode == 0 and np.load("y.npy").tobytes() == good.tobytes(), (elem, done.stderr)


def check_malformed(tilec):
    with open("npy.tile", "w") as f:
        f.write(SOURCE.format(t="f32"))
    np.save("x.npy", values_of("f32", "f4"))
    whole = open("x.npy", "rb").read()
    for at, byte, text in ((0, b"x", "byte 0: not an .npy file"), (6, b"\x09", "byte 6: unknown version"),
                           (10, b"[", "byte 10: expected '{'"), (11, b"x", "byte 11: expected a string"),
                           (len(whole), b"x", "byte 128: the shape needs 120 bytes of data, the file has 121")):
        with open("x.npy", "wb") as f:
            f.write(whole[:at] + byte + whole[at + 1:])
        done = run(tilec, "interp")
        assert done.returncode == 3 and text in done.stderr, (text, done.returncode, done.stderr)
    np.save("x.npy", np.zeros((3, 5, 2), "f8"))
    assert "x.npy: 'X' is f32[3, 5, 2], the file has f64[3, 5, 2]" in run(tilec, "interp").stderr
    np.save("x.npy", np.zeros((3, 2, 5), "f4"))
    assert "x.npy: 'X' is f32[3, 5, 2], the file has f32[3, 2, 5]" in run(tilec, "interp").stderr
    check_parts(tilec)


def bf16_bits(x):
    """As docs/reference/command-line.md makes them."""
    bits = x.astype("f4").view("u4")
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype("u2")


def check_made(tilec):
    """A type that numpy lacks: what is said of other files, and the recipe."""
    with open("npy.tile", "w") as f:
        f.write(SOURCE.format(t="bf16"))
    x = values_of("f32", "f4")
    recipe = "NumPy has no bf16: save x.astype(ml_dtypes.bfloat16), or its bits as bits.view('V2')"
    np.save("x.npy", x)
    said = run(tilec, "interp").stderr
    assert "'X' is bf16[3, 5, 2], the file has f32[3, 5, 2]\ntilec: note: " + recipe in said, said
    np.save("x.npy", bf16_bits(x))
    said = run(tilec, "interp").stderr
    assert "no element type is 'u2'; " + recipe in said, said
    np.save("x.npy", bf16_bits(x).view("V2"))
    assert run(tilec, "interp").returncode == 0
    y = (np.load("y.npy").view("u2").astype("u4") << 16).view("f4")
    assert np.all(np.abs(y - x) <= np.abs(x) / 256), (x, y)


def check_parts(tilec):
    """A file with one rank's part of a tensor that is split, and an extent that is told at run time."""
    with open("npy.tile", "w") as f:
        f.write("dim N <= 8; mesh tp = 2; program p(X: f32[N, 6 @ tp]) -> (Y: f32[N, 6 @ tp]) { Y = X * 2; }")
    np.save("x.npy", np.zeros((5, 3), "f4"))
    said = run(tilec, "host").stderr
    assert "x.npy: 'X' is f32[5, 6], the file has f32[5, 3]" in said and "files hold whole tensors" in said, said
    np.save("x.npy", np.zeros(5, "f4"))
    assert "x.npy: 'X' is f32[N, 6], the file has f32[5]" in run(tilec, "host").stderr


def main(tilec):
    for elem, code in TYPES.items():
        check(tilec, elem, code)
    check_malformed(tilec)
    check_made(tilec)
    print(f"{len(TYPES)} types")


main(sys.argv[1])
