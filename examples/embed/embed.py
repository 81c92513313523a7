"""usage: embed.py FOLDER SENTENCE..: how alike sentences are, by a BERT encoder such as all-MiniLM-L6-v2.

FOLDER has config.json, model.safetensors and vocab.txt, as sentence-transformers keeps them. embed.tile is the model."""
import math
import os
import sys

if __name__ == "__main__" and (len(sys.argv) < 3 or sys.argv[1] in ("-h", "--help")):  # needs no package
    print(__doc__)
    sys.exit("--help" not in sys.argv and "-h" not in sys.argv)

import numpy as np
import tilec

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(HERE, "..", "common")]
import config
import tensors
import wordpiece

MOST_SENTENCES, MOST_TOKENS = 64, 256  # of a call: B of embed.tile; of a sentence, as the model was trained
SIZES = ("hidden_size", "num_attention_heads", "num_hidden_layers", "intermediate_size", "vocab_size", "max_position_embeddings")
ATTENTION = "attention.self."
LAYER = {"qkv": (ATTENTION + "query", ATTENTION + "key", ATTENTION + "value"), "out": ("attention.output.dense",),
         "up": ("intermediate.dense",), "down": ("output.dense",), "norm1": ("attention.output.LayerNorm",),
         "norm2": ("output.LayerNorm",)}


def aligned(x):
    """A copy that begins with a line of the cache, which vectors should not straddle."""
    room = np.empty(x.size + 16, "f4")
    first = -room.ctypes.data % 64 // 4
    y = room[first:first + x.size].reshape(x.shape)
    y[...] = x
    return y


def weights_of(folder, layers, columns):
    """The record `weights` of embed.tile: matrices and vectors of all layers behind each other, matrices in panels."""
    stored = tensors.load(os.path.join(folder, "model.safetensors"))
    w = {"words": stored["embeddings.word_embeddings.weight"], "positions": stored["embeddings.position_embeddings.weight"],
         "types": stored["embeddings.token_type_embeddings.weight"][0], "norm": stored["embeddings.LayerNorm.weight"],
         "norm_bias": stored["embeddings.LayerNorm.bias"]}
    for name, parts in LAYER.items():
        for field, kind in ((name, "weight"), (name + "_bias", "bias")):
            x = np.stack([np.concatenate([stored[f"encoder.layer.{i}.{part}.{kind}"] for part in parts])
                          for i in range(layers)])
            if x.ndim == 3:  # rows of inputs become columns of panels
                x = x.reshape(layers, -1, columns, x.shape[2]).swapaxes(2, 3)
            elif "norm" not in name:
                x = x.reshape(layers, -1, columns)
            w[field] = x
    return {name: aligned(x) for name, x in w.items()}


class Embedder:
    """A model in a folder. `workers` are threads, 0 for all cores."""

    def __init__(self, folder, workers=0):
        c = config.read(os.path.join(folder, "config.json"), SIZES)
        d, heads = c["hidden_size"], c["num_attention_heads"]
        self.tokens = wordpiece.WordPiece(os.path.join(folder, "vocab.txt"))
        columns = math.gcd(64, d, c["intermediate_size"])
        self.weights = weights_of(folder, c["num_hidden_layers"], columns)
        self.most = min(MOST_TOKENS, c["max_position_embeddings"])
        self.program = tilec.load(os.path.join(HERE, "embed.tile"), workers=workers, L=c["num_hidden_layers"], D=d,
                                  F=c["intermediate_size"], H=heads, E=d // heads, C=columns, V=c["vocab_size"],
                                  P=c["max_position_embeddings"])

    def arguments(self, sentences):
        """Tokens of all sentences, places in them, and where each sentence begins."""
        rows = [self.tokens.encode(s, self.most) for s in sentences]
        at = [np.arange(len(row), dtype="i4") for row in rows]
        return np.concatenate(rows).astype("i4"), np.concatenate(at), np.cumsum([0, *map(len, rows)], dtype="i4")

    def embed(self, sentences):
        """Unit vectors, one for each sentence."""
        parts = [self.program(*self.arguments(sentences[i:i + MOST_SENTENCES]), self.weights)
                 for i in range(0, len(sentences), MOST_SENTENCES)]
        return np.concatenate(parts) if parts else np.zeros((0, self.weights["norm"].size), "f4")


def main(words):
    folder, *sentences = words
    try:
        y = Embedder(folder).embed(sentences)
    except (OSError, ValueError) as e:
        sys.exit(f"embed.py: {e}")
    for sentence, row in zip(sentences, y @ y.T):
        print(" ".join(f"{x:6.3f}" for x in row), " " + sentence)


if __name__ == "__main__":
    main(sys.argv[1:])
