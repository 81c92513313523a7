"""usage: embed.py FOLDER SENTENCE..: how alike sentences are, by a BERT encoder such as all-MiniLM-L6-v2.

FOLDER has config.json, model.safetensors and vocab.txt, as sentence-transformers keeps them. embed.tile is the model."""
import json
import os
import sys

import numpy as np
import tensors
import tilec
import wordpiece

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_SENTENCES, MOST_TOKENS = 64, 256  # of a call: B of embed.tile; of a sentence, as the model was trained
LAYER = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
         "out": "attention.output.dense", "norm1": "attention.output.LayerNorm", "up": "intermediate.dense",
         "down": "output.dense", "norm2": "output.LayerNorm"}


def weights_of(folder, layers):
    """The record `weights` of embed.tile: matrices and vectors of all layers behind each other."""
    stored = tensors.load(os.path.join(folder, "model.safetensors"))
    w = {"words": stored["embeddings.word_embeddings.weight"], "positions": stored["embeddings.position_embeddings.weight"],
         "types": stored["embeddings.token_type_embeddings.weight"][0], "norm": stored["embeddings.LayerNorm.weight"],
         "norm_bias": stored["embeddings.LayerNorm.bias"]}
    for name, part in LAYER.items():
        for field, kind in ((name, "weight"), (name + "_bias", "bias")):
            w[field] = np.stack([stored[f"encoder.layer.{i}.{part}.{kind}"] for i in range(layers)])
    return {name: np.require(x, "f4", ["C", "A"]) for name, x in w.items()}  # a file may hold them at odd bytes


class Embedder:
    """A model in a folder. `workers` are threads, 0 for all cores."""

    def __init__(self, folder, workers=0):
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as f:
            c = json.load(f)
        d, heads = c["hidden_size"], c["num_attention_heads"]
        self.tokens = wordpiece.WordPiece(os.path.join(folder, "vocab.txt"))
        self.weights = weights_of(folder, c["num_hidden_layers"])
        self.most = min(MOST_TOKENS, c["max_position_embeddings"])
        self.program = tilec.load(os.path.join(HERE, "embed.tile"), workers=workers, L=c["num_hidden_layers"], D=d,
                                  F=c["intermediate_size"], H=heads, E=d // heads, V=c["vocab_size"],
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
    if len(words) < 2:
        sys.exit(__doc__)
    folder, *sentences = words
    y = Embedder(folder).embed(sentences)
    for sentence, row in zip(sentences, y @ y.T):
        print(" ".join(f"{x:6.3f}" for x in row), " " + sentence)


if __name__ == "__main__":
    main(sys.argv[1:])
