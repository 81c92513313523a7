"""The marks of docs/gallery.md, `<!-- show FILE PROGRAM KERNEL [WORK] -->`: the kernel's source, a picture of its tiles, the text
emitted for an H200, what was measured of WORK in bench/results, and the whole page of `tilec explain --html`."""
import json
import os
import re
import subprocess
import tempfile

from pygments import highlight as colour
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer

import tiles

MARK = re.compile(r"<!-- show (\S+) (\S+) (\S+)(?: \"([^\"]+)\")? -->")
TEXT = re.compile(r"<!-- text (\S+) (\S+) -->")
TARGET = "sm_90a"
SHOWN = 8  # bars at most


def run(source, *words):
    command = os.environ.get("TILEC", os.path.join(source, "build/bin/tilec"))
    done = subprocess.run([command, *words], cwd=source, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"tilec {' '.join(words)}: {done.stderr.strip()}")


def source_of_kernel(source, file, kernel):
    """The text of a kernel of a file, or of the library."""
    library = os.path.join(source, "frontend/std")
    for path in [os.path.join(source, file), *(os.path.join(library, name) for name in sorted(os.listdir(library)))]:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if re.search(rf"^kernel {kernel}\(", text, re.M):
            return os.path.relpath(path, source), text
    raise LookupError(f"no kernel {kernel} in {file} or the library")


def emitted(source, file, program):
    with tempfile.TemporaryDirectory() as out:
        run(source, "compile", file, "--program=" + program, "--target=" + TARGET, "-o", out)
        with open(os.path.join(out, f"{program}_{TARGET}.hip"), encoding="utf-8") as f:
            return colour(f.read(), CppLexer(), HtmlFormatter(cssclass="highlight"))


def peer_of(row):
    """(peer, its time by ours) of the fastest peer of a result; None: it has none."""
    if row.get("peers_us"):
        return min(((name, us / row["ours_us"]) for name, us in row["peers_us"].items()), key=lambda p: p[1])
    return (row["peer"], row["ratio"]) if row.get("ratio") and row.get("peer") else None


def measured(source, work):
    """The latest ratio of each shape, and the peer."""
    rows, peer = {}, ""
    with open(os.path.join(source, "bench/results/gpu.jsonl"), encoding="utf-8") as f:
        for row in map(json.loads, f):
            if row.get("work") == work and peer_of(row):
                peer, rows[row["shape"]] = peer_of(row)
    return list(rows.items())[:SHOWN], peer


def expand(found, source):
    file, program, kernel, work = found.groups()
    path, text = source_of_kernel(source, file, kernel)
    own = tiles.kernel_text(text, kernel)
    parts = [f"`{path}`:", "\n".join("    " + line for line in [":::tile", *own.split("\n")]),
             "What a task reads and writes; what loops pass over is lighter:", tiles.tiles_picture(own)]
    if work:
        parts += ["Measured on an H200; bars are the peer's time by ours:", tiles.ratio_plot(*measured(source, work))]
    parts += [f"<!-- text {file} {program} -->",
              f"<p><a href=\"explained/{program}.html\">Dataflow, times, source beside text</a> of <code>{file}</code>.</p>"]
    return "\n\n".join(parts)


def expand_all(markdown, source):
    return MARK.sub(lambda found: expand(found, source), markdown)


def expand_texts(page, source):
    """In HTML: Markdown takes seconds over long texts that are coloured."""
    return TEXT.sub(lambda found: f"<details><summary>The text for {TARGET}</summary>{emitted(source, *found.groups())}</details>", page)


def write_pages(source, site):
    """The pages of `explain` that the gallery links to."""
    with open(os.path.join(source, "docs/gallery.md"), encoding="utf-8") as f:
        marks = MARK.findall(f.read())
    os.makedirs(os.path.join(site, "explained"), exist_ok=True)
    for file, program, _, _ in marks:
        run(source, "explain", file, "--program=" + program, "--target=" + TARGET, "--html=" + os.path.join(site, "explained", program + ".html"))
