"""usage: faults.py PAGE: writes a page with a fault of each kind that prose.py finds, and with what it must let pass."""
import sys

LINES = [
    "x" * 121,
    "",
    "word " * 20 + "end.",
    "word " * 19 + "end. " + "word " * 19 + "end. " + "word " * 19 + "end.",
    "",
    "* [a](nowhere.md), [b](reference/glossary.md#no-such-word), [c](reference/glossary.md#task)",
    "* `ir/nothing.c`, `vanished.h`, `ir/here.c`, `ir/NAME.c`, `ir/*.c`",
    "* a **private word**, a **task**",
    "",
    "**A title.** " + "word " * 20 + "end. Of two the first. It is so. What is, is. A list: it is " + "word " * 20 + "end (" + "aside " * 9 + ").",
    "",
    "word " * 26,
    "",
    "| " + "table " * 30 + "|",
    "",
    "    $ tilec explain page.tile",
    "    " + "printed " * 20,
]

with open(sys.argv[1], "w", encoding="utf-8") as f:
    f.write("\n".join(line.rstrip() for line in LINES) + "\n")
