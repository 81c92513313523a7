"""usage: safetensors.py TILEC FILE WORK: runs FILE with inputs of safetensors files, right ones and wrong ones; a line for each"""
import json
import os
import random
import re
import struct
import subprocess
import sys

import numpy as np

TILEC, FILE, WORK = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3]
NAMES = {"f4": "F32", "f2": "F16", "u4": "U32", "u1": "BOOL"}
rng = np.random.default_rng(5)
os.chdir(WORK)


class BF16:
    """bf16 numbers by their bits."""

    def __init__(self, values):
        self.bits = (np.asarray(values, "f4").view("u4") >> 16).astype("<u2")
        self.values = (self.bits.astype("u4") << 16).view("f4")
        self.shape, self.nbytes = self.bits.shape, self.bits.nbytes

    def tobytes(self):
        return self.bits.tobytes()


def entry(kind, shape, begin, end):
    return {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}


def header(arrays):
    head, at = {}, 0
    for name, x in arrays.items():
        kind = "BF16" if isinstance(x, BF16) else NAMES[x.dtype.str[1:]]
        head[name] = entry(kind, list(x.shape), at, at + x.nbytes)
        at += x.nbytes
    return head


def raw(head, data, path="x.safetensors"):
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def write(arrays, path="x.safetensors", **changed):
    raw({**header(arrays), **changed}, b"".join(x.tobytes() for x in arrays.values()), path)


def run(*words):
    return subprocess.run([TILEC, "run", FILE, *words], capture_output=True, text=True, timeout=120)


def right(what, expected, *words):
    done = run(*words, "--out", "y=y.npy")
    same = done.returncode == 0 and np.allclose(np.load("y.npy"), expected, 1e-6)
    print(f"{what}: {'agrees' if same else 'differs ' + done.stderr}")


def wrong(what, *words):
    done = run(*(words or ("--in", "x=x.safetensors")))
    lines = [line for line in done.stderr.splitlines() if "error: " in line]
    print(f"{what}: {re.sub('^tilec: ', '', lines[0]) if lines else 'taken ' + str(done.returncode)}")


x, up, gain, on = rng.random((2, 3), "f4"), rng.random(3, "f4"), BF16(rng.random(3, "f4")), np.array([0, 1], "u1")
y = x * up + gain.values
np.save("x.npy", x), np.save("up.npy", up)
all_weights = {"up": up, "deep.gain": gain, "deep.on": on}
write({"x": x, **all_weights})
right("by name", y, "--in", "x=x.safetensors", "--in", "w=x.safetensors")
right("another name", y, "--in", "x=x.safetensors:x", "--in", "w.up=up.npy", "--in", "w.deep.gain=x.safetensors:deep.gain",
      "--in", "w.deep.on=x.safetensors:deep.on")
right("record", y, "--in", "x=x.npy", "--in", "w.up=up.npy", "--in", "w=x.safetensors")
write({"a.b.up": up, "a.b.deep.gain": gain, "a.b.deep.on": on, "up": up})
right("record, prefix", y, "--in", "x=x.npy", "--in", "w=x.safetensors:a.b")
odd = {"one": np.array([1], "u1"), "x \u00e4\"\n": x, **all_weights}
text = json.dumps({"__metadata__": {"format": "pt", "x": "\U0001f600"}, **header(odd)})
raw((text + " " * (1 - len(text) % 2)).encode(), b"".join(a.tobytes() for a in odd.values()))
right("odd bytes, escapes, metadata", y, "--in", "x=x.safetensors:x \u00e4\"\n", "--in", "w=x.safetensors")

write({"ups": up})
wrong("no tensor", "--in", "w=x.safetensors")
write({"a": up, "b": up})
wrong("other tensors", "--in", "w.up=x.safetensors:up")
wrong("no such input", "--in", "v=x.safetensors")
wrong("no such file", "--in", "x=none.safetensors")
os.mkdir("d.safetensors")
wrong("a folder", "--in", "x=d.safetensors")
write({"x": x.astype("f2")})
wrong("another type")
write({"up": rng.random(4, "f4")})
wrong("another shape", "--in", "w.up=x.safetensors:up")
write({"x": rng.random((9, 3), "f4")})
wrong("larger")
write({"x": x.astype("u4")})
wrong("unknown to tilec")
write({"on": np.array([1, 2], "u1")})
wrong("no bool", "--in", "w.deep.on=x.safetensors:on")

write({"x": x})
whole = open("x.safetensors", "rb").read()
for what, data in (("empty", b""), ("short", b"\0" * 7), ("long header", struct.pack("<Q", 1 << 60) + b" " * 24), ("cut", whole[:-1])):
    with open("x.safetensors", "wb") as f:
        f.write(data)
    wrong(what)
two = {"x": x, "y": rng.random(4, "f4")}
for what, change in (
        ("overlap", entry("F32", [4], 8, 24)), ("gap", entry("F32", [3], 28, 40)), ("trailing", entry("BOOL", [13], 24, 37)),
        ("length", entry("F32", [3], 24, 40)), ("backwards", entry("F32", [4], 40, 24)),
        ("huge shape", entry("F32", [1 << 31, 1 << 31, 4], 24, 40)), ("nine dimensions", entry("F32", [1] * 9, 24, 28)),
        ("negative", entry("F32", [-4], 24, 40)), ("fraction", entry("F32", [4.0], 24, 40)),
        ("huge number", entry("F32", [1 << 70], 24, 40)), ("unknown type", entry("F3", [4], 24, 40)), ("no object", 5),
        ("no shape", {"dtype": "F32", "data_offsets": [24, 40]}), ("another key", {"dtype": "F32", "size": 4})):
    write(two, y=change)
    wrong(what)
one = json.dumps(entry("F32", [2, 3], 0, 24))
for what, text in (("twice", f'{{"x": {one}, "x": {one}}}'), ("a list", "[]"), ("no JSON", f'{{"x": {one} "y"'), ("text behind", "{}{}"),
                   ("deep", '{"__metadata__": ' + "[" * 100000), ("half a pair", '{"\\ud800x": 1}')):
    raw(text.encode(), x.tobytes())
    wrong(what)
raw(b'{"\xff": 1}', b"")
wrong("no UTF-8")

random.seed(7)
write({"x": x, **all_weights})
whole, codes = open("x.safetensors", "rb").read(), set()
for _ in range(25):
    data = bytearray(whole)
    for _ in range(random.choice((1, 1, 2, 12))):
        data[random.randrange(len(whole) - 50)] = random.choice(b'{}[]",:0919\\u\0\xff x')
    with open("x.safetensors", "wb") as f:
        f.write(data[:random.choice((len(data), len(data), random.randrange(len(data))))])
    codes.add(run("--in", "x=x.safetensors", "--in", "w=x.safetensors").returncode)
print("changed bytes:", "no crash" if all(c >= 0 and c < 100 for c in codes) else codes)
