"""Models of Qwen3's and Llama's shape, from config.json and safetensors, as the record `weights` of qwen.tile."""
import math
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import config
import tensors

TYPES = ("qwen3", "qwen2", "llama", "mistral")
NEEDED = ("hidden_size", "num_attention_heads", "num_hidden_layers", "intermediate_size", "vocab_size")
KINDS = {"<f4": "f32", "<f2": "f16", "|V2": "bf16"}
PLAIN = {"out": "self_attn.o_proj", "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj",
         "norm1": "input_layernorm", "norm2": "post_attention_layernorm"}


def read_config(folder):
    path = os.path.join(folder, "config.json")
    c = config.read(path, NEEDED)
    for key, known in (("model_type", TYPES), ("hidden_act", ("silu",)), ("use_sliding_window", (None, False))):
        if c.get(key) not in known:
            raise ValueError(f"{path}: {key} is {c.get(key)!r}; known are {', '.join(map(str, known))}")
    if c.get("use_sliding_window") is None and c.get("sliding_window"):
        raise ValueError(f"{path}: sliding_window is {c['sliding_window']}; whole contexts alone are known")
    c.setdefault("head_dim", c["hidden_size"] // c["num_attention_heads"])
    c.setdefault("num_key_value_heads", c["num_attention_heads"])
    return c


def frequencies(c):
    """What a place turns each pair of a head by."""
    rope = c.get("rope_parameters") or c.get("rope_scaling") or {}
    base, kind = rope.get("rope_theta", c.get("rope_theta", 10000.0)), rope.get("rope_type", rope.get("type", "default"))
    f = base ** (-np.arange(0, c["head_dim"], 2) / c["head_dim"])
    if kind == "linear":
        f = f / rope["factor"]
    elif kind == "llama3":  # slow turns are slowed down, fast ones are not, those between them in part
        turns = rope["original_max_position_embeddings"] * f / (2 * math.pi)
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        share = np.clip((turns - low) / (high - low), 0, 1)
        f = f * share + f / rope["factor"] * (1 - share)
    elif kind != "default":
        raise ValueError(f"rope_type {kind!r} is not known: default, linear, llama3")
    return f.astype("f4")


class Stored:
    """The tensors of all files of a folder, in one type of elements; which of them were read."""

    def __init__(self, folder, kind):
        self.folder, self.read, self.all = folder, set(), {}
        files = sorted(name for name in os.listdir(folder) if name.endswith(".safetensors"))
        if not files:
            raise ValueError(f"{folder}: no file NAME.safetensors")
        for name in files:
            self.all.update(tensors.load(os.path.join(folder, name)))
        self.kind = kind or KINDS.get(self.all[min(self.all)].dtype.str)

    def __contains__(self, name):
        return name in self.all

    def take(self, name, *shape):
        if name not in self.all:
            raise ValueError(f"{self.folder}: no tensor '{name}'")
        x = self.all[name]
        if x.shape != shape or x.dtype.str not in KINDS:
            raise ValueError(f"{self.folder}: '{name}' is {x.dtype}{list(x.shape)}, expected {list(shape)} of F32, F16 or BF16")
        self.read.add(name)
        return self.convert(x)

    def convert(self, x):
        was = KINDS[x.dtype.str]
        if was == self.kind:
            return x.view("u2") if was == "bf16" else x
        wide = (x.view("<u2").astype("u4") << 16).view("f4") if was == "bf16" else x.astype("f4")
        if self.kind != "bf16":
            return wide.astype("f4" if self.kind == "f32" else "f2")
        bits = wide.view("u4").astype("u8")
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("u2")

    def zeros(self, *shape):
        return np.zeros(shape, {"f32": "f4", "f16": "f2", "bf16": "u2"}[self.kind])


def aligned(x, kind):
    """A copy that begins with a line of the cache, as the package takes it."""
    room = np.empty(x.nbytes + 64, "u1")
    first = -room.ctypes.data % 64
    y = room[first:first + x.nbytes].view(x.dtype).reshape(x.shape)
    y[...] = x
    return y.view("V2") if kind == "bf16" and x.dtype == "u2" else y


def sizes(c):
    return {"L": c["num_hidden_layers"], "D": c["hidden_size"], "F": c["intermediate_size"], "H": c["num_attention_heads"],
            "G": c["num_key_value_heads"], "E": c["head_dim"], "V": c["vocab_size"]}


def load(folder, c, kind=None):
    """(weights, type of elements, are heads normalised). A tensor that nothing reads is an error: it would change the model."""
    s, n = Stored(folder, kind), sizes(c)
    d, f, e = n["D"], n["F"], n["E"]
    shape = {"out": (d, n["H"] * e), "gate": (f, d), "up": (f, d), "down": (d, f), "norm1": (d,), "norm2": (d,)}
    layers = [f"model.layers.{i}." for i in range(n["L"])]
    heads = (("q", n["H"]), ("k", n["G"]), ("v", n["G"]))

    def bias(at, part, m):
        name = f"{at}self_attn.{part}_proj.bias"
        return s.take(name, m * e) if name in s else s.zeros(m * e)
    w = {name: np.stack([s.take(at + part + ".weight", *shape[name]) for at in layers]) for name, part in PLAIN.items()}
    w["qkv"] = np.stack([np.concatenate([s.take(f"{at}self_attn.{part}_proj.weight", m * e, d) for part, m in heads]) for at in layers])
    w["qkv_bias"] = np.stack([np.concatenate([bias(at, part, m) for part, m in heads]) for at in layers])
    normed = layers[0] + "self_attn.q_norm.weight" in s
    for part in "qk":
        w["norm_" + part] = (np.stack([s.take(f"{at}self_attn.{part}_norm.weight", e) for at in layers]) if normed
                             else s.zeros(n["L"], e))
    w["embed"], w["norm"] = s.take("model.embed_tokens.weight", n["V"], d), s.take("model.norm.weight", d)
    w["head"] = s.take("lm_head.weight", n["V"], d) if "lm_head.weight" in s else w["embed"]
    left = sorted(name for name in s.all if name not in s.read and not name.endswith("rotary_emb.inv_freq"))
    if left:
        raise ValueError(f"{folder}: '{left[0]}' belongs to no model of this shape")
    w = {name: aligned(x, s.kind) for name, x in w.items()}
    return {**w, "frequency": frequencies(c)}, s.kind, normed
