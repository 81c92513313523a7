"""Pictures for the gallery, as SVG: what a task of a kernel reads and writes, drawn from the kernel's own text, and measured
ratios as bars. Colours follow the page's scheme."""
import html
import re

PARTS = 4  # pieces into which a dimension is drawn
WIDE, HIGH, GAP = 120, 92, 28
NOW, SWEPT, RESULT = "var(--md-primary-fg-color)", "var(--md-primary-fg-color--light)", "var(--md-accent-fg-color)"
HEAD = re.compile(r"kernel (\w+)\((.*?)\)\s*->\s*\((.*?)\)\s*\{", re.S)
PARAM = re.compile(r"(\w+): [\w()*]+\[([^\]]*)\]")
ACCESS = re.compile(r"\b(\w+)\[((?:[^\[\]]|\[[^\]]*\])*)\]")


def kernel_text(source, name):
    """The kernel with the comment above it."""
    lines = source.split("\n")
    begin = next(n for n, line in enumerate(lines) if re.match(rf"kernel {name}\(", line))
    end = next(n for n in range(begin, len(lines)) if lines[n] == "}")
    while begin and lines[begin - 1].startswith("//"):
        begin -= 1
    return "\n".join(lines[begin:end + 1])


def ranges_of(text):
    """Name -> `one` position, a `tile`, `all` of a dimension, or the tiles that a loop takes in turn: `loop`."""
    found = {}
    for part in re.search(r"\beach ([^{]*)\{", text)[1].split(","):
        name, size = re.match(r"\s*(\w+)(?:: ((?:fixed )?\S+))? (?:of|in)", part).groups()
        found[name] = "one" if size is None else "all" if size == "*" else "tile"
    for name, size in re.findall(r"\bfor (\w+)(?:: ((?:fixed )?\S+))? (?:of|in)", text):
        found[name] = "loop"
    return found


def split_subscripts(text):
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text + ","):
        depth += letter in "([" or -(letter in ")]")
        if letter == "," and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return parts


def kind_of(subscript, ranges):
    kinds = [ranges[word] for word in re.findall(r"[a-z_]\w*", subscript, re.I) if word in ranges]
    return next((k for k in ("loop", "tile", "all", "one") if k in kinds), "one")


def accesses_of(text):
    """(tensor, subscripts, is a result), each once."""
    _, takes, gives = HEAD.search(text).groups()
    results = {name for name, _ in PARAM.findall(gives)}
    tensors = {name for name, _ in PARAM.findall(takes)} | results
    body = re.sub(r"//.*", "", text[HEAD.search(text).end():])
    seen = {}
    for name, subscripts in ACCESS.findall(body):
        if name in tensors:
            seen.setdefault((name, subscripts), (name, split_subscripts(subscripts), name in results))
    return list(seen.values())


def pieces(kind, length):
    """(begin, length, is what a task has at one time) along a dimension."""
    part = length / PARTS
    if kind == "all":
        return [(0, length, True)]
    if kind == "loop":
        return [(part * k, part, k == 1) for k in range(PARTS)]
    return [(part, part if kind == "tile" else part / 6, True)]


def rect(x, y, w, h, fill, more=""):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" fill="{fill}" {more}/>'


def draw_tensor(x, name, subscripts, is_result, ranges):
    kinds = [kind_of(s, ranges) for s in subscripts][-2:]
    kinds = kinds if len(kinds) == 2 else ["all", *kinds]
    high = HIGH if len(subscripts) > 1 else 18
    out = [rect(x, 12, WIDE, high, "none", 'stroke="currentColor" stroke-opacity=".5"')]
    for top, h, now in pieces(kinds[0], high):
        for left, w, here in pieces(kinds[1], WIDE):
            out.append(rect(x + left, 12 + top, w, h, RESULT if is_result else NOW if now and here else SWEPT,
                            'fill-opacity=".85"' if now and here else 'fill-opacity=".35"'))
    words = html.escape(f"{name}[{', '.join(subscripts)}]")
    return "".join(out) + f'<text x="{x + WIDE / 2}" y="{12 + high + 17}" font-size="11" text-anchor="middle" fill="currentColor">{words}</text>'


def tiles_picture(text, most=6):
    ranges, accesses = ranges_of(text), accesses_of(text)
    accesses = [a for a in accesses if not a[2]][:most - 1] + [a for a in accesses if a[2]][:1]
    width = len(accesses) * (WIDE + GAP)
    drawn = "".join(draw_tensor(14 + k * (WIDE + GAP), *access, ranges) for k, access in enumerate(accesses))
    return f'<svg viewBox="0 0 {width} {HIGH + 40}" width="{width}" style="max-width:100%" role="img" aria-label="tiles of a task">{drawn}</svg>'


def ratio_plot(rows, peer):
    """Bars of (words, ratio): the peer's time by ours."""
    scale, most = 300, max(2.0, *(ratio for _, ratio in rows))
    out = []
    for k, (words, ratio) in enumerate(rows):
        y = 6 + 22 * k
        out.append(f'<text x="150" y="{y + 12}" font-size="11" text-anchor="end" fill="currentColor">{html.escape(words)}</text>'
                   + rect(160, y, scale * ratio / most, 15, NOW, 'fill-opacity=".8"')
                   + f'<text x="{166 + scale * ratio / most:.0f}" y="{y + 12}" font-size="11" fill="currentColor">{ratio:.2f}</text>')
    at, high = 160 + scale / most, 22 * len(rows) + 8
    line = f'<line x1="{at:.0f}" x2="{at:.0f}" y1="0" y2="{high}" stroke="currentColor"/>'
    words = f'<text x="{at:.0f}" y="{high + 14}" font-size="11" text-anchor="middle" fill="currentColor">as fast as {html.escape(peer)}</text>'
    return f'<svg viewBox="0 0 560 {high + 22}" width="560" style="max-width:100%" role="img" aria-label="measured">{"".join(out)}{line}{words}</svg>'
