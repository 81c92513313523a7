"""usage: errors.py: calls with arguments that do not fit. Prints what each raises."""
import os

import numpy as np

import tilec

TEXT = """
dim N <= 8, D = 4;
kernel add(x: f32[n, d], s: f32, k: i8) -> (y: f32[n, d]) { each i: 2 of n, j: 4 of d { y[i, j] = x[i, j] * s + f32(k); } }
program f(x: f32[N, D], s: f32, k: i8) -> (y: f32[N, D]) { y = add(x, s, k); }
"""
KEPT = """
kernel groups(ascending start: i32[e + 1], x: f32[m]) -> (y: f32[m]) {
  each g of e, i: 4 of m in start[g] .. start[g + 1] { y[i] = x[i] + f32(g); }
}
program kept(start: i32[4], x: f32[4]) -> (y: f32[4]) { y = groups(start, x); }
"""
TAKE = """
dim N <= 8, V = 5;
kernel rows_of(t: f32[v, d], at: i32[n]) -> (y: f32[n, d]) { each i: 1 of n, j: 4 of d { y[i, j] = t[at[i], j]; } }
program take(at: i32[N] in 0 .. V, t: f32[V, 4]) -> (y: f32[N, 4]) { y = rows_of(t, at); }
"""


def says(what, call):
    try:
        call()
        print(f"{what}: nothing")
    except Exception as e:
        print(f"{what}: {type(e).__name__}: {str(e).splitlines()[0]}")


x = np.ones((3, 4), "f4")
f = tilec.load(TEXT)
says("type", lambda: f(x.astype("f8"), 1, 2))
says("byte order", lambda: f(x.astype(">f4"), 1, 2))
says("dimensions", lambda: f(x[0], 1, 2))
says("extent", lambda: f(np.ones((3, 5), "f4"), 1, 2))
says("bound", lambda: f(np.ones((9, 4), "f4"), 1, 2))
says("strides", lambda: f(np.ones((3, 8), "f4")[:, ::2], 1, 2))
says("masked", lambda: f(np.ma.masked_less(x, 0), 1, 2))
says("no array", lambda: f([1.0], 1, 2))
says("address", lambda: f(np.frombuffer(bytearray(49), "u1")[1:].view("f4").reshape(3, 4), 1, 2))
says("scalar", lambda: f(x, "one", 2))
says("scalar's range", lambda: f(x, 1, 128))
says("scalar's kind", lambda: f(x, 1, 2.5))
says("too few", lambda: f(x, 1))
says("too many", lambda: f(x, 1, 2, 3))
says("no such name", lambda: f(x, 1, 2, z=3))
says("twice", lambda: f(x, 1, 2, x=x))
says("size given", lambda: f(x, 1, 2, N=2))
fixed = np.ones((3, 4), "f4")
fixed.setflags(write=False)
says("read-only", lambda: f(x, 1, 2, out=fixed))
says("overlap", lambda: f(x, 1, 2, out=x))
says("results", lambda: f(x, 1, 2, out=[x, x]))
says("out's extent", lambda: f(x, 1, 2, out=np.ones((2, 4), "f4")))
take = tilec.load(TAKE)
table = np.arange(20, dtype="f4").reshape(5, 4)
says("range", lambda: take(np.array([0, 5], "i4"), table))
says("after it", lambda: print(take(np.array([4], "i4"), table)[0]))
kept = tilec.load(KEPT)
says("starts", lambda: kept(np.array([0, 3, 2, 4], "i4"), np.zeros(4, "f4")))
says("after them", lambda: print(kept(np.array([0, 3, 3, 4], "i4"), np.zeros(4, "f4"))))
says("syntax", lambda: tilec.load("program f(x: f32[M]) -> (y: f32[M]) { y = x; }"))
says("program", lambda: tilec.load(TEXT, "g"))
says("programs", lambda: tilec.load(TEXT + TEXT.replace(" f(", " g(").replace("add", "also").replace("dim N <= 8, D = 4;", "")))
says("dimension", lambda: tilec.load(TEXT, E=4))
says("no number", lambda: tilec.load(TEXT, D="four"))
says("file", lambda: tilec.load("nothing.tile"))
says("target", lambda: tilec.load(TEXT, target="sm_9"))
elsewhere = tilec.load(TEXT)
elsewhere.target = "gfx942"  # as if it had been compiled for it
says("target's place", lambda: elsewhere(x, 1, 2))
try:
    tilec.load("program f(x: f32[M]) -> (y: f32[4]) { y = x; }")
except tilec.CompileError as e:
    print(e.diagnostics[0])
os.environ["CC"] = "false"
says("compiler", lambda: tilec.load(TEXT.replace("program f", "program other"), target="host"))
