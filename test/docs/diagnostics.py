"""usage: diagnostics.py TILEC SOURCE WORK: every id that the compiler reports has a section in docs/reference/diagnostics.md, which
--explain prints, and the example of each section produces its id."""
import glob
import os
import re
import subprocess
import sys


def sections_of(page):
    """Heading to text."""
    return {part.split("\n")[0]: part.partition("\n")[2].strip("\n") for part in page.split("\n## ")[1:]}


def ids_of(source):
    """What stands in a call that reports, and what tests expect where a helper reports."""
    read = lambda path: open(path, encoding="utf-8", errors="replace").read()
    folders = ("frontend", "ir", "passes", "codegen", "driver")
    text = "".join(read(f) for d in folders for f in glob.glob(f"{source}/{d}/**/*.[chyl]", recursive=True))
    ids = set(re.findall(r'diag_(?:error|refuse|warning|perf)\([^"]*"([a-z0-9-]+)"', text))
    for path in glob.glob(f"{source}/test/**/*.t*", recursive=True):
        ids |= {i for i in re.findall(r"(?:error|warning): .*\[([a-z][a-z0-9-]+)\]\s*$", read(path), re.M) if f'"{i}"' in text}
    return ids


def example_of(text):
    """The command and the file."""
    lines = [line[4:] for line in text.split("\n") if line.startswith("    ")]
    command = lines.pop(0)[2:] if lines and lines[0].startswith("$ ") else "tilec check FILE"
    return command, "\n".join(lines) + "\n"


def example_check(folder, name, text):
    command, content = example_of(text)
    path = os.path.join(folder, name + ".tile")
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)
    done = subprocess.run(["bash", "-c", command.replace("FILE", path)], capture_output=True, text=True, errors="replace", cwd=folder)
    if f"[{name}]" not in done.stderr:
        return f"{name}: the example does not produce it:\n{done.stderr}"
    return ""


def main(tilec, source, work):
    folder = os.path.join(work, "examples")
    os.makedirs(folder, exist_ok=True)
    open(os.path.join(work, "outside.tile"), "w", encoding="utf-8").close()
    os.environ["PATH"] = os.path.dirname(tilec) + ":" + os.environ["PATH"]
    sections = sections_of(open(os.path.join(source, "docs/reference/diagnostics.md"), encoding="utf-8").read())
    ids, wrong = ids_of(source), []
    wrong += [f"{i}: has no section in docs/reference/diagnostics.md" for i in sorted(ids - sections.keys())]
    wrong += [f"{i}: nothing reports it" for i in sorted(sections.keys() - ids)]
    wrong += ["sections are not in order"] * (list(sections) != sorted(sections))
    for name, text in sections.items():
        said = subprocess.run([tilec, "--explain=" + name], capture_output=True, text=True)
        if said.stdout.strip("\n") != text:
            wrong.append(f"{name}: --explain says something else: {said.stdout}{said.stderr}")
        if "There is no short example" not in " ".join(text.split()):
            wrong.append(example_check(folder, name, text))
    wrong = [w for w in wrong if w]
    print("\n".join(wrong + [f"{len(sections)} ids, {len(wrong)} wrong"]))


main(*sys.argv[1:])
