"""Weight formats; see library.py for the arguments."""
import itertools

import numpy as np

from library import normal, random, run

N, M, K = 37, 100, 48
x = normal(N, K)


def check(program, parts, dense, tolerance=1e-5):
    inputs = {f"W.{name}": value for name, value in parts.items()}
    assert dense.shape == (M, K)
    run(program, {"x": x, **inputs}, {"y": x.astype(np.float64) @ dense.T}, tolerance)


def f64(*tensors):
    return [tensor.astype(np.float64) for tensor in tensors]


u, v = normal(M, 7), normal(7, K)
check("lowrank_linear", {"U": u, "V": v}, f64(u)[0] @ v)

a, c, d = normal(70, K), normal(3, 30), normal(3, 16)
check("hmd_linear", {"A": a, "C": c, "D": d},
      np.vstack([a, np.hstack([np.outer(c[j], d[j]) for j in range(3)])]).astype(np.float64))

a, c, d = normal(64, K), normal(36), normal(K)
check("hmf_linear", {"A": a, "c": c, "d": d}, np.vstack(f64(a, np.outer(c, d))))

a, b = normal(20, 4), normal(5, 12)
check("kron_linear", {"A": a, "B": b}, np.kron(*f64(a, b)))
check("kron_other", {"A": np.ascontiguousarray(b), "B": a}, np.kron(*f64(b, a)))

for n, shapes in enumerate(itertools.permutations([(5, 4), (4, 2), (5, 6)])):
    a, b, c = (normal(*shape) for shape in shapes)
    check(f"three_{n}", {"A": a, "B": b, "C": c}, np.kron(np.kron(*f64(a, b)), c))

for n in range(4):
    a, b, c, d = (normal(*shape) for shape in ([(5, 2), (2, 3), (5, 4), (2, 2)] * 2)[n:n + 4])
    check(f"four_{n}", {"A": a, "B": b, "C": c, "D": d}, np.kron(np.kron(np.kron(*f64(a, b)), c), d))

for name, shapes in (("kron_bytes", ((20, 4), (5, 12))), ("kron_other_bytes", ((5, 12), (20, 4)))):
    a, b = (random.integers(-128, 128, shape).astype(np.int8) for shape in shapes)
    s, t = normal(len(a)), normal(len(b))
    check(name, {"A": a, "a": s, "B": b, "b": t}, np.kron(*f64(s[:, None] * a, t[:, None] * b)))

a, b, c = normal(10, K), normal(10, 6), normal(9, 8)
check("hkron_linear", {"A": a, "B": b, "C": c}, np.vstack([f64(a)[0], np.kron(*f64(b, c))]))

q, s = random.integers(-128, 128, (M, K)).astype(np.int8), normal(M)
check("int8_linear", {"q": q, "scale": s}, q * f64(s)[0][:, None])

s = normal(M, 5)
check("int8_grouped", {"q": q, "scale": s}, q * np.repeat(f64(s)[0], 10, axis=1)[:, :K])

q, s = random.integers(-8, 8, (M, K)).astype(np.int8), normal(M, 3)
check("int4_grouped", {"q": q, "scale": s}, q * np.repeat(f64(s)[0], 16, axis=1))

q, s = random.integers(-1, 2, (M, K)).astype(np.int8), normal(M)
check("ternary_linear", {"q": q, "scale": s}, q * f64(s)[0][:, None])

c, a, b = random.integers(-1, 2, (M, 25)), normal(25), random.integers(-1, 2, (25, K))
check("strassen_linear", {"C": c.astype(np.int8), "a": a, "B": b.astype(np.int8)}, c * f64(a)[0] @ b)

q = random.integers(-128, 128, (M, K)).astype(np.int8)
x = (x.view(np.uint32) & 0xFFFF0000).view(np.float32)
s = normal(M)
check("half", {"q": q, "scale": s}, q * f64(s)[0][:, None], 2.0**-8)
