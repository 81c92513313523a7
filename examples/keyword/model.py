"""The network of keyword.tile: its tensors, their files, what it computes in numpy, and its fixed point."""
import json
import struct

import numpy as np

CHANNELS, HIDDEN, NODES, CLASSES, PLACES = 64, 48, 7, 12, 125
FIRST = 8.0  # features are divided by it while training
CODES = {"B1": (HIDDEN, 40), "C1": (CHANNELS, HIDDEN)}
SCALES = {"a1": (HIDDEN,), "c1": (CHANNELS,)}
BIASES = {"b1": (CHANNELS,)}
for layer in ("2", "3"):
    CODES.update({"D" + layer: (3, 3, CHANNELS), "B" + layer: (HIDDEN, CHANNELS), "C" + layer: (CHANNELS, HIDDEN)})
    SCALES.update({"d" + layer: (CHANNELS,), "a" + layer: (HIDDEN,), "c" + layer: (CHANNELS,)})
    BIASES.update({"e" + layer: (CHANNELS,), "b" + layer: (CHANNELS,)})
CODES.update({"W": (NODES, CLASSES, CHANNELS), "V": (NODES, CLASSES, CHANNELS)})
THETA = (3, CHANNELS)
LAYERS = {"2": "two.", "3": "three."}
NAMES = {np.dtype(np.float32): "F32", np.dtype(np.int8): "I8", np.dtype(np.int16): "I16", np.dtype(np.int32): "I32"}


def save(path, tensors):
    """A safetensors file."""
    header, at = {}, 0
    for name, t in tensors.items():
        header[name] = {"dtype": NAMES[t.dtype], "shape": list(t.shape), "data_offsets": [at, at + t.nbytes]}
        at += t.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(np.ascontiguousarray(t).tobytes() for t in tensors.values()))


def load(path):
    with open(path, "rb") as file:
        whole = file.read()
    size = struct.unpack_from("<Q", whole)[0]
    types = {name: dtype for dtype, name in NAMES.items()}
    out = {}
    for name, t in json.loads(whole[8:8 + size]).items():
        begin, end = t["data_offsets"]
        out[name] = np.frombuffer(whole[8 + size + begin:8 + size + end], types[t["dtype"]]).reshape(t["shape"])
    return out


def stored(latent, ternary):
    """Codes and scales by the names of keyword.tile: what codes were multiplied by in training goes into scales."""
    w, size, out = latent, {}, {}
    for name in CODES:
        codes, size[name] = ternary(w[name])
        w[name] = codes.astype(np.int8)
    for layer, prefix in (("1", ""), *LAYERS.items()):
        to = (lambda name: name + "1") if layer == "1" else (lambda name, prefix=prefix: prefix + name)
        if layer != "1":
            out[to("D")], out[to("e")] = w["D" + layer][None], w["e" + layer]
            out[to("d")] = w["d" + layer][None] * size["D" + layer]
        out[to("B")], out[to("C")], out[to("b")] = w["B" + layer], w["C" + layer], w["b" + layer]
        out[to("a")] = w["a" + layer] * size["B" + layer] / (FIRST if layer == "1" else 1)
        out[to("c")] = w["c" + layer] * size["C" + layer]
    out["B1"] = out["B1"].reshape(HIDDEN, 10, 4, 1)
    most = np.abs(w["theta"]).max(1, keepdims=True)
    out |= {"W": w["W"], "V": w["V"], "theta": np.round(127 * w["theta"] / most).astype(np.int8)}
    out["sigma"] = np.float32(size["V"]).reshape(())
    return {name: t if t.dtype == np.int8 else t.astype(np.float32) for name, t in out.items()}


# ---- what is computed, for the ranges of its values ----


