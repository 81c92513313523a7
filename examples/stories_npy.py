#!/usr/bin/env python3
"""Turns a llama2.c checkpoint into .npy files: the feed-forward weights of one layer, and the embeddings of a text.

usage: stories_npy.py CHECKPOINT TOKENIZER OUTDIR [--layer N] [--text TEXT]

Writes x.npy [tokens, dim], norm.npy [dim], w1.npy and w3.npy [hidden, dim], w2.npy [dim, hidden], all float32.
The checkpoint: seven int32 (dim hidden layers heads kv_heads vocab seq), then float32 tensors, layers stacked.
"""
import argparse
import os
import struct

import numpy as np


def read_checkpoint(path):
    """Returns the header and the tensors."""
    with open(path, "rb") as file:
        raw = file.read()
    dim, hidden, layers, heads, kv_heads, vocab, seq = header = struct.unpack("7i", raw[:28])
    vocab = abs(vocab)
    kv = dim // heads * kv_heads
    shapes = [("emb", (vocab, dim)), ("norm1", (layers, dim)), ("wq", (layers, dim, dim)), ("wk", (layers, kv, dim)),
              ("wv", (layers, kv, dim)), ("wo", (layers, dim, dim)), ("norm2", (layers, dim)),
              ("w1", (layers, hidden, dim)), ("w2", (layers, dim, hidden)), ("w3", (layers, hidden, dim)),
              ("norm", (dim,))]
    tensors, at = {}, 28
    for name, shape in shapes:
        count = int(np.prod(shape))
        if at + 4 * count > len(raw):
            raise SystemExit(f"{path}: too short for {name} {shape}")
        tensors[name] = np.frombuffer(raw, "<f4", count, at).reshape(shape)
        at += 4 * count
    return header, tensors


def read_tokenizer(path, vocab):
    """Returns the pieces and their merge scores."""
    with open(path, "rb") as file:
        raw = file.read()
    pieces, scores, at = [], [], 4
    for _ in range(vocab):
        score, length = struct.unpack_from("<fi", raw, at)
        pieces.append(raw[at + 8:at + 8 + length])
        scores.append(score)
        at += 8 + length
    return pieces, scores


def encode(text, pieces, scores):
    """Byte-pair encoding: repeatedly merges the neighbours whose union has the best score. Token 1 begins."""
    number = {piece: i for i, piece in enumerate(pieces)}
    tokens = [number.get(c.encode(), 3 + c.encode()[0]) for c in " " + text]
    while True:
        best = None
        for i in range(len(tokens) - 1):
            merged = number.get(pieces[tokens[i]] + pieces[tokens[i + 1]])
            if merged is not None and (best is None or scores[merged] > best[0]):
                best = (scores[merged], i, merged)
        if best is None:
            return [1] + tokens
        tokens[best[1]:best[1] + 2] = [best[2]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("checkpoint")
    parser.add_argument("tokenizer")
    parser.add_argument("outdir")
    parser.add_argument("--layer", type=int, default=0)
    parser.add_argument("--text", default="Once upon a time, there was a little girl named Lily. She loved to play outside.")
    args = parser.parse_args()
    header, tensors = read_checkpoint(args.checkpoint)
    pieces, scores = read_tokenizer(args.tokenizer, abs(header[5]))
    tokens = encode(args.text, pieces, scores)
    arrays = {"x": tensors["emb"][tokens], "norm": tensors["norm2"][args.layer], "w1": tensors["w1"][args.layer],
              "w2": tensors["w2"][args.layer], "w3": tensors["w3"][args.layer]}
    os.makedirs(args.outdir, exist_ok=True)
    for name, array in arrays.items():
        np.save(os.path.join(args.outdir, name + ".npy"), np.ascontiguousarray(array))
    print(len(tokens), "tokens")


if __name__ == "__main__":
    main()
