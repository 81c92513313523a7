"""usage: faults.py PAGE: writes a page with a fault of each kind that prose.py finds, and with what it must let pass."""
import sys

LINES = [
    "x" * 121,
    "",
    "word " * 40,
    "word " * 41,
    "",
    "* [a](nowhere.md), [b](reference/glossary.md#no-such-word), [c](reference/glossary.md#task)",
    "* `ir/nothing.c`, `vanished.h`, `ir/here.c`, `ir/NAME.c`, `ir/*.c`",
    "* a **private word**, a **task**",
    "",
    "**A title.** " + "word " * 30 + "end. Of two the first.",
    "",
    "| " + "table " * 30 + "|",
    "",
    "    $ tilec explain page.tile",
    "    " + "printed " * 20,
]

with open(sys.argv[1], "w", encoding="utf-8") as f:
    f.write("\n".join(line.rstrip() for line in LINES) + "\n")
