#!/usr/bin/python3
"""Random programs through `tilec run --check`, on the host, on random meshes: every verdict is "agrees", or "not comparable" where
numpy sees NaN or infinities; and a program whose emitted code got one operation wrong differs wherever numpy sees other results.

usage: run_check.py TILEC TILE_RANDOM WORK [--programs=N] [--first=SEED] [--jobs=N] [--seconds=N]"""
import concurrent.futures
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import time

import numpy

# What the C compiler is given instead: one operation of one store is another (INJECT: which of them, by a seed).
COMPILER = """#!/usr/bin/env python3
import os, random, re, subprocess, sys
STORE = re.compile(r"^ +\\w+\\[.*\\] \\+?= (.*);$")
OTHER = {" + ": " - ", " - ": " + ", " * ": " + "}
def places(line):
    m = STORE.match(line)
    depth = 0
    for i in range(m.start(1) if m else len(line), len(line) - 2):
        depth += (line[i] == "[") - (line[i] == "]")
        if depth == 0 and line[i:i + 3] in OTHER: yield i
def inject(path, seed):
    lines = open(path).read().split("\\n")
    found = [(n, i) for n, line in enumerate(lines) for i in places(line)]
    if not found: return
    n, i = random.Random(seed).choice(found)
    lines[n] = lines[n][:i] + OTHER[lines[n][i:i + 3]] + lines[n][i + 3:]
    open(path, "w").write("\\n".join(lines))
for a in sys.argv[1:]:
    if a.endswith(".c") and "INJECT" in os.environ: inject(a, os.environ["INJECT"])
sys.exit(subprocess.run([os.environ["COMPILER"], *sys.argv[1:], "-O1"]).returncode)
"""
LINE = re.compile(r"^generated: (\S+): largest error \S+, bound there [^:]+: (agrees|differs|not comparable)(.*)$", re.M)


def parameters(text):
    """Names of what the program gives: results, and state."""
    head = re.search(r"^program generated\((.*)\) -> \((.*)\) \{$", text, re.M)
    memory = re.search(r"^record memory \{ (.*) \}$", text, re.M)
    names = re.findall(r"state (\w+):", head[1]) + re.findall(r"(\w+):", head[2])
    fields = re.findall(r"(\w+):", memory[1]) if memory else []
    return [n for n in names if n != "s"] + [f"s.{f}" for f in fields]


def coarse_names(text):
    """What may come from 8-bit floats: whole fields, kernels and values of the program, told from the text."""
    coarse = set(re.findall(r"(\w+): f8e", text))
    coarse |= {m[1] for m in re.finditer(r"^kernel (\w+)\(.*?^\}", text, re.M | re.S) if "f8e" in m[0]}
    lines = text[text.index("program generated"):].split("\n")[1:]
    steps = []
    for line in lines:
        if " = " in line:
            steps.append(line.split(" = ", 1))
        elif steps and re.match(r" +(one|other): ", line):  # an arm of `choose`
            steps[-1][1] += line
    while True:
        before = len(coarse)
        for to, value in steps:
            if "f8e" in value or coarse & set(re.findall(r"\w+", value)):
                coarse |= set(re.findall(r"[a-z]\w+", re.sub(r"\[.*?\]|\bs\.", "", to)))
        if len(coarse) == before:
            return coarse


