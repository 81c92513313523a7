#!/usr/bin/env python3
"""Decodes a llama2.c checkpoint greedily with stories.tile, one `tilec run` for each token, and prints the text.

usage: decode.py TILEC CHECKPOINT TOKENIZER DIR [-n STEPS] [--reference] [OPTIONS OF tilec run..]

DIR takes the weights and the state as .npy files. With --reference every step's scores are compared with numpy in
float64; exits 1 where they are off by more than float32 accuracy of these sums.
"""
import argparse
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from stories_npy import read_checkpoint, read_tokenizer  # noqa: E402


def rms(x, w):
    return x / np.sqrt((x * x).mean() + 1e-5) * w


def rope(x, at):
    """x: [heads, width]; neighbours turn together."""
    turn = at * 10000.0 ** (-np.arange(0, x.shape[1], 2) / x.shape[1])
    even, odd = x[:, 0::2], x[:, 1::2]
    y = np.empty_like(x)
    y[:, 0::2] = even * np.cos(turn) - odd * np.sin(turn)
    y[:, 1::2] = even * np.sin(turn) + odd * np.cos(turn)
    return y


class Reference:
    """The model in float64, after the equations."""

    def __init__(self, header, tensors):
        self.w = {name: t.astype(np.float64) for name, t in tensors.items()}
        self.dim, _, self.layers, self.heads, self.groups = header[:5]
        self.width = self.dim // self.heads
        self.cache = [([], []) for _ in range(self.layers)]

    def attention(self, layer, n, at):
        w, width = self.w, self.width
        q = rope((w["wq"][layer] @ n).reshape(self.heads, width), at)
        keys, values = self.cache[layer]
        keys.append(rope((w["wk"][layer] @ n).reshape(self.groups, width), at))
        values.append((w["wv"][layer] @ n).reshape(self.groups, width))
        k, v = np.stack(keys), np.stack(values)
        out = np.empty((self.heads, width))
        for h in range(self.heads):
            g = h // (self.heads // self.groups)
            p = np.exp((s := k[:, g] @ q[h] / np.sqrt(width)) - s.max())
            out[h] = p / p.sum() @ v[:, g]
        return w["wo"][layer] @ out.reshape(-1)

    def step(self, token, at):
        w = self.w
        x = w["emb"][token].copy()
        for i in range(self.layers):
            x += self.attention(i, rms(x, w["norm1"][i]), at)
            n = rms(x, w["norm2"][i])
            gate = w["w1"][i] @ n
            x += w["w2"][i] @ (gate / (1 + np.exp(-gate)) * (w["w3"][i] @ n))
        return w["emb"] @ rms(x, w["norm"])


def write_model(header, tensors, folder):
    """Weights with the shapes of stories.tile, and empty caches. Returns what stands on the command line."""
    dim, hidden, layers, heads, groups, vocab, places = header
    width = dim // heads
    shape = {"wq": (layers, heads, width, dim), "wk": (layers, groups, width, dim), "wv": (layers, groups, width, dim),
             "wo": (layers, dim, heads, width)}
    os.makedirs(folder, exist_ok=True)
    for name, tensor in tensors.items():
        np.save(f"{folder}/{name}.npy", tensor.reshape(shape.get(name, tensor.shape)))
    for name in ("kc", "vc"):
        np.save(f"{folder}/{name}.npy", np.zeros((layers, 1, places, groups, width), np.float32))
    dims = {"L": layers, "D": dim, "F": hidden, "H": heads, "G": groups, "E": width, "V": abs(vocab), "S": places}
    args = [part for name, n in dims.items() for part in ("-D", f"{name}={n}")]
    names = [(n if n == "emb" else f"w.{n}", n) for n in tensors] + [(n, n) for n in ("kc", "vc", "ids", "at")]
    args += [part for name, file in names for part in ("--in", f"{name}={folder}/{file}.npy")]
    return args + [part for n in ("kc", "vc", "logits", "next") for part in ("--out", f"{n}={folder}/{n}.npy")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    for name in ("tilec", "checkpoint", "tokenizer", "folder"):
        parser.add_argument(name)
    parser.add_argument("-n", type=int, default=16)
    parser.add_argument("--reference", action="store_true")
    o, options = parser.parse_known_args()
    header, tensors = read_checkpoint(o.checkpoint)
    pieces, _ = read_tokenizer(o.tokenizer, abs(header[5]))
    reference, token, worst, text = Reference(header, tensors), 1, 0.0, b""
    command = [o.tilec, "run", f"{HERE}/stories.tile", *write_model(header, tensors, o.folder), *options]
    for at in range(o.n):
        np.save(f"{o.folder}/ids.npy", np.array([token], np.int32))
        np.save(f"{o.folder}/at.npy", np.array([at], np.int32))
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if o.reference:
            want = reference.step(token, at)
            worst = max(worst, np.abs(np.load(f"{o.folder}/logits.npy")[0] - want).max() / np.abs(want).max())
        token = int(np.load(f"{o.folder}/next.npy")[0])
        text += pieces[token]
    print(text.decode(errors="replace").strip())
    if o.reference:
        print(f"largest relative error {worst:.3g}")
        sys.exit(int(not worst < 1e-4))


if __name__ == "__main__":
    main()
