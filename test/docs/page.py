"""usage: page.py [--write] SOURCE BUILD WORK PAGE..: does what pages say, in their order. A block behind a line that ends in
`NAME`: becomes that file; lines behind $ are commands, and what stands below each is what it must print. Takes: pages. Gives:
an error where a command fails or prints something else; with --write the page shows what is printed.

In an output `..` stands for anything, a line of it for any lines. Programs that run print other digits on other machines: their
numbers with a point or an exponent, and their worst element, are not compared. Other commands print the same everywhere."""
import os
import re
import subprocess
import sys

NUMBER = re.compile(r"\d+(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+)|worst \S+\[.*")
EXACT = re.compile(r"tilec (explain|check|opt|targets|--help)\b")


def blocks_of(lines):
    """(line of the page, text before, lines of the block), a block being indented by four; blank lines do not end one, the
    first command does."""
    begin, before = None, ""
    for n, line in enumerate(lines + ["end"]):
        starts = line.startswith("    $ ") and begin is not None and not lines[begin].startswith("    $ ")
        code = line.startswith("    ") and (begin is not None or not n or not lines[n - 1])
        if (code or (not line and begin is not None)) and not starts:
            begin = n if begin is None else begin
            continue
        if begin is not None:
            block = [other[4:] for other in lines[begin:n]]
            while not block[-1]:
                block.pop()
            yield begin, before, block
            begin, before = n if starts else None, ""
        before = line or before


def commands_of(block):
    """[command, line of its output's beginning, output] of a block."""
    commands, continued = [], False
    for n, line in enumerate(block):
        if line.startswith("$ "):
            commands.append([line[2:], n + 1, []])
        elif continued:
            commands[-1][0] += "\n" + line
            commands[-1][1] = n + 1
        else:
            commands[-1][2].append(line)
        continued = line.endswith("\\") and (continued or line.startswith("$ "))
    return commands


def pattern_of(output, exact):
    """The expression that what was printed must match; numbers of runs stand for any number."""
    def literal(text):
        return re.escape(text) if exact else "#".join(re.escape(part) for part in NUMBER.split(text))
    lines = []
    for line in output:
        lines.append("(?:.*\n)*" if line.strip() == ".." else ".*".join(literal(p) for p in line.split("..")) + "\n")
    return re.compile("".join(lines))


def run(command, work, build, source):
    environment = {**os.environ, "PATH": f"{build}/bin:{os.environ['PATH']}", "NO_COLOR": "1"}
    command = re.sub(r"^python3 ", "/usr/bin/python3 ", command)  # the one that has numpy
    done = subprocess.run(command, shell=True, cwd=work, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout


def check(command, output, work, build, source):
    """What the command printed, and what is wrong with it."""
    code, printed = run(command, work, build, source)
    exact, shows_error = EXACT.search(command) is not None, any(": error: " in line for line in output)
    print("$ " + command, printed, sep="\n", end="", flush=True)
    if (code != 0) != shows_error:
        return printed, f"exit code {code}"
    wanted = pattern_of(output, exact)
    if output and not wanted.fullmatch(printed if exact else NUMBER.sub("#", printed)):
        return printed, "prints something else than\n" + "\n".join(output)
    return printed, None


def prepare(work, source, build):
    os.makedirs(work, exist_ok=True)
    for name, target in (("build", build), ("runtime", f"{source}/runtime"), ("examples", f"{source}/examples")):
        if not os.path.lexists(os.path.join(work, name)):
            os.symlink(target, os.path.join(work, name))


def do_page(page, work, build, source, write):
    """The number of things that are wrong with a page."""
    lines, wrong, shift = open(page, encoding="utf-8").read().split("\n"), 0, 0
    for begin, before, block in list(blocks_of(lines)):
        name = re.search(r"`([\w./-]+)`:$", before)
        if name and not block[0].startswith("$ "):
            path = os.path.join(work, name[1])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write("\n".join(block) + "\n")
        if not block[0].startswith("$ "):
            continue
        for command, at, output in commands_of(block):
            printed, error = check(command, output, work, build, source)
            if error and write and output:
                first = begin + shift + at
                shown = ["    " + line if line else "" for line in printed.rstrip("\n").split("\n")]
                lines[first:first + len(output)] = shown
                shift += len(shown) - len(output)
            elif error:
                wrong += 1
                print(f"{os.path.basename(page)}: wrong: $ {command}: {error}", flush=True)
    if write:
        with open(page, "w", encoding="utf-8") as f:
            f.write("\n".join(lines))
    return wrong


def main(words):
    write = "--write" in words
    source, build, work, *pages = [os.path.abspath(w) for w in words if w != "--write"]
    prepare(work, source, build)
    wrong = sum(do_page(page, work, build, source, write) for page in pages)
    print(f"{len(pages)} pages, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main(sys.argv[1:]))
