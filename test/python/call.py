"""usage: call.py: calls programs on arrays of NumPy, and compares with what NumPy computes. Prints a line for each subject."""
import threading

import numpy as np

import tilec

rng = np.random.default_rng(1)

ROWS = """
dim N <= 40, D = 12;
program rows(x: f32[N, D]) -> (y: f32[N, D]) { y = softmax(x); }
"""
SCALED = """
dim N <= 100;
kernel scaled(x: f32[n], s: f32, shift: i32, negate: bool) -> (y: f32[n], z: f32[n]) {
  each i: 8 of n {
    t: f32[i] = x[i] * s + f32(shift);
    y[i] = negate ? -t : t;
    z[i] = t * t;
  }
}
program both(x: f32[N], s: f32, shift: i32, negate: bool) -> (y: f32[N], z: f32[N]) {
  y, z = scaled(x, s, shift, negate);
}
"""
STATE = """
dim N = 9;
record weights { up: f32[N], down: f32[N] }
kernel add(x: f32[n], y: f32[n]) -> (z: f32[n]) { each i: 4 of n { z[i] = x[i] + y[i]; } }
program step(x: f32[N], w: weights, state h: f32[N]) -> (y: f32[N]) {
  h = add(h, x);
  y = add(h, add(w.up, w.down));
}
"""
COPY = """
dim N <= 33;
kernel copy(x: T[n]) -> (y: T[n]) {{ each i: 8 of n {{ y[i] = x[i]; }} }}
program copy_{0}(x: {0}[N]) -> (y: {0}[N]) {{ y = copy(x); }}
"""


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True)) if x.size else x
    return e / e.sum(axis=1, keepdims=True)


def sizes():
    f = tilec.load(ROWS)
    for n in (0, 1, 2, 7, 39, 40):
        x = rng.standard_normal((n, 12)).astype("f4")
        np.testing.assert_allclose(f(x), softmax(x), rtol=1e-5)
    x.setflags(write=False)
    np.testing.assert_array_equal(f(x=x), f(x))
    y = np.empty_like(x)
    assert f(x, out=y) is y and f(x, out={"y": y}) is y and f(x, out=[y]) is y
    np.testing.assert_allclose(y, softmax(x), rtol=1e-5)
    for d in (1, 5):
        x = rng.standard_normal((3, d)).astype("f4")
        np.testing.assert_allclose(tilec.load(ROWS, D=d)(x), softmax(x), rtol=1e-5)
    return f


def scalars():
    f = tilec.load(SCALED)
    x = rng.standard_normal(21).astype("f4")
    for s, shift, negate in ((2, -3, False), (np.float32(0.5), np.int64(7), True), (np.array(3.0), 0, np.bool_(False))):
        y, z = found = f(x, s, shift, negate=negate)
        t = x * np.float32(s) + np.float32(shift)
        np.testing.assert_allclose(y, -t if negate else t, rtol=1e-6)
        np.testing.assert_allclose(found.z, t * t, rtol=1e-6)
    z = np.empty_like(x)
    assert f(x, 1, 0, False, out=(y, z))[1] is z


def states():
    f = tilec.load(STATE)
    x, h = rng.standard_normal(9).astype("f4"), np.zeros(9, "f4")
    w = {"up": rng.standard_normal(9).astype("f4"), "down": np.ones(9, "f4")}
    for i in range(1, 4):
        y = f(x, w, h)
        np.testing.assert_allclose(h, i * x, rtol=1e-5)
        np.testing.assert_allclose(y, h + w["up"] + w["down"], rtol=1e-5)
    before = h.copy()
    f.check(x, w, h)
    f.check(x, w, h, reference=lambda x, w, h: h + x + w["up"] + w["down"])
    np.testing.assert_array_equal(h, before)


def elements():
    for elem, dtype in (("f64", "f8"), ("f32", "f4"), ("f16", "f2"), ("i64", "i8"), ("i32", "i4"), ("i16", "i2"), ("i8", "i1"),
                        ("u8", "u1"), ("bool", "?")):
        f = tilec.load(COPY.format(elem))
        for n in (0, 1, 33):
            x = (rng.standard_normal(n) * 50).astype(dtype)
            y = f(x)
            assert y.dtype == x.dtype
            np.testing.assert_array_equal(x, y)
    x = rng.integers(0, 256, 20).astype("u1").view("V2")  # NumPy has no bf16
    y = np.zeros(10, "V2")
    np.testing.assert_array_equal(tilec.load(COPY.format("bf16"))(x, out=y).view("u2"), x.view("u2"))


class Foreign:
    """An array of another library, that speaks DLPack alone."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **_):
        return self.x.__dlpack__()

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


def dlpack(f):
    x = rng.standard_normal((6, 12)).astype("f4")
    y = np.empty_like(x)
    np.testing.assert_array_equal(f(Foreign(x)), f(x))
    f(Foreign(x), out=Foreign(y))
    np.testing.assert_array_equal(y, f(x))


def threads(f):
    """Several threads call one program, with other sizes each."""
    wrong = []

    def work(n):
        x = np.random.default_rng(n).standard_normal((n, 12)).astype("f4")
        expected = softmax(x)
        for _ in range(200):
            if not np.allclose(f(x), expected, rtol=1e-5):
                wrong.append(n)
    all_threads = [threading.Thread(target=work, args=(n,)) for n in (1, 5, 17, 40)]
    for t in all_threads:
        t.start()
    for t in all_threads:
        t.join()
    assert not wrong, wrong


def told(f):
    """What the package says of a program."""
    print(f, f.__doc__ == str(f.signature))
    cost = f.cost()
    assert cost.seconds > 0 and [k.name for k in cost.kernels] == ["softmax"] and cost.kernels[0].counts["bytes"] > 0
    explained = f.explain()
    assert "program rows: 1 kernels: softmax" in explained and "<summary><b>Predicted</b>" in explained._repr_html_()
    assert "&lt;" in tilec.Explanation("a < b", "")._repr_html_()
    assert "agrees" in f.check(N=5) and "agrees" in f.check(rng.standard_normal((2, 12)).astype("f4"))
    try:
        f.check(np.ones((2, 12), "f4"), reference=lambda x: x)
    except tilec.Mismatch as e:
        print(e)


program = sizes()
print("sizes")
for subject in (scalars, states, elements):
    subject()
    print(subject.__name__)
for subject in (dlpack, threads, told):
    subject(program)
    print(subject.__name__)
