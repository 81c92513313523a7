"""Constants of kernels with codes, of Bonsai trees and of fixed point: the groups of constants.py for std/strassen.tile,
std/trees.tile and std/fixed.tile."""
import itertools

import numpy as np

from groups import group, integers, normal, refused, single


def codes(*shape):
    return integers(-1, 2, *shape, dtype=np.int8)


def same(x, k, stride):
    """A convolution, channels last, exact for integers; k: [o, kh, kw, c], or [kh, kw, c] for each channel by itself."""
    kh, kw = k.shape[-3:-1]
    x, k = ((t.astype(np.int64 if t.dtype.kind == "i" else np.float64)) for t in (x, k))
    oh, ow = -(-x.shape[1] // stride), -(-x.shape[2] // stride)
    down, across = max(stride * (oh - 1) + kh - x.shape[1], 0), max(stride * (ow - 1) + kw - x.shape[2], 0)
    x = np.pad(x, ((0, 0), (down // 2, down + stride), (across // 2, across + stride), (0, 0)))
    sums = 0
    for u, v in itertools.product(range(kh), range(kw)):
        seen = x[:, u:u + stride * oh:stride, v:v + stride * ow:stride]
        sums = sums + (seen * k[u, v] if k.ndim == 3 else seen @ k[:, u, v].T)
    return sums


def strassen():
    strides = (1, 2, 3, 8, 9, 20)
    for kh, kw in (3, 3), (2, 4), (10, 1):
        x, q, scale, mixed = normal(2, 8, 5, 6), codes(7, kh, kw, 6), normal(7), codes(9, 7)
        by, each = codes(3, kh, kw, 6), normal(3, 6)
        inputs = {"x": x, "q": q, "scale": scale, "C": mixed, "B": by, "d": each}
        calls = []
        for stride in strides:
            t = same(x, q, stride) * scale
            calls += [(f"conv2d_codes(x, q, scale, {stride})", single(t)), (f"strassen_conv2d(x, q, scale, C, {stride})", single(t @ mixed.T))]
            calls += [(f"strassen_depthwise(x, B, d, {stride})", single(sum(same(x, b, stride) * s for b, s in zip(by, each))))]
        group(f"strassen{kh}{kw}", inputs, calls, codes=("q", "C"))
    args = "x: f32[2, 8, 5, 6], q: i8[7, 3, 3, 6], s: f32[7], B: t2[7, 3, 3, 6], C: t2[4, 7], d: f32[7, 6]"
    for call, rest in ("conv2d_codes(x, q, s, 0)", 7), ("strassen_conv2d(x, B, s, C, 0)", 4), ("strassen_depthwise(x, B, d, 0)", 6):
        refused(call, f"f32[2, 0, 0, {rest}]", args, "division-by-zero")


def walked(sides, depth):
    """The nodes of the hard path of each row, [rows, depth + 1]; sides: theta z, [rows, nodes with children]."""
    at = np.zeros((len(sides), 1), np.int64)
    for _ in range(depth):
        now = at[:, -1:]
        at = np.hstack([at, 2 * now + np.where(np.take_along_axis(sides, now, 1) > 0, 1, 2)])
    return at


def shares(sides, depth, sharp):
    """The weight of each node, [rows, nodes]."""
    share = np.ones((len(sides), 2 ** (depth + 1) - 1))
    for k in range(2**depth - 1):
        left = (1 + np.tanh(sharp * sides[:, k])) / 2
        share[:, 2 * k + 1], share[:, 2 * k + 2] = share[:, k] * left, share[:, k] * (1 - left)
    return share


def trees():
    n, d, l = 19, 11, 5
    for depth in 0, 1, 2, 4:
        q, m = 2**depth - 1, 2 ** (depth + 1) - 1
        z, w, v, t = normal(n, d), normal(m, l, d), normal(m, l, d), normal(q, d)
        exact = z.astype(np.float64)
        sides, each, gate = exact @ t.T, np.einsum("nd,mld->nml", exact, w), np.einsum("nd,mld->nml", exact, v)
        inputs = {"z": z, "W": w.reshape(m * l, d), "V": v.reshape(m * l, d), "w": w, "v": v, "t": t}
        inputs |= {"a": single(each).reshape(n, -1), "b": single(gate).reshape(n, -1), "s": single(sides)}
        calls = []
        for sigma, sharp in (0.7, 1.5), (0.0, 1.0), (2.0, 0.0):
            terms = each * np.tanh(sigma * gate)
            soft = single(np.einsum("nm,nml->nl", shares(sides, depth, sharp), terms))
            hard = single(np.take_along_axis(terms, walked(sides, depth)[..., None], 1).sum(1))
            calls += [(f"bonsai(z, W, V, t, {depth}, {sigma}, {sharp})", soft), (f"bonsai_weighted(a, b, s, {depth}, {sigma}, {sharp})", soft),
                      (f"bonsai_path(z, z, z, w, v, t, {depth}, {sigma})", hard)]
        group(f"trees{depth}", inputs, calls, 1e-4)
    args = "z: f32[4, 8], W: f32[35, 8], t: f32[3, 8], w: f32[7, 5, 8], a: f32[4, 35], s: f32[4, 3], e: f32[1, 5, 8], u: f32[0, 8]"
    for depth in -1, 0, 1, 3, 66:
        refused(f"bonsai(z, W, W, t, {depth}, 1.0, 1.0)", "f32[4, 5]", args)
        refused(f"bonsai_weighted(a, a, s, {depth}, 1.0, 1.0)", "f32[4, 5]", args)
        refused(f"bonsai_path(z, z, z, w, w, t, {depth}, 1.0)", "f32[4, 5]", args)
    refused("bonsai_path(z, z, z, e, e, u, 64, 1.0)", "f32[4, 5]", args)
    refused("bonsai_path(z, z, z, e, e, t, 2, 1.0)", "f32[4, 5]", args)


def shifted(sums, scale, shift, least, most):
    """sums * scale / 2^shift, to the nearest, halves up, between least and most; exact."""
    wide = sums.astype(object) * scale.astype(object) + (1 << (shift - 1))
    return np.clip(wide >> shift, least, most)


def rounded(stride=()):
    """Choices of [stride,] shift, least, most and the type of results."""
    cuts = [(15, 0, 127, np.int8), (15, -128, 127, np.int8), (1, -2**31, 2**31 - 1, np.int32), (12, -32768, 32767, np.int16),
            (31, -5, 5, np.int8), (7, 3, 3, np.int32), (47, -9, 9, np.int8), (63, -9, 9, np.int8)]
    return [(*([stride[i % len(stride)]] if stride else []), *cut) for i, cut in enumerate(cuts)]


def fixed():
    for bits, top in (np.int8, 127), (np.int16, 32767):
        x, w, image = (integers(-top - 1, top + 1, *shape, dtype=bits) for shape in ((9, 40), (9, 7, 6), (2, 8, 5, 6)))
        q, k, by = codes(21, 40), codes(7, 3, 2, 6), codes(3, 4, 6)
        bias, scale = integers(-top, top, 21), integers(-32768, 32768, 21, dtype=np.int16)
        b, s, e, f = bias[:7], scale[:7], bias[:6], scale[:6]
        inputs = {"x": x, "q": q, "bias": bias, "scale": scale, "image": image, "k": k, "by": by, "b": b, "s": s, "e": e, "f": f}
        wide = x.astype(np.int64) @ q.T.astype(np.int64) + bias
        calls = [(f"fixed_linear(x, q, bias, scale, {n}, {least}, {most})", shifted(wide, scale, n, least, most).astype(kind))
                 for n, least, most, kind in rounded()]
        for stride, n, least, most, kind in rounded((1, 2, 3, 8, 20)):
            calls += [(f"fixed_conv2d(image, k, b, s, {stride}, {n}, {least}, {most})", shifted(same(image, k, stride) + b, s, n, least, most).astype(kind)),
                      (f"fixed_depthwise(image, by, e, f, {stride}, {n}, {least}, {most})", shifted(same(image, by, stride) + e, f, n, least, most).astype(kind))]
        group(f"fixed{top}", inputs, calls)
        sums = w.astype(np.int64).sum(1)
        calls = [("fixed_mean(w)", ((sums + 3) // 7).astype(bits))]
        calls += [(f"fixed_mean(w, {more})", (((sums << more) + 3) // 7).astype(kind)) for more, kind in ((0, np.int16), (1, np.int32), (7, np.int32), (16, np.int64), (32, np.int64))]
        group(f"means{top}", {"w": w}, calls)
    args = "x: i8[4, 8], q: i8[3, 8], b: i32[3], s: i16[3], i: i8[1, 8, 8, 3], k: i8[3, 3, 3, 3], d: i8[3, 3, 3], w: i8[4, 5, 3]"
    for rest in "0, 0, 127", "-1, 0, 127", "64, 0, 127", "15, 1, 0":
        refused(f"fixed_linear(x, q, b, s, {rest})", "i8[4, 3]", args)
        refused(f"fixed_conv2d(i, k, b, s, 1, {rest})", "i8[1, 8, 8, 3]", args)
        refused(f"fixed_depthwise(i, d, b, s, 1, {rest})", "i8[1, 8, 8, 3]", args)
    refused("fixed_conv2d(i, k, b, s, 0, 15, 0, 127)", "i8[1, 0, 0, 3]", args, "division-by-zero")
    refused("fixed_depthwise(i, d, b, s, 0, 15, 0, 127)", "i8[1, 0, 0, 3]", args, "division-by-zero")
    for more in -1, 33:
        refused(f"fixed_mean(w, {more})", "i64[4, 3]", args)


def fixed_trees():
    n, d, l = 9, 40, 5
    table = np.round(32767 * np.tanh(np.arange(-128, 129) / 16)).astype(np.int16)
    for depth in 0, 1, 3:
        q, m = 2**depth - 1, 2 ** (depth + 1) - 1
        z, w, v, t = integers(-999, 999, n, d, dtype=np.int16), codes(m, l, d), codes(m, l, d), integers(-128, 128, q, d, dtype=np.int8)
        a, b = (integers(-32768, 32768, m, l, dtype=np.int16) for _ in range(2))
        exact = z.astype(np.int64)
        at, calls = walked(exact @ t.T.astype(np.int64), depth)[..., None], []
        for one, two in (8, 12), (1, 15), (15, 1), (40, 16), (63, 63):
            left, u = (shifted(np.einsum("nd,mld->nml", exact, by), scale, shift, -32768, 32767).astype(np.int64)
                       for by, scale, shift in ((w, a, one), (v, b, two)))
            u += 32768
            low = table[u >> 8].astype(np.int64)
            terms = left * (low + ((table[(u >> 8) + 1] - low) * (u & 255) >> 8)) >> 15
            calls.append((f"fixed_bonsai_path(z, W, V, t, a, b, table, {depth}, {one}, {two})", np.take_along_axis(terms, at, 1).sum(1).astype(np.int32)))
        group(f"fixed_trees{depth}", {"z": z, "W": w, "V": v, "t": t, "a": a, "b": b, "table": table}, calls)
    args = "z: i16[4, 8], W: i8[3, 5, 8], t: i8[1, 8], s: i16[3, 5], T: i16[257]"
    for rest in "0, 8, 8", "2, 8, 8", "-1, 8, 8", "1, 0, 8", "1, 8, 0", "1, 64, 8", "1, 8, 64":
        refused(f"fixed_bonsai_path(z, W, W, t, s, s, T, {rest})", "i32[4, 5]", args)
    none = "z: i16[4, 8], W: i8[1, 5, 8], t: i8[0, 8], s: i16[1, 5], T: i16[257]"
    refused("fixed_bonsai_path(z, W, W, t, s, s, T, 64, 8, 8)", "i32[4, 5]", none)


def codes_and_trees():
    for part in strassen, trees, fixed, fixed_trees:
        part()
