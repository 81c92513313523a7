"""usage: expand_limits.py TILEC FOLDER: limits of trees and of calls of programs, at and beyond them."""
import os
import subprocess
import sys

TILEC, FOLDER = sys.argv[1:3]
CHOOSE = """dim M = 8, N = 5;
program p(x: f32[M]) -> (y: f32[M]) { y = choose by "limit.tree" { one: x; two: x + x; }; }
"""
CALLS = """dim M = 8;
program same(x: f32[m]) -> (y: f32[m]) { y = x; }
program p(x: f32[M]) -> (y: f32[M]) {
  t = x;
  repeat i of %d { t = same(t); }
  y = t;
}
"""


def check(what, source, tree, error):
    os.makedirs(FOLDER, exist_ok=True)
    for name, text in (("limit.tile", source), ("limit.tree", tree)):
        with open(os.path.join(FOLDER, name), "w") as f:
            f.write(text)
    done = subprocess.run([TILEC, "check", os.path.join(FOLDER, "limit.tile")], capture_output=True, text=True)
    good = error in done.stderr and done.returncode == 1 if error else done.returncode == 0
    assert good, (what, done.returncode, done.stderr[-500:])


def chain(n):
    return "".join("if N < %d one else " % -i for i in range(n)) + "two"


def deep(n):
    return "if N > 0 " * n + "one" + " else two" * n


def brackets(n):
    return "if " + "(" * n + "N" + ")" * n + " < 4 one else two"


def operands(n):
    return "if N" + " + 1" * n + " < 4 one else two"


def yet_one_more(what, make, most, error):
    check(what, CHOOSE, make(most), None)
    check(what, CHOOSE, make(most + 1), error)


yet_one_more("nodes", chain, 2047, "a tree of more than 4096 nodes")
yet_one_more("depth", deep, 64, "nested too deeply")
yet_one_more("brackets", brackets, 63, "nested too deeply")
yet_one_more("operands", operands, 64, "too many operands")
check("calls", CALLS % 4096, "", None)
check("calls", CALLS % 4097, "", "this expands more than 4096 calls of programs [too-many-nodes]")