def layers(w, x):
    """Every tensor between two products, by the name of the weight that makes it; the last one is z."""
    wide = np.pad(x, ((0, 0), (4, 5), (1, 1)))
    y = np.lib.stride_tricks.sliding_window_view(wide, (10, 4), axis=(1, 2))[:, ::2, ::2].reshape(-1, 40)
    out = {"x": x}
    for prefix, suffix in (("", "1"), ("two.", ""), ("three.", "")):
        if prefix:
            image = np.pad(y.reshape(-1, 25, 5, CHANNELS), ((0, 0), (1, 1), (1, 1), (0, 0)))
            D = w[prefix + "D"][0].astype(np.float32)
            y = sum(image[:, u:u + 25, v:v + 5] * D[u, v] for u in range(3) for v in range(3)).reshape(y.shape)
            y = out[prefix + "d"] = np.maximum(y * w[prefix + "d"][0] + w[prefix + "e"], 0)
        B, C = (w[prefix + name + suffix].reshape(len(w[prefix + name + suffix]), -1).astype(np.float32) for name in "BC")
        y = out[prefix + "a" + suffix] = y @ B.T * w[prefix + "a" + suffix]
        y = out[prefix + "c" + suffix] = np.maximum(y @ C.T * w[prefix + "c" + suffix] + w[prefix + "b" + suffix], 0)
    out["z"] = y.reshape(len(x), PLACES, CHANNELS).mean(1)
    out["w"] = np.einsum("nd,kld->nkl", out["z"], w["W"].astype(np.float32))
    return out


# ---- fixed point ----


def point(values, most, ratio=None, before=0):
    """Bits behind the point: as many as the values allow, and a scale below 1. In 8 bits one value of 200 is cut."""
    bits = int(np.floor(np.log2(most / np.quantile(np.abs(values), 1 if most > 127 else 0.995))))
    while ratio is not None and np.abs(ratio).max() * 2.0 ** (bits - before) >= 1:
        bits -= 1
    return bits


def scale(ratio, shift):
    s = np.round(np.float64(ratio) * 2.0 ** shift)
    assert np.abs(s).max() <= 32767, "a scale does not fit 16 bits"
    return s.astype(np.int16)


def fixed(w, seen, kind):
    """Weights for q7 or q15, by the values that the network has for `seen`; and the bits behind the point of x."""
    most, x_point, more, shift = (127, 4, 7, 9) if kind == "q7" else (32767, 12, 3, 12)
    values, out, at = layers(w, seen), {}, x_point

    def bias(b, c):
        return np.clip(np.round(b / c * 2.0 ** at), -2 ** 30, 2 ** 30).astype(np.int32)

    def step(name, ratio, add=None, add_name=None):
        nonlocal at
        to = point(values[name], most, ratio, at)
        if add is not None:
            out[add_name] = bias(add, ratio)
        out[name] = scale(ratio * 2.0 ** (to - at), 15)
        at = to

    for prefix, suffix in (("", "1"), ("two.", ""), ("three.", "")):
        if prefix:
            out[prefix + "D"] = w[prefix + "D"][0]
            step(prefix + "d", w[prefix + "d"][0], w[prefix + "e"], prefix + "e")
        for name in "BC":
            out[prefix + name + suffix] = w[prefix + name + suffix]
        step(prefix + "a" + suffix, w[prefix + "a" + suffix])
        step(prefix + "c" + suffix, w[prefix + "c" + suffix], w[prefix + "b" + suffix], prefix + "b" + suffix)
    out |= {name: w[name] for name in ("W", "V", "theta")}
    at += more  # of z, the mean
    first = 2.0 ** (point(values["w"], 32767) - at)
    while first * 2 ** shift > 32767:
        first /= 2
    out["sw"] = np.full((NODES, CLASSES), scale(first, shift), np.int16)
    out["sv"] = np.full((NODES, CLASSES), scale(w["sigma"] * 2.0 ** (12 - at), shift), np.int16)
    out["none"] = np.zeros(HIDDEN, np.int32)
    out["tanh"] = np.round(32767 * np.tanh(np.arange(-128, 129) / 16)).astype(np.int16)
    return out, x_point


def fixed_input(x, kind, x_point):
    most, dtype = (127, np.int8) if kind == "q7" else (32767, np.int16)
    return np.clip(np.round(x * 2.0 ** x_point), -most - 1, most).astype(dtype)[..., None]