def options_of(r, text):
    """A mesh of at most 8 ranks, another form of the collectives, passes left out, workers."""
    options, ranks = [], 1
    for axis in re.findall(r"^mesh (\w+) =", text, re.M):
        n = r.randint(1, max(1, min(4, 8 // ranks)))
        ranks *= n
        options.append(f"-D{axis}={n}")
    options += [f"--seed={r.randrange(1000)}", f"--workers={r.choice([1, 1, 2, 3])}"]
    options += r.choice([[], [], [f"--comm={r.choice(['unfused', 'pull', 'staged', 'push', 'packet'])}"]])
    options += r.choice([[], [], [], ["--off=fuse"], ["--off=flags"], ["--off=comm,flags"], ["--relaxed"]])
    return options + (["--processes"] if ranks > 1 and r.random() < 0.2 else [])


def values(path):
    """Numbers of a result; None: 8-bit floats."""
    a = numpy.load(path)
    if a.dtype.itemsize == 2 and a.dtype.kind == "V":
        return (a.view("u2").astype("u4") << 16).view("f4").astype("f8")
    return None if a.dtype.kind == "V" else a if a.dtype.kind in "iub" else a.astype("f8")


def verdicts_of(done):
    return {name: (verdict, rest) for name, verdict, rest in LINE.findall(done.stdout)}


def are_others(a, b, units):
    """Beyond what roundings do, whatever the program; units: how often the unit roundoff of bf16 is in the coarsest type's."""
    if a is None or a.dtype.kind != "f":
        return a is not None and bool((a != b).any())
    with numpy.errstate(all="ignore"):
        far = numpy.abs(a - b) > units * (1 + 0.5 * numpy.abs(a))
        return bool((far | (numpy.isfinite(a) != numpy.isfinite(b))).any())


class Case:
    def __init__(self, tools, folder, seed):
        self.tilec, self.generator, self.compiler = tools
        self.seed, self.folder, self.beyond = seed, f"{folder}/{seed}", False

    def run(self, options, kind, inject=None):
        out = [f"--out={n}={self.folder}/{kind}.{n}.npy" for n in self.names]
        env = os.environ | {"COMPILER": os.environ.get("CC", "cc"), "CC": self.compiler, "TMPDIR": self.folder} | ({"INJECT": str(inject)} if inject is not None else {})
        command = [self.tilec, "run", self.file, "--check", *options, *out]
        self.command = " ".join(command)
        return subprocess.run(command, capture_output=True, text=True, env=env, timeout=300, check=False)

    def misjudged(self, done):
        """Results of a right program that have another verdict than they should."""
        verdicts = verdicts_of(done)
        for name in self.names:
            verdict, rest = verdicts.get(name, ("none", ""))
            right = values(f"{self.folder}/right.{name}.npy") if verdict != "none" else None
            odd = right is not None and right.dtype.kind == "f" and not numpy.isfinite(right).all()
            either = right is None or "nothing is known" in rest
            if verdict != ("not comparable" if odd else "agrees") and not (either and verdict in ("agrees", "not comparable")):
                yield name

    def units(self, name):
        """A sum of f8e5m2 is off by 1/8 after each addition, 32 units of bf16, and `repeat` doubles that."""
        return 64 if name.removeprefix("s.") in self.coarse else 1

    def unseen(self, done):
        """Results that are others and that the check let pass. Where it names another result, the bounds of these may be wide."""
        verdicts = verdicts_of(done)
        for name in self.names:
            right, wrong = (values(f"{self.folder}/{k}.{name}.npy") for k in ("right", "wrong"))
            verdict, rest = verdicts[name]
            if verdict == "agrees" and "nothing is known" not in rest and are_others(right, wrong, self.units(name)):
                yield name

    def judge(self):
        """A word for the count, and what went wrong."""
        made = subprocess.run([self.generator, f"--show={self.seed}"], capture_output=True, text=True, check=False)
        if made.returncode:
            return "none", ""
        os.makedirs(self.folder)
        self.file, self.names, r = f"{self.folder}/p.tile", parameters(made.stdout), random.Random(self.seed)
        self.coarse = coarse_names(made.stdout)
        write(self.file, made.stdout)
        shutil.copy(f"{os.path.dirname(self.folder)}/choice.tree", self.folder)
        options = options_of(r, made.stdout)
        done = self.run(options, "right")
        if done.returncode in (1, 2):  # other sizes of the mesh may not fit
            options = [o for o in options if not o.startswith("-D")]
            done = self.run(options, "right")
        if done.returncode and "not supported yet" in done.stderr:
            return "none", ""
        misjudged = list(self.misjudged(done))
        if misjudged:
            errors = "\n".join(line for line in done.stderr.splitlines() if "error" in line)
            return "wrong", f"{self.command}: {', '.join(misjudged)}\n{done.stdout}{errors}"
        self.beyond = "beyond the expected" in done.stdout
        done = self.run(options, "wrong", inject=self.seed)
        if done.returncode not in (0, 4):
            return "none", ""  # what is wrong ends the run
        unseen = list(self.unseen(done))
        if unseen and done.returncode == 0:
            return "unseen", f"INJECT={self.seed} {self.command}: {', '.join(unseen)}\n{done.stdout}"
        return "found" if done.returncode == 4 else "same", ""


def case(tools, folder, seed):
    c = Case(tools, folder, seed)
    try:
        word, message = c.judge()
    except subprocess.TimeoutExpired:
        word, message = "wrong", f"{c.command}: late"
    if not message:
        shutil.rmtree(c.folder, ignore_errors=True)
    return seed, word, message, c.beyond


def write(path, text):
    with open(path, "w", encoding="utf-8") as to:
        to.write(text)


def cases(o, tools, folder):
    """The outcome of each seed, in order; none is begun after the time is over."""
    first, end = int(o.get("first", 1)), time.time() + float(o.get("seconds", 1e9))

    def one(seed):
        return case(tools, folder, seed) if time.time() < end else (seed, "none", "", False)

    with concurrent.futures.ThreadPoolExecutor(int(o.get("jobs", 1))) as pool:
        yield from pool.map(one, range(first, first + int(o.get("programs", 20))))


def main():
    tilec, generator, folder = sys.argv[1:4]
    o = dict(a[2:].split("=") for a in sys.argv[4:])
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    folder, count = os.path.abspath(folder), {}
    subprocess.run([generator, "--programs=0", f"--folder={folder}"], stdout=subprocess.DEVNULL, check=True)  # choice.tree
    write(f"{folder}/cc", COMPILER)
    os.chmod(f"{folder}/cc", stat.S_IRWXU)
    for seed, word, message, beyond in cases(o, (tilec, generator, f"{folder}/cc"), folder):
        count[word] = count.get(word, 0) + 1
        count["beyond"] = count.get("beyond", 0) + beyond
        if message:
            print(f"seed {seed}: {word}: {message}", flush=True)
    found, same, wrong, unseen = (count.get(w, 0) for w in ("found", "same", "wrong", "unseen"))
    print(f"{found + same + wrong + unseen} programs, {wrong + unseen} wrong; {unseen} with another operation agree, {found} differ,"
          f" {same} compute the same; {count['beyond']} right ones have errors beyond the expected")
    return wrong + unseen != 0


sys.exit(main())
