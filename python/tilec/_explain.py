"""What `tilec explain` says: as a text that notebooks show as a page, and as numbers."""
from __future__ import annotations

import html
import re
from typing import NamedTuple

KERNEL = re.compile(r"^model: '(?P<name>[^']+)': (?P<us>[\d.e+-]+) us[^:]*: (?P<tasks>\d+) tasks?(?P<rest>.*)$", re.MULTILINE)
PROGRAM = re.compile(r"^model: program (?P<name>\S+): (?P<us>[\d.e+-]+) us", re.MULTILINE)
COUNT = re.compile(r", ([\d.e+-]+) ([a-z ]+)")
TITLES = {"taxes": "Removed", "model": "Predicted", "tune": "Other sizes", "program": "Kernels"}


class KernelCost(NamedTuple):
    """Of one kernel; `seconds` on the host are those of one core. `counts`: "flop in products", "bytes" and others."""
    name: str
    seconds: float
    tasks: int
    counts: dict[str, float]


class Cost(NamedTuple):
    """Predicted time of a program, on the host on one core, and of its kernels."""
    seconds: float
    kernels: list[KernelCost]

    @classmethod
    def read(cls, text: str) -> Cost:
        """Of what `tilec explain` prints about one program."""
        kernels = [KernelCost(m["name"], float(m["us"]) * 1e-6, int(m["tasks"]),
                              {what: float(n) for n, what in COUNT.findall(m["rest"])}) for m in KERNEL.finditer(text)]
        total = PROGRAM.search(text)
        return cls(float(total["us"]) * 1e-6 if total else 0.0, kernels)


class Explanation(str):
    """The lines of `tilec explain`; in a notebook a page."""
    program: str

    def __new__(cls, text: str, program: str) -> Explanation:
        self = super().__new__(cls, text)
        self.program = program
        return self

    def sections(self) -> dict[str, list[str]]:
        """Lines by what they tell about: passes' decisions first."""
        parts: dict[str, list[str]] = {}
        for line in self.splitlines():
            word = re.match(r"(taxes|model|tune|program)\b", line)
            parts.setdefault(TITLES[word[1]] if word else "Decided", []).append(line)
        return parts

    def _repr_html_(self) -> str:
        rows = [f"<p><code>{html.escape(self.program)}</code></p>"]
        for name, lines in self.sections().items():
            text = html.escape("\n".join(lines))
            rows.append(f"<details open><summary><b>{name}</b></summary>"
                        f"<pre style='white-space:pre-wrap'>{text}</pre></details>")
        return "".join(rows)
