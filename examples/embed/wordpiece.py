"""BERT's tokenizer for lower case: text is cleaned and split at spaces and punctuation, words into the longest pieces."""
import re
import unicodedata

MOST = 100  # characters of a word; a longer one is unknown
SPECIAL = re.compile(r"(\[(?:UNK|SEP|PAD|CLS|MASK)\])")
# Blocks of CJK ideographs, which are words each.
IDEOGRAPHS = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
              (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F))


def is_punctuation(c):
    return (c.isascii() and c.isprintable() and not c.isalnum() and c != " ") or unicodedata.category(c).startswith("P")


def clean(text):
    """Without control characters and accents, in lower case; ideographs stand alone."""
    kept = []
    for c in text:
        if c in "\t\n\r" or c.isspace():
            kept.append(" ")
        elif c not in "\0\ufffd" and not unicodedata.category(c).startswith("C"):
            kept.append(f" {c} " if any(a <= ord(c) <= b for a, b in IDEOGRAPHS) else c)
    plain = unicodedata.normalize("NFD", "".join(kept))
    return "".join(c.lower() for c in plain if unicodedata.category(c) != "Mn")


def words_of(text):
    for part in clean(text).split():
        word = ""
        for c in part:
            if not is_punctuation(c):
                word += c
                continue
            if word:
                yield word
            yield c
            word = ""
        if word:
            yield word


class WordPiece:
    """A vocabulary: a file with a piece on each line, whose number is the line's."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.ids = {line.rstrip("\n"): i for i, line in enumerate(f)}
        missing = [name for name in ("[UNK]", "[CLS]", "[SEP]") if name not in self.ids]
        if missing:
            raise ValueError(f"{path}: {missing[0]} is missing")

    def pieces(self, word):
        """Numbers of the longest pieces from the left; one that is unknown makes the word so."""
        found, begin = [], 0
        while begin < len(word):
            end = len(word)
            while end > begin and ("##" if begin else "") + word[begin:end] not in self.ids:
                end -= 1
            if end == begin or len(word) > MOST:
                return [self.ids["[UNK]"]]
            found.append(self.ids[("##" if begin else "") + word[begin:end]])
            begin = end
        return found

    def encode(self, text, most):
        """Numbers of a text's pieces between [CLS] and [SEP], at most so many."""
        found = []
        for part in SPECIAL.split(text):
            if SPECIAL.fullmatch(part):
                found.append(self.ids.get(part, self.ids["[UNK]"]))
            else:
                found += [i for word in words_of(part) for i in self.pieces(word)]
        return [self.ids["[CLS]"], *found[:most - 2], self.ids["[SEP]"]]
