"""usage: fill.py TILEC PASS_TABLE [--check]: writes into the pages of the passes what the compiler says: the index of
docs/passes.md, and in docs/passes/NAME.md the text behind each of these marks. --check compares and changes nothing.

    <!-- program OPTIONS -->     a program, written by hand; what follows is of it, compiled with these options
    <!-- before NAMES -->        its IR before the pass: the kernels and programs of these names; `head`: what precedes
    <!-- after NAMES -->         its IR after the pass
    <!-- remarks -->             what `tilec explain` says of the pass
    <!-- steps -->               a table of its steps: what each does, needs and gives
    <!-- facts -->               a table of what holds between them
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

DOCS = pathlib.Path(__file__).resolve().parent.parent
MARK = re.compile(r"(<!-- (program|before|after|remarks) ?(.*?) -->\n\n)((?: {4}.*\n|\n)*)")
INDEX = re.compile(r"(<!-- index -->\n\n)((?:\|.*\n)*)\n*")
TABLE = re.compile(r"(<!-- (steps|facts) -->\n\n)((?:\|.*\n)*)\n*")
WIDTH = 116


def output_of(*words, cwd=None):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, cwd=cwd)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout + done.stderr


class Example:
    """A program, compiled: its IR behind each pass, in order, and the remarks."""

    def __init__(self, tilec, name, text, options):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, name + ".tile")
            file.write_text(text)
            words = [file.name, *options.split()]
            written = [w for w in words if not w.startswith("--passes=")]
            source = output_of(tilec, "compile", *written, "--passes=none", "--emit=ir", cwd=folder)
            ends = ["--emit=ir"] if written != words else []  # other passes give no text
            printed = output_of(tilec, "compile", *words, "--print-after=all", "-o", "out", *ends, cwd=folder)
            self.remarks = output_of(tilec, "explain", *words, cwd=folder)
        parts = re.split(r"^// after (\w+)\n", printed, flags=re.M)
        self.passes, self.ir = parts[1::2], [source, *parts[2::2]]


def definitions(ir):
    """Of each name: its text in the module."""
    parts = re.split(r"^(?=kernel @|program @)", ir, flags=re.M)
    bodies = {re.search(r"@([\w.]+)", part)[1]: part.split("\n}\n")[0] + "\n}" for part in parts[1:]}
    return {"head": parts[0].rstrip() or "(nothing)"} | bodies


def wrapped(line):
    if len(line) <= WIDTH:
        return line
    begin, (head, each, tail) = re.match(" *", line)[0], line.strip().partition("each (")
    return "\n".join(textwrap.fill(part, WIDTH, initial_indent=begin + i * 4 * " ", subsequent_indent=begin + 8 * " ",
                                   break_long_words=False, break_on_hyphens=False)
                     for i, part in enumerate([head, each + tail]) if part)


def indented(text):
    lines = "\n".join(map(wrapped, text.split("\n")))
    return textwrap.indent(lines, "    ") + "\n\n"


def page_filled(tilec, name, page):
    example = None

    def block(match):
        nonlocal example
        mark, kind, words, old = match.groups()
        if kind == "program":
            example = Example(tilec, name, textwrap.dedent(old).strip() + "\n", words)
            return match[0]
        if kind == "remarks":
            said = [line for line in example.remarks.split("\n") if f": {name}: " in line]
            return mark + indented("\n".join(said))
        found = definitions(example.ir[example.passes.index(name) + (kind == "after")])
        return mark + indented("\n\n".join(found[w] for w in words.split()))

    return MARK.sub(block, page)


def index_of(pass_table):
    """A row for each pass, in the order of GPUs; what stands in for another comes last."""
    rows = sorted((line.split("\t") for line in output_of(pass_table).splitlines()), key=lambda row: int(row[3] or 99))
    head = "| host | GPU | pass | what it does | refuses the forms |\n|---|---|---|---|---|\n"
    return head + "".join(f"| {host} | {gpu} | [{name}](passes/{name}.md) | {about} | {forms} |\n"
                          for name, about, host, gpu, forms in rows), [row[0] for row in rows]


def tables_of(pass_table):
    """Of each pass with steps: the tables of its page."""
    rows = {"steps": {}, "facts": {}}
    for line in output_of(pass_table, "steps").splitlines():
        name, *cells = line.split("\t")
        rows["steps" if len(cells) > 2 else "facts"].setdefault(name, []).append(cells)
    for cells in (c for steps in rows["steps"].values() for c in steps):
        needs, gives, ends = cells[2:5]
        cells[2:] = [needs, gives + (f"; no longer: {ends}" if ends else "")]
    heads = {"steps": "| step | does | needs | gives |\n|---|---|---|---|\n", "facts": "| fact | holds where |\n|---|---|\n"}
    return {(kind, name): heads[kind] + "".join("| " + " | ".join(cells) + " |\n" for cells in some)
            for kind, passes in rows.items() for name, some in passes.items()}


def main(tilec, pass_table, check=None):
    tilec, different = pathlib.Path(tilec).resolve(), []
    table, names = index_of(pathlib.Path(pass_table).resolve())
    tables = tables_of(pathlib.Path(pass_table).resolve())
    pages = {DOCS / "passes.md": lambda page: INDEX.sub(lambda m: m[1] + table + "\n", page)}
    for name in names:
        pages[DOCS / "passes" / (name + ".md")] = lambda page, name=name: TABLE.sub(
            lambda m: m[1] + tables[m[2], name] + "\n", page_filled(tilec, name, page))
    for path, fill in pages.items():
        old = path.read_text() if path.exists() else sys.exit(f"{path}: a pass without a page")
        new = fill(old)
        if new != old:
            different.append(path.name)
            if not check:
                path.write_text(new)
    strange = {p.stem for p in (DOCS / "passes").glob("*.md")} - set(names)
    print(len(pages), "pages,", len(different), "different:", *different)
    sys.exit(f"pages of no pass: {strange}" if strange else bool(check and different))


main(*sys.argv[1:])
