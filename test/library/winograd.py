"""Convolutions; see library.py for the arguments."""
import numpy as np

from library import normal, run

B, C, Y, X, O = 2, 5, 13, 11, 7


def conv(x, k, stride=1, pad=0, dilation=1):
    x, k = x.astype(np.float64), k.astype(np.float64)
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    (n, _, h, w), (o, cg, kh, kw) = x.shape, k.shape
    oh, ow = (h - dilation * (kh - 1) - 1) // stride + 1, (w - dilation * (kw - 1) - 1) // stride + 1
    per = o // (x.shape[1] // cg)
    y = np.zeros((n, o, oh, ow))
    for j in range(o):
        part = x[:, j // per * cg:(j // per + 1) * cg]
        for r in range(kh):
            for s in range(kw):
                seen = part[:, :, dilation * r:dilation * r + stride * oh:stride, dilation * s:dilation * s + stride * ow:stride]
                y[:, j] += np.einsum("ncij,c->nij", seen[:, :, :oh, :ow], k[j, :, r, s])
    return y


x, k = normal(B, C, Y, X), normal(O, C, 3, 3)
run("two", {"x": x, "k": k}, {"y": conv(x, k, pad=1)})
run("four", {"x": x, "k": k}, {"y": conv(x, k)}, 1e-4)
run("chosen", {"x": x, "k": k}, {"y": conv(x, k, pad=1)}, 1e-4)
run("chosen", {"x": x[:, :, :9, :10].copy(), "k": k}, {"y": conv(x[:, :, :9, :10], k, pad=1)}, 1e-4, ["-DY=9", "-DX=10"])
run("chosen", {"x": x[:, :4].copy(), "k": k[:, :4].copy()}, {"y": conv(x[:, :4], k[:, :4], pad=1)}, 1e-4, ["-DC=4"])

x, k = [(t.view(np.uint32) & 0xFFFF0000).view(np.float32) for t in (x, k)]
run("half", {"x": x, "k": k}, {"y": conv(x, k, pad=1)}, 2.0**-8)

x, k = normal(B, 6, Y, X), normal(9, 2, 3, 2)
run("grouped", {"x": x, "k": k}, {"y": conv(x, k, 2, 1, 2)})
k = normal(6, 1, 3, 3)
run("depthwise", {"x": x, "k": k}, {"y": conv(x, k, pad=1)})

# Channels last, by weights made once: F(m x n, r x s) with borders, in several blocks of tiles
for (r, s), (m, n), (above, beside) in ((3, 3), (4, 4), (1, 1)), ((3, 3), (6, 2), (0, 2)), ((5, 5), (2, 4), (2, 1)), ((1, 7), (1, 2), (0, 3)), ((3, 1), (6, 1), (1, 0)):
    x, k, bias = normal(B, C, Y, X), normal(O, C, r, s), normal(O)
    padded = np.pad(x, ((0, 0), (0, 0), (above, above), (beside, beside)))
    sizes = [f"-D{name}={n}" for name, n in (("KH", r), ("KW", s), ("M", m), ("N", n), ("ABOVE", above), ("BESIDE", beside))]
    run("filtered", {"x": x.transpose(0, 2, 3, 1).copy(), "k": k.transpose(2, 3, 1, 0).copy(), "bias": bias},
        {"y": np.maximum(conv(padded, k).transpose(0, 2, 3, 1) + bias, 0)}, 3e-4, sizes)
