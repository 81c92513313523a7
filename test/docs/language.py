"""usage: language.py TILEC WORK PAGE..: every example of the language's pages, completed where it says `..` or is a part of a program,
compiles, runs and agrees with the interpreter; a block without an entry here is an error."""
import os
import subprocess
import sys

from pages import blocks_of

GRAMMAR = ("unit       = declaration*", "?:    ||    &&")
SHOWN = "program gemm("  # of the example that begins the first page

# How a block begins; what stands for its `..`, and before them; the file around it; its program.
PARTS = [
    ("dim M = 512", [], "BLOCK", "gemm"),
    ("each i: 128 of m", [("{ .. }", "{ y[i, r, c] = x[i, r, c] + 1.; }")],
     """kernel tasks(x: f32[m, rows, d]) -> (y: f32[m, rows, d]) {
       BLOCK
     }
     program p(x: f32[150, 3, 20]) -> (y: f32[150, 3, 20]) { y = tasks(x); }""", "p"),
    ("kernel total(", [], "BLOCK program p(x: f32[9, 20]) -> (s: f32, m: f32) { s, m = total(x); }", "p"),
    ("kernel sums(", [], "BLOCK program p(x: f32[150, 70]) -> (y: f32[150, 70]) { y = sums(x); }", "p"),
    ("kernel parts(", [], "BLOCK program p(x: f32[50, 300]) -> (y: f32[50, 300]) { y = parts(x); }", "p"),
    ("kernel by_group(", [], "BLOCK program p(x: f32[300, 70], w: f32[3, 70, 20], s: i32[4]) -> (y: f32[300, 20]) { y = by_group(x, w, s); }", "p"),
    ("kernel count(", [], "BLOCK program p(x: i32[3000]) -> (y: i32[9]) { y = count(x, 9); }", "p"),
    ("kernel scale(", [], "BLOCK program p(x: f32[300]) -> (y: f32[300]) { y = scale(x, 2.0); }", "p"),
    ("kernel means(", [], "BLOCK program p(x: f32[20, 30]) -> (y: f32[20, 3], z: f32[20, 2]) { y = means(x, 3); z = means(x); }", "p"),
    ("for j: 128 of t", [("{\n", "{ x = a[i, j];\n"), ("..", "r = exp(m - mx); e = exp(x - mx); l = l * r + sum(e, j); acc = acc * r + sum(e * v[c, j], j);")],
     """kernel weighed(a: f32[n, t], v: f32[d, t]) -> (y: f32[n, d]) {
       each i of n, c: * of d {
         m: f32 = -inf; l: f32 = 0; acc: f32[c] = 0;
         BLOCK
         y[i, c] = acc / l;
       }
     }
     program p(x: f32[5, 300], v: f32[4, 300]) -> (y: f32[5, 4]) { y = weighed(x, v); }""", "p"),
    ("record weights", [("..", "x = x + matmul(h[l], transpose(w.up[l]));")],
     """dim L = 3, B = 4, D = 20, F = 30;
     kernel bump(inout h: f32[b, f], x: f32[b, f]) -> () { each i: 2 of b, j: * of f { h[i, j] += x[i, j]; } }
     kernel scaled(x: f32[b, d], gain: f32[d]) -> (y: f32[b, d]) { each i: 2 of b, j: * of d { y[i, j] = x[i, j] * gain[j]; } }
     BLOCK""", "net"),
    ("if n[0] > 0", [],
     """mesh tp = 2;
     kernel bump(inout h: f32[n], x: f32[n]) -> () { each i: 4 of n { h[i] += x[i]; } }
     program whole(x: f32[n]) -> (y: f32[n]) { y = all_gather(x + x); }
     program p(n: i32[1], scale: f32, x: f32[9 @ tp], state h: f32[9 @ tp]) -> (y: f32[9]) {
       BLOCK
     }""", "p"),
    ("program twice(", [],
     """kernel bump(inout h: f32[n, d], x: f32[n, d]) -> () { each i: 4 of n, j: * of d { h[i, j] += x[i, j]; } }
     BLOCK
     program p(x: f32[9, 5], state s: f32[9, 5]) -> (y: f32[9, 5], z: f32[9, 5]) { s, y = twice(x, s, 1); s, z = twice(x, s, 2); }""",
     "p"),
    ("format lowrank(", [], "dim B = 9; BLOCK", "layer"),
    ("y = choose by", [],
     """dim R = 9, Z = 300;
     program p(ptr: i32[R + 1], col: i32[Z], val: f32[Z], x: f32[20]) -> (y: f32[R]) {
       BLOCK
     }""", "p"),
]
TREE = "// rows of up to 12 entries"


def completed(block, part):
    begins, fills, around, _ = part
    for dots, fill in fills:
        assert dots in block, (begins, dots)
        block = block.replace(dots, fill, 1)
    return around.replace("BLOCK", block)


def main(tilec, work, *pages):
    os.makedirs(work, exist_ok=True)
    blocks = [b.strip("\n") for page in pages for b in blocks_of(open(page).read())]
    left = [b for b in blocks if not b.startswith((*GRAMMAR, SHOWN))]
    tree = [b for b in left if b.startswith(TREE)]
    with open(os.path.join(work, "spmv.tree"), "w") as f:
        f.write(tree[0].split("\n\n")[0])
    left = [b for b in left if b not in tree]
    assert [b for b in left if not b.startswith(tuple(p[0] for p in PARTS))] == []
    for n, part in enumerate(PARTS):
        block = [b for b in left if b.startswith(part[0])]
        assert len(block) == 1, "not one block begins with %r" % part[0]
        path = os.path.join(work, "part%d.tile" % n)
        with open(path, "w") as f:
            f.write(completed(block[0], part))
        subprocess.run([tilec, "run", path, "--program=" + part[3], "--check"], check=True)
        print("ran:", part[0], flush=True)


main(*sys.argv[1:])
