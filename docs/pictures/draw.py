"""usage: draw.py TILEC PASS_TABLE SOURCE OUT: the pictures of these pages, drawn from what TILEC does, from what the table
of passes says of each, and from the texts of layouts and turns on docs/design/layout.md and docs/design/roles.md."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from functools import reduce

INK, LINE, PAPER, TINT, TINT2 = "#1d2733", "#6b7b8c", "#ffffff", "#e3edf7", "#f7e9d7"


class Svg:
    def __init__(self, width, height):
        self.size, self.parts = (width, height), []

    def box(self, x, y, w, h, fill=TINT, line=LINE):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{fill}" stroke="{line}"/>')

    def text(self, x, y, s, size=12, anchor="middle", bold=False):
        weight = ' font-weight="bold"' if bold else ""
        s = s.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}"{weight}>{s}</text>')

    def arrow(self, x, y, x2, y2):
        self.parts.append(f'<line x1="{x}" y1="{y}" x2="{x2}" y2="{y2}" stroke="{INK}" marker-end="url(#tip)"/>')

    def save(self, path):
        w, h = self.size
        tip = f'<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">' \
              f'<path d="M0 0 8 4 0 8z" fill="{INK}"/></marker>'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" ' \
               f'font-family="sans-serif" fill="{INK}">\n<defs>{tip}</defs>\n' \
               f'<rect width="{w}" height="{h}" fill="{PAPER}"/>\n'
        with open(path, "w") as f:
            f.write(head + "\n".join(self.parts) + "\n</svg>\n")


def tilec_says(tilec, *words):
    done = subprocess.run([tilec, "compile", *words], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


# ---- the passes of a target ----

def passes_of(tilec, program, target):
    with tempfile.TemporaryDirectory() as out:
        said = tilec_says(tilec, program, "--target=" + target, "--time-passes", "-o", out)
    return re.findall(r"^ *[\d.]+ ms  (\w+)$", said, re.M)


def words_of(pass_table):
    """Of each pass: its name and what it does, in lines of its box."""
    rows = subprocess.run([pass_table], capture_output=True, text=True, check=True).stdout.splitlines()
    return {name: (name, *textwrap.wrap(about, 18)) for name, about, *_ in (row.split("\t") for row in rows)}


def draw_row(svg, y, steps):
    x = 10
    for i, (name, *about) in enumerate(steps):
        ends = i == 0 or i == len(steps) - 1
        svg.box(x, y, 104, 88, TINT2 if ends else TINT)
        svg.text(x + 52, y + 18, name, 13, bold=True)
        for k, line in enumerate(about):
            svg.text(x + 52, y + 35 + 14 * k, line, 10.5)
        if i + 1 < len(steps):
            svg.arrow(x + 104, y + 44, x + 118, y + 44)
        x += 118


def draw_pipeline(tilec, words, program, path):
    rows = [[words[p] for p in passes_of(tilec, program, t)] for t in ("host", "gfx942")]
    ends = [("C", "a text, a header,", "a manifest"), ("HIP C", "kernels, and C", "that starts them")]
    first = ("front end", "names, types,", "placements;", "calls expanded")
    svg = Svg(20 + 118 * (max(map(len, rows)) + 2) - 14, 250)
    for y, row, end, title in zip((28, 148), rows, ends, ("host", "a GPU")):
        svg.text(10, y - 8, title, 12, "start", True)
        draw_row(svg, y, [first, *row, end])
    svg.save(path)


# ---- the flags of all_gather and a product ----

def draw_flags(tilec, program, path):
    ir = tilec_says(tilec, program, "--emit=ir")
    rows = int(re.search(r"@A_publish\(.*i: auto (\d+) of", ir).group(1))
    tasks = int(re.search(r"signal !0\[#i / (\d+),", ir).group(1))
    blocks = int(re.search(r"wait !0\[#i - (\d+) \* \(#i / \d+\), 0\] from #i / \d+ system", ir).group(1))
    high = int(re.search(r"@matmul\(.*i: auto (\d+) of", ir).group(1))
    assert high == rows * tasks, "a word stands for the rows of one tile"
    svg = Svg(760, 330)
    for y, rank in ((40, 1), (200, 0)):
        svg.text(10, y - 12, f"rank {rank}", 13, "start", True)
        svg.parts.append(f'<line x1="10" y1="{y - 6}" x2="750" y2="{y - 6}" stroke="{LINE}"/>')
    for k in range(tasks):
        svg.box(10 + 44 * k, 44, 42, 34)
        svg.text(31 + 44 * k, 65, str(k), 11)
        svg.arrow(31 + 44 * k, 78, 31 + 44 * k, 96)
    svg.text(10, 112, f"{tasks} tasks of A_publish store {rows} rows of A each and arrive at a counter", 11, "start")
    svg.arrow(14 + 44 * tasks, 61, 420, 61)
    svg.box(420, 44, 150, 34, TINT2)
    svg.text(495, 65, "the last: publish(g)", 11.5)
    svg.text(420, 94, "a release: behind all", 10.5, "start")
    svg.text(420, 107, f"that {tasks} tasks stored", 10.5, "start")
    svg.arrow(560, 78, 560, 204)
    svg.text(568, 148, "the word of these rows on each rank", 11, "start")
    svg.text(568, 162, "a plain store of g", 10.5, "start")
    svg.box(10, 204, 300, 34)
    svg.text(160, 225, "a worker takes the ticket of matmul's tile (i, j)", 11)
    svg.arrow(310, 221, 420, 221)
    svg.box(420, 204, 150, 34, TINT2)
    svg.text(495, 225, "wait(word >= g)", 11.5)
    svg.arrow(570, 221, 600, 221)
    svg.box(600, 204, 150, 34)
    svg.text(675, 225, "c[i, j] = sum a b", 11.5)
    svg.text(420, 254, "an acquire: what the release followed may be read", 10.5, "start")
    svg.text(10, 282, f"Tile i of matmul has {high} rows: row block i % {blocks} of rank i / {blocks}. It waits for that word alone, and then", 11, "start")
    svg.text(10, 298, "reads those rows in that rank's memory. Copy g % 2 of A_sym holds them, so that run g + 1 may be written", 11, "start")
    svg.text(10, 314, "while run g is still read. Nothing is reset between runs: g counts them.", 11, "start")
    svg.save(path)


# ---- layouts ----

def layout_parse(text):
    """<i:32, k:8>{reg: 1k 2k; lane: ..}: extents, and columns as (range -> index) by part of the place."""
    ranges, parts = re.match(r"<(.*?)>\{(.*?)\}", text).groups()
    extent = {r.split(":")[0].strip(): int(r.split(":")[1]) for r in ranges.split(",")}
    columns = {}
    for part in parts.split(";"):
        name, words = part.split(":")
        columns[name.strip()] = [{t.lstrip("0123456789"): int(re.match(r"\d+", t).group()) for t in w.split("^")} for w in words.split()]
    return extent, columns


def index_of(columns, place):
    """The exclusive or of the columns of the bits that are set."""
    index = {}
    for part, at in place.items():
        for bit, column in enumerate(columns[part]):
            for r, v in column.items() if at >> bit & 1 else ():
                index[r] = index.get(r, 0) ^ v
    return index


def draw_operand(svg, text, x0, y0):
    extent, columns = layout_parse(text)
    for lane in range(1 << len(columns["lane"])):
        for reg in range(1 << len(columns["reg"])):
            at = index_of(columns, {"lane": lane, "reg": reg})
            i, k = at.get("i", 0), at.get("k", 0)
            x, y = x0 + 46 * k, y0 + 13 * i
            svg.box(x, y, 46, 13, TINT if lane < 32 else TINT2)
            svg.text(x + 23, y + 10, f"{lane}.{reg}", 9)
    for k in range(extent["k"]):
        svg.text(x0 + 46 * k + 23, y0 - 5, f"k {k}", 10)
    for i in range(extent["i"]):
        svg.text(x0 - 6, y0 + 13 * i + 10, f"i {i}", 9, "end")


def draw_swizzle(svg, text, x0, y0):
    extent, columns = layout_parse(text)
    chunk = {}
    for off in range(reduce(lambda a, b: a * b, extent.values())):
        at = index_of(columns, {"off": off})
        if at.get("k", 0) % 8 == 0:
            chunk[at.get("j", 0), at.get("k", 0) // 8] = off // 8 % 8
    for (j, k), place in chunk.items():
        shade = 246 - 14 * place
        svg.box(x0 + 40 * k, y0 + 26 * j, 40, 26, f"rgb({shade - 12},{shade},250)")
        svg.text(x0 + 40 * k + 20, y0 + 26 * j + 17, str(place), 11)
    for k in range(8):
        svg.text(x0 + 40 * k + 20, y0 - 5, f"k {8 * k}", 10)
    for j in range(extent["j"]):
        svg.text(x0 - 6, y0 + 26 * j + 17, f"j {j}", 10, "end")


def draw_layouts(page, path):
    operand, swizzle = re.findall(r"^ {4}(<.*?>\{.*?\}) b16$", page, re.M)[:2]
    svg = Svg(860, 490)
    svg.text(50, 20, "A of v_mfma_f32_32x32x8_f16: lane.register of each element", 12, "start", True)
    draw_operand(svg, operand, 50, 56)
    svg.text(500, 20, "#swz128<j:8, k:64> of 16-bit elements", 12, "start", True)
    svg.text(500, 36, "the place in its row of 128 bytes of each 16-byte chunk", 11, "start")
    draw_swizzle(svg, swizzle, 520, 66)
    for k, line in enumerate(("Every column has each place once: eight lanes that read", "one k of eight rows meet eight different groups of four banks.",
                              "Without the swizzle all of them would meet one group.")):
        svg.text(500, 304 + 16 * k, line, 11, "start")
    svg.save(path)


# ---- turns of two groups ----

def pieces_of(turns, iterations):
    """For each turn: (piece, iteration, stands in brackets)."""
    listed = [(name, int(shift or 0), inside) for group in re.findall(r"\[[^]]*\]|[A-Z](?:@\d)?", turns)
              for inside in (group[0] == "[",) for name, shift in re.findall(r"([A-Z])(?:@(\d))?", group)]
    last = iterations + max(shift for _, shift, _ in listed)
    return [[(name, turn - shift, inside) for name, shift, inside in listed if 0 <= turn - shift < iterations] for turn in range(last)]


def draw_turns(page, path):
    turns = re.search(r"`turns (\[A .*?)`", page)[1]
    width = {"A": 48, "E": 48, "B": 60}
    svg = Svg(900, 165)
    svg.text(10, 22, f"turns {turns}, three iterations: the number behind a piece is its iteration", 12, "start", True)
    ends, free = {1: 70, 2: 70}, 0
    for pieces in pieces_of(turns, 3):
        for group in ends:
            alone = [piece for piece in pieces if piece[2]]
            x = max(ends[group], free if alone else 0)
            for name, iteration, inside in pieces:
                w = width.get(name, 24)
                svg.box(x, 40 + 50 * (group - 1), w, 36, TINT2 if inside else TINT)
                svg.text(x + w / 2, 62 + 50 * (group - 1), f"{name}{iteration}", 11)
                x += w
                free = x if inside else free
            ends[group] = x
    for group in ends:
        svg.text(10, 62 + 50 * (group - 1), f"group {group}", 12, "start")
    svg.text(70, 152, "orange: products, of one group at a time; blue: arithmetic, at the same time as the products of the other group", 11, "start")
    svg.save(path)


# ---- what is explained ----

def draw_explained(tilec, program, names, out):
    with tempfile.TemporaryDirectory() as made:
        subprocess.run([tilec, "explain", program, "--svg=" + made], check=True)
        for name in names:
            shutil.copy(os.path.join(made, name), out)


def main(tilec, pass_table, source, out):
    os.makedirs(out, exist_ok=True)
    gathered = os.path.join(source, "examples/ag_gemm.tile")
    draw_pipeline(tilec, words_of(pass_table), os.path.join(source, "examples/softmax.tile"), os.path.join(out, "pipeline.svg"))
    draw_flags(tilec, gathered, os.path.join(out, "flags.svg"))
    draw_explained(tilec, gathered, ("ag_gemm.dataflow.svg", "ag_gemm.taxes.svg"), out)
    with open(os.path.join(source, "docs/design/layout.md")) as f:
        draw_layouts(f.read(), os.path.join(out, "layout.svg"))
    with open(os.path.join(source, "docs/design/roles.md")) as f:
        draw_turns(f.read(), os.path.join(out, "turns.svg"))


main(*sys.argv[1:])
