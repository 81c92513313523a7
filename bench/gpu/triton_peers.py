"""Triton as a peer: kernels of the designs that its tutorials teach (02 softmax, 03 and 09 products: groups of tiles that share the
L2, tensor descriptors, programs that stay; 06 attention), written for this comparison. Of several sizes of tiles the fastest is
taken, as the tutorials' tuners do; those that a machine refuses are left out."""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

PRODUCTS = [(128, 256, 64, 8, 3), (128, 128, 64, 8, 4), (128, 128, 128, 8, 3), (64, 256, 64, 4, 4)]  # rows, columns, k, warps, stages
ATTENTIONS = [(128, 128, 8, 2), (128, 128, 8, 3), (128, 64, 8, 3), (64, 128, 4, 3)]  # queries, keys, warps, stages


@triton.jit
def product_kernel(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, NN: tl.constexpr, GROUP: tl.constexpr):
    rows, columns = tl.cdiv(m, BM), tl.cdiv(n, BN)
    for tile in tl.range(tl.program_id(0), rows * columns, tl.num_programs(0), flatten=True):
        first = tile // (GROUP * columns) * GROUP
        height = min(rows - first, GROUP)
        within = tile % (GROUP * columns)
        i, j = (first + within % height) * BM, within // height * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for p in range(0, k, BK):
            x = a.load([i, p])
            if NN:
                acc = tl.dot(x, b.load([p, j]), acc)
            else:
                acc = tl.dot(x, b.load([j, p]).T, acc)
        c.store([i, j], acc.to(tl.bfloat16))


@triton.jit
def softmax_kernel(x, y, columns, WIDTH: tl.constexpr):
    at = tl.arange(0, WIDTH)
    row = tl.program_id(0).to(tl.int64) * columns
    v = tl.load(x + row + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row + at, (e / tl.sum(e, 0)).to(tl.bfloat16), mask=at < columns)


@triton.jit
def attend(x, k, v, most, total, acc, first, last, kv, at, scale, MASKED: tl.constexpr, BN: tl.constexpr):
    for j in tl.range(first, last, BN):
        s = tl.dot(x, k.load([kv + j, 0]).T) * scale
        if MASKED:
            s = tl.where(at[:, None] >= j + tl.arange(0, BN)[None, :], s, -1.0e30)
        higher = tl.maximum(most, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        shrink = tl.exp2(most - higher)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.bfloat16), v.load([kv + j, 0]), acc * shrink[:, None])
        most = higher
    return most, total, acc


