"""usage: recipes.py TILEC PAGE WORK: the programs of docs/guides/recipes.md agree with the interpreter and with numpy in f64."""
import math
import os
import re
import subprocess
import sys

import numpy as np

random = np.random.default_rng(7)


def drawn(*shape):
    return random.uniform(-1, 1, shape).astype("f4")


def attended(q, k, v, bias):
    heads, window = bias.shape
    o = np.zeros(q.shape)
    for h in range(heads):
        group = h // (heads // k.shape[1])
        for i in range(q.shape[2]):
            keys = np.arange(max(0, i - window + 1), i + 1)
            x = np.einsum("bc,bjc->bj", q[:, h, i], k[:, group, keys]) * 0.25 + bias[h, i - keys]
            e = np.exp(x - x.max(axis=1, keepdims=True))
            o[:, h, i] = np.einsum("bj,bjc->bc", e / e.sum(axis=1, keepdims=True), v[:, group, keys])
    return o


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def normed(x, rest, w, b):
    centred = x - x.mean(axis=1, keepdims=True)
    return gelu(centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * w + b) + rest


def filtered(x, k, bias):
    padded = np.pad(x, ((0, 0), (0, 0), (2, 2)))
    y = sum(padded[:, :, u : u + x.shape[2]] * k[:, u : u + 1] for u in range(5)) + bias[:, None]
    return y / (1 + np.exp(-y))


def block(x, gain, up, down):
    normal = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5) * gain
    return x + gelu(normal @ up.T) @ down.T


PROGRAMS = [
    (attended, "o", {"q": (2, 4, 90, 16), "k": (2, 2, 90, 16), "v": (2, 2, 90, 16), "bias": (4, 24)}),
    (normed, "y", {"x": (70, 100), "rest": (70, 100), "w": (100,), "b": (100,)}),
    (filtered, "y", {"x": (2, 20, 150), "k": (20, 5), "bias": (20,)}),
    (block, "y", {"x": (64, 96), "gain": (96,), "up": (128, 96), "down": (96, 128)}),
]


def blocks_of(page):
    """The program texts of a page: what is indented between two headings."""
    for part in re.split(r"^## ", page, flags=re.M)[1:]:
        yield "\n".join(line[4:] for line in part.split("\n") if line.startswith("    "))


def compare(tilec, text, of, result, shapes, work):
    path = os.path.join(work, of.__name__ + ".tile")
    with open(path, "w") as f:
        f.write(text)
    inputs, words = {name: drawn(*shape) for name, shape in shapes.items()}, []
    for name, values in inputs.items():
        np.save(os.path.join(work, name + ".npy"), values)
        words += ["--in", f"{name}={os.path.join(work, name)}.npy"]
    out = os.path.join(work, "out.npy")
    subprocess.run([tilec, "run", path, "--check"] + words + ["--out", f"{result}={out}"], check=True)
    wanted = of(**{name: values.astype("f8") for name, values in inputs.items()})
    error = np.abs(np.load(out) - wanted).max() / np.abs(wanted).max()
    print(f"{of.__name__}: {'right' if error < 1e-5 else 'wrong'}, {error:.1e} of the largest", flush=True)


def main(tilec, page, work):
    os.makedirs(work, exist_ok=True)
    texts = list(blocks_of(open(page).read()))
    assert len(texts) == len(PROGRAMS), "a recipe without its numpy, or the other way round"
    for text, program in zip(texts, PROGRAMS):
        compare(tilec, text, *program, work)


main(*sys.argv[1:])
