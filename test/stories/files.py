"""Writes files for the readers of examples/stories: good ones, and for each rule one that breaks it.

usage: files.py DIR: DIR/good.bin and DIR/good.tok have the sizes of stories.tile and random weights; for each other
NAME.bin or NAME.tok it prints the name.
"""
import os
import struct
import sys

import numpy as np

D, F, L, H, G, V, S = header = 64, 172, 5, 8, 4, 512, 512
WEIGHTS = V * D + L * (2 * D + 2 * D * D + 2 * D * D // H * G + 3 * F * D) + D + S * (D // H)


def checkpoint(numbers=header, change=b""):
    weights = np.random.default_rng(1).standard_normal(WEIGHTS).astype("<f4") * np.float32(0.05)
    return struct.pack("<7i", *numbers) + weights.tobytes() + change


def with_number(i, value):
    return checkpoint(header[:i] + (value,) + header[i + 1:])


def tokenizer(n=V, longest=8, score=0.0, cut=0, more=b""):
    pieces = [b"<unk>", b"<s>", b"</s>"] + [b"<0x%02X>" % i for i in range(256)] + [b" %d" % i for i in range(259, n)]
    data = b"".join(struct.pack("<fi", score, len(p)) + p for p in pieces)
    return struct.pack("<i", longest) + data[:len(data) - cut] + more


good = checkpoint()
files = {
    "good.bin": good, "good.tok": tokenizer(),
    "empty.bin": b"", "header.bin": good[:27], "short.bin": good[:5000], "cut.bin": good[:-4], "long.bin": good + b"....",
    "zero.bin": with_number(2, 0), "minus.bin": with_number(0, -64), "classifier.bin": with_number(5, -512),
    "heads.bin": with_number(3, 7), "groups.bin": with_number(4, 3), "odd.bin": with_number(3, 64),
    "large.bin": with_number(1, 2**31 - 1), "later.bin": with_number(0, 0x616b3432),
    "other.bin": checkpoint((D, F, L, H, G, V, S + 1), bytes(4 * (D // H))),
    "empty.tok": b"", "none.tok": tokenizer(longest=0), "longest.tok": tokenizer(longest=5),
    "score.tok": tokenizer(score=float("nan")), "cut.tok": tokenizer(cut=2), "few.tok": tokenizer(n=511),
    "more.tok": tokenizer(more=b"!"),
}
for name, data in files.items():
    with open(os.path.join(sys.argv[1], name), "wb") as file:
        file.write(data)