@triton.jit
def attention_kernel(q, k, v, o, s, share, scale, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    i, head = tl.program_id(0) * BM, tl.program_id(1)
    kv = head // share * s
    at = i + tl.arange(0, BM)
    x = q.load([head * s + i, 0])
    most, total, acc = tl.full((BM,), -1.0e30, tl.float32), tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    most, total, acc = attend(x, k, v, most, total, acc, 0, i if CAUSAL else s, kv, at, scale, False, BN)
    if CAUSAL:
        most, total, acc = attend(x, k, v, most, total, acc, i, i + BM, kv, at, scale, True, BN)
    o.store([head * s + i, 0], (acc / total[:, None]).to(tl.bfloat16))


def fastest(sizes, made):
    """Of the functions made(*sizes) of the number of a set of inputs the one that takes least time here, or None."""
    times = []
    for one in sizes:
        try:
            call = made(*one)
            times.append((triton.testing.do_bench(lambda: call(0), warmup=5, rep=30, return_mode="median"), len(times), call))
        except (triton.runtime.errors.OutOfResources, triton.compiler.errors.CompilationError):
            pass
    return min(times)[2] if times else None


def described(tensor, *block):
    return TensorDescriptor.from_tensor(tensor, list(block))


def product(sets, c, nn):
    """c = a b, or a times b's transpose, for each (a, b); None where descriptors cannot have the rows."""
    if any(t.stride(0) * t.element_size() % 16 for t in (*sets[0], c)):
        return None
    (m, k), n = sets[0][0].shape, c.shape[1]
    processors = torch.cuda.get_device_properties(c.device).multi_processor_count

    def made(bm, bn, bk, warps, stages):
        operands = [(described(a, bm, bk), described(b, *((bk, bn) if nn else (bn, bk))), described(c, bm, bn)) for a, b in sets]
        grid = (min(processors, triton.cdiv(m, bm) * triton.cdiv(n, bn)),)
        return lambda i: product_kernel[grid](*operands[i % len(sets)], m, n, k, bm, bn, bk, nn, 8, num_warps=warps, num_stages=stages)

    return fastest(PRODUCTS, made)


def softmax(sets):
    """For each (x, y)."""
    rows, columns = sets[0][0].shape
    width = triton.next_power_of_2(columns)
    return fastest([(4,), (8,), (16,)], lambda warps: lambda i: softmax_kernel[(rows,)](*sets[i % len(sets)], columns, width, num_warps=warps))


def attention(q, k, v, o, causal):
    """None where the rows are no multiple of the tiles: descriptors would reach into the next head."""
    (b, h, s, d), g = q.shape, k.shape[1]
    if s % 128:
        return None
    scale = 1.4426950408889634 / d**0.5
    flat = lambda t, block: described(t.view(-1, d), block, d)

    def made(bm, bn, warps, stages):
        operands = flat(q, bm), flat(k, bn), flat(v, bn), flat(o, bm)
        return lambda i: attention_kernel[(s // bm, b * h)](*operands, s, h // g, scale, bool(causal), bm, bn, d, num_warps=warps, num_stages=stages)

    return fastest(ATTENTIONS, made)


@triton.jit
def latent_kernel(q, c, parts, ends, o, s, h, scale, BH: tl.constexpr, BN: tl.constexpr, V: tl.constexpr, E: tl.constexpr, PARTS: tl.constexpr):
    heads, b, part = tl.program_id(0) * BH + tl.arange(0, BH), tl.program_id(1).to(tl.int64), tl.program_id(2)
    x, y, keys = tl.arange(0, V), tl.arange(0, E), tl.arange(0, BN)
    row = (b * h + heads[:, None]) * (V + E)
    here = heads[:, None] < h
    low, high = tl.load(q + row + x[None, :], mask=here, other=0.0), tl.load(q + row + V + y[None, :], mask=here, other=0.0)
    most, total, acc = tl.full((BH,), -1.0e30, tl.float32), tl.zeros((BH,), tl.float32), tl.zeros((BH, V), tl.float32)
    share = tl.cdiv(tl.cdiv(s, PARTS), BN) * BN
    for j in range(part * share, min(s, part * share + share), BN):
        at = (b * s + j + keys[:, None]) * (V + E)
        k = tl.load(c + at + x[None, :])
        p = (tl.dot(low, k.T) + tl.dot(high, tl.load(c + at + V + y[None, :]).T)) * scale
        higher = tl.maximum(most, tl.max(p, 1))
        p = tl.exp2(p - higher[:, None])
        shrink = tl.exp2(most - higher)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.bfloat16), k, acc * shrink[:, None])
        most = higher
    if PARTS == 1:
        tl.store(o + (b * h + heads[:, None]) * V + x[None, :], (acc / total[:, None]).to(tl.bfloat16), mask=here)
    else:
        to = (b * h + heads) * PARTS + part
        tl.store(parts + to[:, None] * V + x[None, :], acc / total[:, None], mask=here)
        tl.store(ends + to, most + tl.log2(total), mask=heads < h)


@triton.jit
def latent_merge(parts, ends, o, V: tl.constexpr, PARTS: tl.constexpr):
    row, x, n = tl.program_id(0).to(tl.int64), tl.arange(0, V), tl.arange(0, PARTS)
    e = tl.load(ends + row * PARTS + n)
    w = tl.exp2(e - tl.max(e, 0))
    acc = tl.sum(tl.load(parts + (row * PARTS + n[:, None]) * V + x[None, :]) * (w / tl.sum(w, 0))[:, None], 0)
    tl.store(o + row * V + x, acc.to(tl.bfloat16))


LATENTS = [(64, 64, 8, 1), (64, 64, 8, 2), (32, 64, 8, 2), (64, 32, 8, 2), (16, 64, 4, 2), (16, 32, 4, 2)]  # heads, keys, warps, stages


def latent(q, sets, o, scale, values):
    """Attention whose keys are rows of `sets`, of which the first elements are the values; parts of the keys where tasks are few."""
    (b, h, d), s = q.shape, sets[0].shape[1]

    def made(bh, bn, warps, stages):
        tasks = b * triton.cdiv(h, bh)
        parts = next((p for p in (1, 2, 4, 8) if tasks * p >= 132), 8)
        some = torch.empty(b * h * parts, values, device="cuda"), torch.empty(b * h, parts, device="cuda")

        def call(i):
            latent_kernel[(triton.cdiv(h, bh), b, parts)](q, sets[i % len(sets)], *some, o, s, h, scale * 1.4426950408889634, bh, bn, values, d - values, parts, num_warps=warps, num_stages=stages)
            if parts > 1:
                latent_merge[(b * h,)](*some, o, values, parts)

        return call

    return fastest(LATENTS, made)
