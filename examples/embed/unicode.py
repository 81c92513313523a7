"""usage: unicode.py FILE: writes tables of characters for wordpiece.c: what each becomes, and of which kind it is."""
import sys
import unicodedata

import wordpiece

HANGUL = range(0xAC00, 0xD7A4)  # syllables, whose parts are computed


def becomes(c):
    """A character without accents, in lower case."""
    plain = unicodedata.normalize("NFD", c)
    return "".join(x.lower() for x in plain if unicodedata.category(x) != "Mn")


def kind(c):
    if c in "\t\n\r" or c.isspace():
        return "SPACE"
    if c in "\0\ufffd" or unicodedata.category(c).startswith("C"):
        return "DROPPED"
    if any(a <= ord(c) <= b for a, b in wordpiece.IDEOGRAPHS):
        return "IDEOGRAPH"
    return "PUNCTUATION" if wordpiece.is_punctuation(c) else "LETTER"


def runs():
    """(first, last, kind) of neighbours that are not letters."""
    found = []
    for i in range(0x110000):
        k = kind(chr(i))
        if found and found[-1][2] == k and found[-1][1] == i - 1:
            found[-1][1] = i
        elif k != "LETTER":
            found.append([i, i, k])
    return found


def main(path):
    with open(path, "w", encoding="ascii") as to:
        to.write(f"/* Characters of Unicode {unicodedata.unidata_version}, made by unicode.py. */\n")
        to.write("static const struct {\n    uint32_t first, last;\n    Kind kind;\n} runs[] = {\n")
        to.writelines(f"    {{{a}, {b}, {k}}},\n" for a, b, k in runs())
        to.write("};\nstatic const struct {\n    uint32_t from, to[4]; /* ended by 0 */\n} changes[] = {\n")
        for i in range(0x110000):
            if i in HANGUL or 0xD800 <= i < 0xE000 or becomes(chr(i)) == chr(i):
                continue
            if len(becomes(chr(i))) > 3:
                raise ValueError(f"U+{i:04X} becomes more than three characters")
            to.write(f"    {{{i}, {{{', '.join([*(str(ord(c)) for c in becomes(chr(i))), '0'])}}}}},\n")
        to.write("};\n")


if __name__ == "__main__":
    main(sys.argv[1])
