"""Every constant that a kernel of the library takes, over the values that it accepts, against numpy; values beyond them are errors.

usage: constants.py TILEC LIBRARY WORK. A group is one program with a result for each choice of constants. The script fails
where a kernel of the folder LIBRARY has a constant, or a default, that no group names.
"""
import glob
import itertools
import math
import os
import re
from fractions import Fraction

import numpy as np

import philox
from codes import codes_and_trees
from groups import FOLDER, LIBRARY, covered, group, integers, normal, random, refused, single, type_of


# ---- convolutions ----

def convolution(x, k, stride=1, pad=0, dilation=1, groups=1):
    x, k = (t.astype(np.float64) for t in (x, k))
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    rows, columns = (dilation * (n - 1) + 1 for n in k.shape[2:])
    seen = np.lib.stride_tricks.sliding_window_view(x, (rows, columns), axis=(2, 3))
    seen = seen[:, :, ::stride, ::stride, ::dilation, ::dilation]
    each, per = k.shape[1], k.shape[0] // groups
    parts = [np.einsum("bcijrs,ocrs->boij", seen[:, g * each:(g + 1) * each], k[g * per:(g + 1) * per]) for g in range(groups)]
    return np.concatenate(parts, axis=1)


def patches(x, kh, kw, stride, pad):
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    seen = np.lib.stride_tricks.sliding_window_view(x, (kh, kw), axis=(2, 3))[:, :, ::stride, ::stride]
    return seen.transpose(0, 2, 3, 1, 4, 5).reshape(-1, x.shape[1] * kh * kw)


