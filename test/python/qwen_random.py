"""Small random models as files: config.json, safetensors, tokenizer.json."""
import json
import os
import shutil
import struct

import numpy as np

WORDS = ("he", "hel", "hell", "hello", "it", "12")  # pieces that merges make, each of the one before and a byte


def bf16(x):
    return (x.astype("f4").view("u4") >> 16).astype("<u2")


def write(path, arrays, kind):
    header, data = {}, b""
    for name, x in arrays.items():
        raw = (bf16(x) if kind == "BF16" else x.astype("<f4")).tobytes()
        header[name] = {"dtype": kind, "shape": list(x.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def read(folder):
    """All tensors in f64."""
    found = {}
    for file in os.listdir(folder):
        if not file.endswith(".safetensors"):
            continue
        with open(os.path.join(folder, file), "rb") as f:
            length = struct.unpack("<Q", f.read(8))[0]
            header, data = json.loads(f.read(length)), f.read()
        for name, x in header.items():
            a, b = x["data_offsets"]
            part = data[a:b]
            wide = np.frombuffer(part, "<f4") if x["dtype"] == "F32" else (np.frombuffer(part, "<u2").astype("u4") << 16).view("f4")
            found[name] = wide.reshape(x["shape"]).astype("f8")
    return found


def write_tokenizer(path, vocabulary):
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [b for b in range(256) if b not in shown]
    pieces = [*map(chr, shown), *(chr(256 + i) for i in range(len(hidden)))]
    ids = {p: i for i, p in enumerate([*pieces, *WORDS])}
    marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    pattern = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"normalizer": {"type": "NFC"}, "model": {"type": "BPE", "vocab": ids, "merges": ["h e", "he l", "hel l", "hell o", "i t", "1 2"]},
                   "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}]},
                   "added_tokens": [{"id": len(ids) + i, "content": m, "special": True} for i, m in enumerate(marks)]}, f)
    assert len(ids) + len(marks) <= vocabulary


def make(folder, norms=False, bias=False, tied=False, kind="F32", shards=1, groups=2, more=None, seed=3, **config):
    rng = np.random.default_rng(seed)
    layers, d, f, h, e, v = 2, 48, 96, 4, 16, 272
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    c = {"hidden_act": "silu", "hidden_size": d, "intermediate_size": f, "num_hidden_layers": layers, "num_attention_heads": h,
         "num_key_value_heads": groups, "head_dim": e, "vocab_size": v, "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
         "max_position_embeddings": 512, "tie_word_embeddings": tied, "eos_token_id": 263, **config}
    shapes = {"model.embed_tokens.weight": (v, d), "model.norm.weight": (d,), **({} if tied else {"lm_head.weight": (v, d)})}
    for i in range(layers):
        at = f"model.layers.{i}."
        for part, n, k in (("q", h * e, d), ("k", groups * e, d), ("v", groups * e, d), ("o", d, h * e)):
            shapes[f"{at}self_attn.{part}_proj.weight"] = (n, k)
            if bias and part != "o":
                shapes[f"{at}self_attn.{part}_proj.bias"] = (n,)
        shapes.update({f"{at}mlp.{part}_proj.weight": (d, f) if part == "down" else (f, d) for part in ("gate", "up", "down")})
        shapes.update({at + part + ".weight": (d,) for part in ("input_layernorm", "post_attention_layernorm")})
        if norms:
            shapes.update({f"{at}self_attn.{part}_norm.weight": (e,) for part in "qk"})
    shapes.update({name: (n,) for name, n in (more or {}).items()})
    w = {name: rng.standard_normal(s) * (0.2 if len(s) > 1 else 0.1) + (len(s) == 1 and "norm" in name) for name, s in shapes.items()}
    names = list(w)
    for k in range(shards):
        write(os.path.join(folder, f"model-{k}.safetensors"), {name: w[name] for name in names[k::shards]}, kind)
    with open(os.path.join(folder, "config.json"), "w") as to:
        json.dump(c, to)
    write_tokenizer(os.path.join(folder, "tokenizer.json"), v)
    return folder
