"""Strassenified convolutions; see library.py for the arguments."""
import numpy as np

from library import normal, random, run


def codes(*shape):
    return random.integers(-1, 2, shape).astype(np.int8)


def patches(x, kh, kw, stride):
    """[images, height, width, kh, kw, channels] of what each place of the result sees."""
    b, h, w, c = x.shape
    oh, ow = -(-h // stride), -(-w // stride)
    down, across = max(stride * (oh - 1) + kh - h, 0), max(stride * (ow - 1) + kw - w, 0)
    wide = np.pad(x, ((0, 0), (down // 2, down - down // 2), (across // 2, across - across // 2), (0, 0)))
    view = np.lib.stride_tricks.sliding_window_view(wide.astype(np.float64), (kh, kw), axis=(1, 2))
    return np.moveaxis(view[:, ::stride, ::stride][:, :oh, :ow], 3, 5)


for name, x, o, r, window, stride in (("first", normal(2, 13, 10, 1), 6, 9, (10, 4), 2),
                                      ("inner", normal(2, 7, 5, 6), 70, 9, (3, 3), 1)):
    B, a, C = codes(r, *window, x.shape[3]), normal(r), codes(o, r)
    t = np.einsum("bijuvc,ouvc->bijo", patches(x, *window, stride), B) * a
    run(name, {"x": x, "B": B, "a": a, "C": C}, {"y": t @ C.T})

x, B, a = normal(2, 7, 5, 70), codes(3, 3, 3, 70), normal(3, 70)
run("depthwise", {"x": x, "B": B, "a": a},
    {"y": np.einsum("bijuvc,ruvc,rc->bijc", patches(x, 3, 3, 2), B, a)})