def convolutions():
    x, k, w = normal(2, 6, 9, 7), normal(4, 6, 3, 2), normal(4, 6, 3, 3)
    steps = [(1, 0), (1, 1), (2, 0), (2, 1), (3, 2), (5, 4)]
    group("direct", {"x": x, "k": k}, [(f"conv2d(x, k, {s}, {p})", single(convolution(x, k, s, p))) for s, p in steps])
    group("turned", {"x": x, "k": k}, [(f"conv2d_turned(x, k, {s}, {p})", single(convolution(x, k, s, p))) for s, p in steps])
    group("front", {"x": x.transpose(0, 2, 3, 1).copy(), "k": k.transpose(0, 2, 3, 1).copy()},
          [(f"conv2d_front(x, k, {s}, {p})", single(convolution(x, k, s, p))) for s, p in steps])
    one = normal(4, 6, 1, 1)
    group("points", {"x": x[:, :, :8].copy(), "k": one}, [("conv2d_turned(x, k, 1, 0)", single(convolution(x[:, :, :8], one)))])
    group("rows", {"x": x}, [(f"im2row(x, {a}, {b}, {s}, {p})", patches(x, a, b, s, p))
                             for (a, b), (s, p) in itertools.product(((1, 1), (3, 2), (2, 7)), steps[1::2])])
    for cg, o in (6, 4), (3, 4), (2, 3), (1, 6), (1, 12):
        g = normal(o, cg, 3, 2)
        group(f"grouped{cg}_{o}", {"x": x, "g": g},
              [(f"conv2d_grouped(x, g, {s}, {p}, {d})", single(convolution(x, g, s, p, d, 6 // cg)))
               for s, p, d in ((1, 0, 1), (1, 3, 2), (2, 0, 3), (3, 3, 1), (2, 1, 2))])
    group("last", {"x": x.transpose(0, 2, 3, 1).copy(), "k": k.transpose(0, 2, 3, 1).copy()},
          [(f"conv2d_last(x, k, {s}, {p}, {d})", single(convolution(x, k, s, p, d, 1).transpose(0, 2, 3, 1)))
           for s, p, d in ((1, 0, 1), (1, 3, 2), (2, 0, 3), (3, 3, 1), (2, 1, 2))])
    bias, t = normal(4), {"x": x.transpose(0, 2, 3, 1).copy(), "k": k.transpose(2, 3, 1, 0).copy()}
    borders = [(s, a, b) for s, _ in steps[1:5] for a, b in ((0, 0), (1, 0), (0, 2))]
    wide = [np.pad(x, ((0, 0), (0, 0), (a, a), (b, b))) for _, a, b in borders]
    wants = [single(convolution(seen, k, s).transpose(0, 2, 3, 1) + bias) for seen, (s, _, _) in zip(wide, borders)]
    group("runs", {**t, "bias": bias}, [(f"conv2d_runs(x, k, bias, {s}, {a}, {b})", want) for (s, a, b), want in zip(borders, wants)])
    group("pixel_runs", {**t, "bias": bias}, [(f"runs_of_pixels(view(x, [2, 9, 42]), view(k, [3, 12, 4]), bias, 6, {s}, {a}, {b})", want)
                                              for (s, a, b), want in zip(borders, wants)])
    p, q = normal(30, 6), normal(6, 4)
    group("pixel_points", {"x": p, "k": q, "bias": bias}, [(f"points_of_images(x, k, bias, {h}, {v})", single(p @ q + bias).reshape(-1, h, v, 4))
                                                           for h, v in ((5, 3), (1, 30), (2, 5))])
    filtered(x, bias)
    d = normal(6, 1, 3, 2)
    group("depthwise", {"x": x, "k": d[:, 0].copy()},
          [(f"conv2d_depthwise(x, k, {s}, {p}, {e})", single(convolution(x, d, s, p, e, 6)))
           for s, p, e in ((1, 0, 1), (1, 3, 2), (2, 0, 3), (3, 3, 1), (2, 1, 2))])
    group("depthwise_last", {"x": x.transpose(0, 2, 3, 1).copy(), "k": d[:, 0].transpose(1, 2, 0).copy()},
          [(f"conv2d_depthwise_last(x, k, {s}, {p}, {e})", single(convolution(x, d, s, p, e, 6).transpose(0, 2, 3, 1)))
           for s, p, e in ((1, 0, 1), (1, 3, 2), (2, 0, 3), (3, 3, 1), (2, 1, 2))])
    z = normal(2 * 5 * 3, 4)
    group("images", {"z": z}, [(f"rows_to_images(z, {b}, {h}, {v})", z.reshape(b, h, v, 4).transpose(0, 3, 1, 2))
                               for b, h, v in ((2, 5, 3), (1, 1, 30), (30, 1, 1), (3, 2, 5))])
    group("winograd", {"x": x, "w": w}, [(f"conv2d_winograd(x, w, {m}, {p})", single(convolution(x, w, 1, p)))
                                         for m, p in ((1, 0), (2, 1), (3, 0), (3, 3), (4, 1), (5, 0), (5, 1), (6, 3))], 1e-4)
    for m in 3, 6:
        winograd_parts(m, x, w)
    args = "x: f32[2, 6, 9, 7], k: f32[4, 6, 3, 3]"
    for m, pad in (0, 0), (7, 0), (-1, 0), (2, -1):
        refused(f"conv2d_winograd(x, k, {m}, {pad})", f"f32[2, 4, {9 + 2 * pad - 2}, {7 + 2 * pad - 2}]", args)
    refused("winograd_a(7)", "f32[7, 9]")
    refused("winograd_b(4, 6)", "f32[9, 9]")
    refused("winograd_g(0, 3)", "f32[2, 3]")
    refused("conv2d_runs(x, k, bias, 1, -1, 1)", "f32[2, 5, 7, 4]", "x: f32[2, 9, 7, 6], k: f32[3, 3, 6, 4], bias: f32[4]")
    refused("conv2d_winograd_last(x, u, bias, 4, 4, -1, 1)", "f32[2, 5, 7, 4]", "x: f32[2, 9, 7, 6], u: f32[6, 6, 6, 4], bias: f32[4]")
    refused("conv2d(x, k, 1, -1)", "f32[2, 4, 5, 3]", args)
    refused("conv2d_grouped(x, g, 1, 0, 0)", "f32[2, 4, 9, 7]", "x: f32[2, 6, 9, 7], g: f32[4, 3, 3, 3]")
    refused("conv2d_grouped(x, g, 1, 0, 1)", "f32[2, 4, 7, 5]", "x: f32[2, 6, 9, 7], g: f32[4, 4, 3, 3]")
    refused("conv2d_grouped(x, g, 1, 0, 1)", "f32[2, 5, 7, 5]", "x: f32[2, 6, 9, 7], g: f32[5, 3, 3, 3]")
    refused("conv2d_front(x, k, 1, -1)", "f32[2, 4, 5, 3]", "x: f32[2, 9, 7, 6], k: f32[4, 3, 3, 6]")
    refused("conv2d_depthwise(x, k, 1, 0, 0)", "f32[2, 6, 9, 7]", "x: f32[2, 6, 9, 7], k: f32[6, 3, 3]")
    refused("conv2d_depthwise_last(x, k, 1, 0, 0)", "f32[2, 9, 7, 6]", "x: f32[2, 9, 7, 6], k: f32[3, 3, 6]")
    refused("conv2d_last(x, k, 1, 0, 0)", "f32[2, 9, 7, 4]", "x: f32[2, 9, 7, 6], k: f32[4, 3, 3, 6]")
    refused("conv2d_last(x, k, 1, 0, 5)", "f32[2, 1, 1, 4]", "x: f32[2, 9, 7, 6], k: f32[4, 3, 3, 6]")
    refused("rows_to_images(z, 2, 5, 4)", "f32[2, 4, 5, 4]", "z: f32[30, 4]")


def product_of(roots):
    """Coefficients of the product of x - root, from the constant one up."""
    out = [Fraction(1)]
    for root in roots:
        out = [high - root * low for low, high in zip(out + [0], [0] + out)]
    return out


def matrices(m, r):
    """B^T, G, A^T of F(m, r) in fractions: (A^T) ((G g) * (B^T d)) are the m results."""
    n = m + r - 1
    points = [Fraction(p) for p in (0, 1, -1, 2, -2, Fraction(1, 2), Fraction(-1, 2))][:n - 1]
    b = [product_of(points[:k] + points[k + 1:]) + [Fraction(0)] for k in range(n - 1)] + [product_of(points)]
    slope = [math.prod(p - q for q in points if q != p) for p in points]
    g = [[p**c / d for c in range(r)] for p, d in zip(points, slope)] + [[Fraction(c == r - 1) for c in range(r)]]
    a = [[p**i for p in points] + [Fraction(i == m - 1)] for i in range(m)]
    d, w = [Fraction(3 * i * i - 7 * i + 2) for i in range(n)], [Fraction(2 * i - 3) for i in range(r)]
    v, u = ([sum(f * t for f, t in zip(row, by)) for row in matrix] for matrix, by in ((b, d), (g, w)))
    assert [sum(f * s * t for f, s, t in zip(row, u, v)) for row in a] == [sum(w[c] * d[i + c] for c in range(r)) for i in range(m)]
    return [np.array(matrix, dtype=np.float64).astype(np.float32) for matrix in (b, g, a)]


def filtered(x, bias):
    sizes = [(m, r) for r in (1, 2, 3, 5, 7) for m in range(1, 10 - r)]
    exact = {size: matrices(*size) for size in sizes}
    for i, name in enumerate(("winograd_b", "winograd_g", "winograd_a")):
        group(f"exact_{name}", {}, [(f"{name}({m}, {r})", exact[m, r][i]) for m, r in sizes], 0)
    for r, s, m, n, a, b in (3, 3, 4, 4, 1, 1), (3, 3, 2, 6, 0, 2), (5, 5, 4, 4, 2, 2), (1, 3, 1, 6, 0, 0), (7, 1, 2, 1, 3, 0):
        k = normal(4, 6, r, s)
        want = single(convolution(np.pad(x, ((0, 0), (0, 0), (a, a), (b, b))), k).transpose(0, 2, 3, 1) + bias)
        parts = ", ".join(f"winograd_{name}({p}, {q})" for name in "ba" for p, q in ((m, r), (n, s)))
        group(f"filtered{r}{s}{n}", {"x": x.transpose(0, 2, 3, 1).copy(), "k": k.transpose(2, 3, 1, 0).copy(), "bias": bias},
              [(f"conv2d_winograd_last(x, winograd_weights_last(k, {m}, {n}), bias, {m}, {n}, {a}, {b})", want),
               (f"winograd_last(x, winograd_weights_last(k, {m}, {n}), bias, {parts}, {a}, {b})", want)], 1e-4)


def winograd_parts(m, x, w):
    calls = [(f"winograd_output(winograd_products(winograd_weights(w, winograd_g({m})), winograd_tiles(x, winograd_b({m}), {m}, 1)), "
              f"winograd_a({m}), 2, 9, 7)", single(convolution(x, w, 1, 1)))]
    group(f"parts{m}", {"x": x, "w": w}, calls, 1e-4)


# ---- attention, rows, reductions ----

def attention(q, k, v, scale, window=None):
    q, k, v = (t.astype(np.float64) for t in (q, k, v))
    k, v = (np.repeat(t, q.shape[1] // k.shape[1], axis=1) for t in (k, v))
    scores = q @ k.swapaxes(2, 3) * scale
    if window:
        distance = np.arange(q.shape[2])[:, None] - np.arange(k.shape[2])
        scores[..., (distance < 0) | (distance >= window)] = -np.inf
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return single(e / e.sum(axis=-1, keepdims=True) @ v)


def attentions():
    q, k, v = normal(1, 6, 37, 12), normal(1, 2, 37, 12), normal(1, 2, 37, 12)
    calls = [(f"attention(q, k, v, 0.3, {'true' if w else 'false'})", attention(q, k, v, 0.3, w)) for w in (None, 37)]
    calls += [(f"attention_window(q, k, v, 0.3, {w})", attention(q, k, v, 0.3, w)) for w in (1, 2, 16, 36, 37, 38, 1000)]
    group("attentions", {"q": q, "k": k, "v": v}, calls)
    args = "q: f32[1, 6, 37, 12], k: f32[1, 4, 37, 12]"
    refused("attention(q, k, k, 0.3, true)", "f32[1, 6, 37, 12]", args)
    refused("attention_window(q, k, k, 0.3, 4)", "f32[1, 6, 37, 12]", args)
    refused("attention_window(q, q, q, 0.3, 0)", "f32[1, 6, 37, 12]", args)


def weights(q, k, scale, causal):
    scores = q @ k.swapaxes(2, 3) * scale
    if causal:
        scores[..., np.arange(q.shape[2])[:, None] < np.arange(k.shape[2])] = -np.inf
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def gradients():
    q, k, v, y = (normal(1, 6, 37, 12) for _ in range(4))
    calls, lines = [], []
    for i, causal in enumerate(("false", "true")):
        a, b, c, d = (t.astype(np.float64) for t in (q, k, v, y))
        p = weights(a, b, 0.3, causal == "true")
        g = p * (d @ c.swapaxes(2, 3) - (d * (p @ c)).sum(-1, keepdims=True)) * 0.3
        want = [single(t) for t in (g @ b, g.swapaxes(2, 3) @ a, p.swapaxes(2, 3) @ d)]
        calls += [(f"attention_lse(), {name}(), {causal}", t) for name, t in zip(("attention_backward",) * 3 + ("attention_grad_kv",) * 2 + ("attention_grad_q",), want + want[1:] + want[:1])]
        n = [f"r{6 * i + x}" for x in range(6)]
        lines += [f"o{i}, l{i} = attention_lse(q, k, v, 0.3, {causal});", f"{', '.join(n[:3])} = attention_backward(q, k, v, o{i}, l{i}, y, 0.3, {causal});",
                  f"e{i} = attention_dots(y, o{i});", f"{', '.join(n[3:5])} = attention_grad_kv(q, k, v, y, l{i}, e{i}, 0.3, {causal});",
                  f"{n[5]} = attention_grad_q(q, k, v, y, l{i}, e{i}, 0.3, {causal});"]
    inputs = {"q": q, "k": k, "v": v, "y": y}
    head, body = (", ".join(f"{x}: {type_of(q)}" for x in names) for names in ("qkvy", [f"r{x}" for x in range(12)]))
    group("gradients", inputs, calls, results=f"program gradients({head}) -> ({body}) {{ {' '.join(lines)} }}\n")


def decays(a, chunk):
    """exp of the sums of a from place j on, up to place i behind it, [.., i, j]."""
    sums = np.cumsum(a.reshape(1, -1, chunk, 6).astype(np.float64), axis=2).transpose(0, 1, 3, 2)
    return np.where(np.tri(chunk, dtype=bool), np.exp(np.minimum(sums[..., None] - sums[..., None, :], 0)), 0), sums


def lacking(x, a, beta, k, q):
    """The gated delta rule, place by place."""
    s, y = np.zeros((1, 6, 5, 7)), []
    for t in range(40):
        s = np.exp(a[:, t].astype(np.float64))[..., None, None] * s
        s = s + (beta[:, t, :, None] * (x[:, t] - np.einsum("bhpm,bhm->bhp", s, k[:, t])))[..., None] * k[:, t, :, None]
        y.append(np.einsum("bhpm,bhm->bhp", s, q[:, t]))
    return np.stack(y, 1)


def deltas(n, inputs, y):
    """The kernels of the gated delta rule, in chunks of n places and blocks of half of them."""
    u, half = 40 // n, n // 2
    part, f = lambda t: t.reshape(u, n, *t.shape[2:]), lambda t: t.reshape(u, n, -1)
    left, _ = decays(inputs["a"], n)
    wide, many = (np.repeat(inputs[t].astype(np.float64), 3, axis=2) for t in "oq")
    beta = part(inputs["b"]).transpose(0, 2, 1)
    scores = left[0] * np.einsum("uihm,ujhm->uhij", part(many), part(wide))
    triangle = np.eye(n) + np.tril(left[0] * np.einsum("uihm,ujhm->uhij", part(wide), part(wide)), -1) * beta[..., None]
    blocks, rows = np.zeros_like(triangle), [slice(i, i + half) for i in range(0, n, half)]
    for i in rows:
        blocks[..., i, i] = np.linalg.inv(triangle[..., i, i])
    given = {"x": f(inputs["x"]), "k": f(inputs["o"]), "q": f(inputs["q"]), "b": part(inputs["b"]), "c": inputs[f"c{n}"], "w": np.exp(inputs[f"c{n}"][..., -1:] - inputs[f"c{n}"])}
    calls = ["delta_scores(q, k, c, b, 2)", f"delta_blocks(r1, {half})", f"delta_inverse(r1, r2, b, {half})", f"delta_output(view(x, [1, {u}, {n}, 30]), view(k, [1, {u}, {n}, 14]), view(q, [1, {u}, {n}, 14]), view(r3, [1, {u}, 6, {n}, {n}]), view(r0, [1, {u}, 6, {n}, {n}]), view(c, [1, {u}, 6, {n}]), view(w, [1, {u}, 6, {n}]), 2)"]
    wanted = [scores, triangle, blocks, np.linalg.inv(triangle) * beta[..., None, :], y.reshape(1, u, n, 30)]
    head = ", ".join(f"{name}: {type_of(value)}" for name, value in given.items())
    body = ", ".join(f"r{i}: {type_of(single(value))}" for i, value in enumerate(wanted))
    lines = " ".join(f"{to} = {call};" for to, call in zip(("r0, r1", "r2", "r3", "r4"), calls))
    group("deltas", given, list(zip(calls[:1] + calls, map(single, wanted))), results=f"program deltas({head}) -> ({body}) {{ {lines} }}\n")


def scans():
    x, a, k, q = normal(1, 40, 6, 5), -np.abs(normal(1, 40, 6)), normal(1, 40, 2, 7), normal(1, 40, 2, 7)
    wide, many = (np.repeat(t.astype(np.float64), 3, axis=2) for t in (k, q))
    left, _ = decays(a, 40)
    y = single(np.einsum("bhij,bihm,bjhm,bjhp->bihp", left[:, 0], many, wide, x))
    calls = [(f"state_scan(x, a, k, q, {n})", y) for n in (1, 8, 40)]
    inputs = {"x": x, "a": a, "k": k, "q": q}
    for n in (4, 10):
        u, part = 40 // n, lambda t: t.reshape(40 // n, n, *t.shape[2:])
        left, sums = decays(a, n)
        c, w = single(sums[0]), np.abs(normal(u, 6, n))
        inputs |= {f"c{n}": c, f"w{n}": w}
        s = single(np.einsum("uhj,ujhp,ujhm->uhmp", w, part(x), part(wide)))
        ks = f"view(k, [{u}, {n}, 14])"
        calls.append((f"scan_turned({ks})", part(k).reshape(u, n, 14).transpose(0, 2, 1)))
        calls.append((f"scan_states(scan_turned({ks}), view(x, [{u}, {n}, 30]), w{n}, 2)", s.reshape(u, 42, 5)))
        z = np.einsum("uhij,uihm,ujhm,ujhp->uihp", left[0], part(many), part(wide), part(x))
        z += np.einsum("uhmp,uihm,uhi->uihp", s, part(many), np.exp(sums[0]))
        calls.append((f"scan_output(view(q, [{u}, {n}, 14]), {ks}, view(x, [{u}, {n}, 30]), view({calls[-1][0]}, [{u}, 6, 7, 5]), c{n}, 2)", single(z.reshape(u, n, 30))))
    beta = np.abs(normal(1, 40, 6)) % 1
    inputs |= {"b": beta, "o": k * 0.3}
    calls += [(f"delta_scan(x, a, b, o, q, {n})", single(lacking(x, a, beta, wide * 0.3, many))) for n in (1, 8, 40)]
    group("scans", inputs, calls)
    for n in (4, 10):
        deltas(n, inputs, lacking(x, a, beta, wide * 0.3, many))
    args = "x: f32[1, 40, 6, 5], a: f32[1, 40, 6], k: f32[1, 40, 4, 7], n: f32[1, 40, 2, 7]"
    refused("state_scan(x, a, n, n, 16)", "f32[1, 40, 6, 5]", args)
    refused("state_scan(x, a, k, k, 8)", "f32[1, 40, 6, 5]", args)


def rows():
    x, w, b = normal(5, 13) * 0.01, normal(13), normal(13)
    z = x.astype(np.float64)
    centred = z - z.mean(axis=1, keepdims=True)

    def rms(eps):
        return single(z / np.sqrt((z * z).mean(axis=1, keepdims=True) + eps) * w)

    def norm(eps):
        return single(centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + eps) * w + b)

    calls = [("rmsnorm(x, w)", rms(1e-5)), ("layernorm(x, w, b)", norm(1e-5))]
    calls += [(f"rmsnorm(x, w, {eps})", rms(eps)) for eps in (0.0, 1e-6, 0.5)]
    calls += [(f"layernorm(x, w, b, {eps})", norm(eps)) for eps in (0.0, 1e-6, 0.5)]
    group("norms", {"x": x, "w": w, "b": b}, calls)


def turned(x, at, base, halves):
    d = x.shape[2]
    angle = at[:, None] * float(base) ** (-2.0 * np.arange(d // 2) / d)
    one, two = (x[..., :d // 2], x[..., d // 2:]) if halves else (x[..., ::2], x[..., 1::2])
    along, across = np.cos(angle)[:, None], np.sin(angle)[:, None]
    first, second = one * along - two * across, one * across + two * along
    y = np.empty(x.shape)
    if halves:
        y[..., :d // 2], y[..., d // 2:] = first, second
    else:
        y[..., ::2], y[..., 1::2] = first, second
    return single(y)


def positions():
    x, at = normal(5, 3, 10), integers(0, 50, 5)
    calls = []
    for kernel, halves in ("rope", False), ("rotary", False), ("rotary_halves", True):
        calls += [(f"{kernel}(x, at)", turned(x, at, 10000, halves))]
        calls += [(f"{kernel}(x, at, {base})", turned(x, at, base, halves)) for base in (1.0, 100.0, 500000.0)]
    group("positions", {"x": x, "at": at}, calls, 1e-4)
    for kernel in "rope", "rotary", "rotary_halves":
        refused(f"{kernel}(x, at)", "f32[5, 3, 9]", "x: f32[5, 3, 9], at: i32[5]")


def topk(x, k):
    """The k largest of each row, and their places."""
    order = np.argsort(-x, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(x, order, axis=1), order.astype(np.int32)


def largest():
    x = normal(4, 6)
    pairs = [part for k in (1, 2, 5, 6) for part in topk(x, k)]
    body = "".join(f"  r{2 * i}, r{2 * i + 1} = topk_rows(x, {k});\n" for i, k in enumerate((1, 2, 5, 6)))
    results = ", ".join(f"r{i}: {type_of(want)}" for i, want in enumerate(pairs))
    group("largest", {"x": x}, [("topk_rows()", want) for want in pairs],
          results=f"program largest(x: f32[4, 6]) -> ({results}) {{\n{body}}}\n")
    ids = integers(-3, 12, 40)
    calls = [(f"histogram(ids, {n})", np.array([(ids == i).sum() for i in range(n)], np.int32)) for n in (1, 5, 12, 20)]
    dy = normal(40, 5)
    calls += [(f"embed_gradient(ids, dy, {n})", single([dy[ids == i].sum(axis=0, dtype=np.float64) for i in range(n)])) for n in (1, 5, 20)]
    group("counted", {"ids": ids, "dy": dy}, calls)


# ---- random numbers ----

def numbers():
    shapes = ((1, 1), (1, 70), (33, 1), (5, 7))
    group("bits", {}, [(f"random_bits({s}, {n}, {d})", philox.bits_of(s, n, d)) for s in (0, -3) for n, d in shapes])
    group("even", {}, [(f"random_uniform(5, {n}, {d})", single(philox.even_of(5, n, d)[0])) for n, d in shapes], 0)
    group("bell", {}, [(f"random_normal(5, {n}, {d})", single(philox.normal_of(5, n, d))) for n, d in shapes], 2e-5)


# ---- experts, sparse matrices, recurrences ----

def experts():
    x, gate, w1, w2 = normal(7, 6), normal(4, 6), normal(4, 5, 6), normal(4, 6, 5)

    def mixture(k):
        logits = x.astype(np.float64) @ gate.T
        y = np.zeros(x.shape)
        for r, row in enumerate(logits):
            best = np.argsort(-row, kind="stable")[:k]
            weight = np.exp(row[best] - row[best].max())
            for e, share in zip(best, weight / weight.sum()):
                h = w1[e].astype(np.float64) @ x[r]
                y[r] += share * (w2[e] @ (h / (1 + np.exp(-h))))
        return single(y)

    calls = [(f"experts(x, gate, w1, w2, {k})", mixture(k)) for k in (1, 2, 3, 4)]
    group("mixture", {"x": x, "gate": gate, "w1": w1, "w2": w2}, calls, 1e-4)
    for k in 0, 5:
        refused(f"experts(x, gate, w1, w2, {k})", "f32[7, 6]", "x: f32[7, 6], gate: f32[4, 6], w1: f32[4, 5, 6], w2: f32[4, 6, 5]")
    ids = integers(0, 6, 30)
    place = random.permutation(30).astype(np.int32)
    rows_at = np.empty(30, np.int32)
    rows_at[place] = np.arange(30)
    calls = [(f"expert_starts(expert_counts(ids, {e}))", np.array([(ids < i).sum() for i in range(e + 1)], np.int32)) for e in (0, 1, 6, 9)]
    calls += [(f"expert_rows(place, {k})", (rows_at // k).astype(np.int32)) for k in (1, 2, 7, 40)]
    group("pairs", {"ids": ids, "place": place}, calls)
    refused("expert_rows(place, 0)", "i32[30]", "place: i32[30]")
    start, rows, weight, z, down = np.array([0, 5, 5, 12], np.int32), integers(0, 9, 12), normal(12), normal(12, 6), normal(3, 4, 6)
    term = weight[:, None] * np.einsum("pd,pfd->pf", z, down[np.searchsorted(start, np.arange(12), side="right") - 1])
    sums = np.array([term[rows == r].sum(0) for r in range(11)])
    calls = [(f"grouped_linear_add(z, start, down, rows, weight, {n})", single(sums[:n])) for n in (1, 4, 9, 11)]
    group("added", {"z": z, "start": start, "down": down, "rows": rows, "weight": weight}, calls, 1e-4)


def sparse():
    r, n = 11, 9
    row = np.sort(integers(0, r, 50))
    col, val, x = integers(-1, n + 1, 50), normal(50), normal(n)
    inside = (col >= 0) & (col < n)
    terms = np.where(inside, val * np.where(inside, x[np.clip(col, 0, n - 1)], 0).astype(np.float64), 0)

    def product(rows_):
        return single([terms[row == i].sum() for i in range(rows_)])

    starts = np.array([(row < i).sum() for i in range(r + 1)], np.int32)
    calls = [(f"spmv_coo(row, col, val, x, {k})", product(k)) for k in (1, 5, r, r + 4)]
    calls += [(f"coo_rows(row, {k})", np.array([(row < i).sum() for i in range(k + 1)], np.int32)) for k in (0, 1, r, r + 4)]
    inputs = {"row": row, "col": col, "val": val, "x": x, "ptr": starts}
    for parts, least in ((1, 4096), (2, 1), (7, 3), (50, 1), (64, 1)):
        carry = f"spmv_carry(ptr, col, val, x, {parts}, {least})"
        calls += [(f"spmv_join(ptr, col, val, x, {carry}, {least}, 4, 8, {min(least, 16)})", product(r))]
        calls += [(f"spmv_join_rows(ptr, col, val, x, {carry}, {least})", product(r))]
    calls += [(f"spmv_adaptive(ptr, col, val, x, {rows}, {lanes}, {long})", product(r)) for rows, lanes, long in ((1, 1, 0), (2, 64, 3), (32, 4, 100))]
    group("sparse", inputs, calls)
    tensors = "ptr: i32[12], col: i32[50], val: f32[50], x: f32[9]"
    refused("spmv_carry(ptr, col, val, x, 0)", "f32[0]", tensors)
    refused("spmv_carry(ptr, col, val, x, 5, 0)", "f32[5]", tensors)
    refused("spmv_join(ptr, col, val, x, spmv_carry(ptr, col, val, x, 5, 8), 8)", "f32[11]", tensors)


def alignment(s, t, same, other, gap):
    h = np.zeros((len(s) + 1, len(t) + 1), np.int64)
    for i, j in itertools.product(range(len(s)), range(len(t))):
        score = same if s[i] == t[j] else -other
        h[i + 1, j + 1] = max(0, h[i, j] + score, h[i, j + 1] - gap, h[i + 1, j] - gap)
    return h[1:, 1:].astype(np.int32)


def alignments():
    s, t = integers(0, 4, 70, dtype=np.int8), integers(0, 4, 67, dtype=np.int8)
    calls = [(f"smith_waterman(s, t, {a}, {b}, {c})", alignment(s, t, a, b, c)) for a, b, c in ((3, 2, 2), (1, 0, 0), (5, -1, 3), (2, 7, 1))]
    group("alignments", {"s": s, "t": t}, calls)


def constants_of(folder):
    """Kernels and programs with a constant or a default."""
    found = set()
    for path in glob.glob(os.path.join(folder, "*.tile")):
        for name, head in re.findall(r"^(?:kernel|program) (\w+)\(((?:[^{]|\n)*?)\)\s*->", open(path).read(), re.M):
            if re.search(r"\bconst\b|=", head):
                found.add(name)
    return found


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for part in convolutions, attentions, gradients, scans, rows, positions, largest, numbers, experts, sparse, alignments, codes_and_trees:
        part()
    missing = constants_of(LIBRARY) - covered
    assert not missing, f"constants that nothing here tries: {sorted(missing)}"


main()
