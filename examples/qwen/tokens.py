"""Byte-level BPE from tokenizer.json, as Qwen's and Llama 3's tokenizers have it."""
import functools
import json
import re
import sys
import unicodedata

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


@functools.cache
def characters_of(category):
    """The ranges of a Unicode category, as the inside of a class of a regular expression."""
    text, first = [], None
    for i in range(sys.maxunicode + 2):
        inside = i <= sys.maxunicode and unicodedata.category(chr(i)).startswith(category)
        if inside and first is None:
            first = i
        elif not inside and first is not None:
            text.append(f"\\U{first:08x}-\\U{i - 1:08x}")
            first = None
    return "".join(text)


def pattern_of(text):
    """A pattern of Oniguruma for Python, which has no \\p{L}."""
    out, depth = [], 0
    for part in re.findall(r"\\p\{\w+\}|\\.|\[|\]|[^\\\[\]]+", text, re.S):
        depth += (part == "[") - (part == "]")
        if part.startswith("\\p"):
            ranges = characters_of(part[3:-1])
            part = ranges if depth else f"[{ranges}]"
        out.append(part)
    return re.compile("".join(out))


def byte_names():
    """The character that stands for each byte: printable ones for themselves, others from 256 on."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [b for b in range(256) if b not in shown]
    return {**{b: chr(b) for b in shown}, **{b: chr(256 + i) for i, b in enumerate(hidden)}}


def wanted(path, what, got, *known):
    if got not in known:
        raise ValueError(f"{path}: {what} is {got!r}; known are {', '.join(map(repr, known))}")


class Tokenizer:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            j = json.load(f)
        model = j["model"]
        wanted(path, "the model's type", model["type"], "BPE")
        wanted(path, "byte_fallback", bool(model.get("byte_fallback")), False)
        wanted(path, "the normalizer", (j.get("normalizer") or {}).get("type"), None, "NFC")
        self.nfc = bool(j.get("normalizer"))
        self.ids = dict(model["vocab"])
        pairs = (tuple(m.split(" ")) if isinstance(m, str) else tuple(m) for m in model["merges"])
        self.rank = {pair: i for i, pair in enumerate(pairs)}
        self.whole = bool(model.get("ignore_merges"))  # words of the vocabulary are not merged from bytes
        self.split = self.read_split(path, j.get("pre_tokenizer") or {})
        self.special = {t["content"]: t["id"] for t in j.get("added_tokens", [])}
        longest_first = sorted(self.special, key=len, reverse=True)
        self.apart = re.compile("(" + "|".join(map(re.escape, longest_first)) + ")") if longest_first else None
        self.byte = byte_names()
        back = {c: b for b, c in self.byte.items()}
        self.bytes_of = {i: bytes(back[c] for c in piece) for piece, i in self.ids.items() if piece not in self.special}
        self.bytes_of.update({i: text.encode() for text, i in self.special.items()})
        self.size = max(self.bytes_of) + 1

    @staticmethod
    def read_split(path, pre):
        """Splits by a pattern, then bytes; or bytes that split by GPT-2's pattern."""
        steps = pre.get("pretokenizers", [pre])
        wanted(path, "the pre-tokenizer's last step", steps[-1].get("type"), "ByteLevel")
        wanted(path, "add_prefix_space", bool(steps[-1].get("add_prefix_space")), False)
        patterns = []
        for step in steps[:-1]:
            wanted(path, "a step of the pre-tokenizer", step.get("type"), "Split")
            wanted(path, "the behaviour of a split", step.get("behavior"), "Isolated")
            patterns.append(pattern_of(step["pattern"].get("Regex") or re.escape(step["pattern"]["String"])))
        if steps[-1].get("use_regex", True):
            patterns.append(pattern_of(GPT2))
        return patterns

    def words(self, text):
        parts = [text]
        for pattern in self.split:
            parts = [piece for part in parts for piece in self.isolated(pattern, part)]
        return parts

    @staticmethod
    def isolated(pattern, text):
        """Matches, and what lies between them."""
        at = 0
        for m in pattern.finditer(text):
            if m.start() > at:
                yield text[at:m.start()]
            if m.end() > m.start():
                yield m.group()
            at = m.end()
        if at < len(text):
            yield text[at:]

    def merged(self, word):
        """Numbers of a word's pieces: of all neighbours the pair of least rank becomes one piece, until none is left."""
        pieces = [self.byte[b] for b in word.encode("utf-8", "replace")]
        if self.whole and "".join(pieces) in self.ids:
            return [self.ids["".join(pieces)]]
        while len(pieces) > 1:
            best = min(zip(pieces, pieces[1:]), key=lambda pair: self.rank.get(pair, len(self.rank)))
            if best not in self.rank:
                break
            joined, i = [], 0
            while i < len(pieces):
                pair = tuple(pieces[i:i + 2])
                joined.append("".join(pair) if pair == best else pieces[i])
                i += 2 if pair == best else 1
            pieces = joined
        return [self.ids[p] for p in pieces]

    def encode(self, text):
        found = []
        for part in self.apart.split(text) if self.apart else [text]:
            if part in self.special:
                found.append(self.special[part])
                continue
            part = unicodedata.normalize("NFC", part) if self.nfc else part
            for word in self.words(part):
                found += self.merged(word)
        return found

    def decode_bytes(self, ids):
        return b"".join(self.bytes_of.get(i, b"") for i in ids)

    def decode(self, ids):
        return self.decode_bytes(ids).decode("utf-8", "replace")
