"""Makes what keyword.tile takes: sounds, and weights of fixed point.

usage: export.py WEIGHTS.safetensors FOLDER [SOUNDS]

Writes to the folder: x.npy and label.npy, SOUNDS new sounds (default: 200); for q7 and q15 each q7.npy, the same sounds
in fixed point, q7.safetensors, and a header with the weights as arrays of C and the first 8 sounds.
"""
import os
import sys

import numpy as np

import model
import sounds

SEEN, TOLD = 200, 8  # sounds by which ranges are chosen; sounds in a header


def packed(codes):
    """Four ternary codes a byte, the first in the lowest bits."""
    flat = np.zeros(-(-codes.size // 4) * 4, np.uint8)
    flat[:codes.size] = codes.reshape(-1) & 3
    return flat.reshape(-1, 4) @ np.array([1, 4, 16, 64], np.uint8)


def array(name, t):
    kind = {"int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "uint8": "uint8_t"}[str(t.dtype)]
    flat = t.reshape(-1).tolist()
    lines = [", ".join(map(str, flat[i:i + 20])) for i in range(0, len(flat), 20)]
    return f"static const {kind} {name}[{len(flat)}] = {{\n    " + ",\n    ".join(lines) + "};\n"


def header(kind, weights, x, label):
    text = f"/* {kind}.h: weights of keyword_{kind}, and {len(x)} sounds with their words; made by export.py. */\n#include <stdint.h>\n\n"
    for name, t in weights.items():
        codes = name.split(".")[-1][0] in "BCDWV"
        text += array("w_" + name.replace(".", "_"), packed(t) if codes else t)
    text += array("sounds", x) + array("words", label.astype(np.int8))
    members = ", ".join(f".w_{name.replace('.', '_')} = w_{name.replace('.', '_')}" for name in weights)
    return text + f"\n#define WEIGHTS {members}\n"


def main(path, folder, n):
    os.makedirs(folder, exist_ok=True)
    w = model.load(path)
    seen, _ = sounds.samples(SEEN, 5)
    x, label = sounds.samples(n, 11)
    np.save(f"{folder}/x.npy", x[..., None])
    np.save(f"{folder}/label.npy", label)
    for kind in ("q7", "q15"):
        weights, x_point = model.fixed(w, seen, kind)
        q = model.fixed_input(x, kind, x_point)
        np.save(f"{folder}/{kind}.npy", q)
        model.save(f"{folder}/{kind}.safetensors", weights)
        with open(f"{folder}/{kind}.h", "w") as file:
            file.write(header(kind, weights, q[:TOLD], label[:TOLD]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 200)
