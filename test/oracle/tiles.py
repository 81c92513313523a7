"""Tiles with named ranges: a value, and by how much what a legal implementation computes may differ from it.

An error of 0 says that the language fixes every bit; an infinite one says that nothing is known, as behind a comparison
that hangs on the last bit. Integers and conditions have one of the two. Sums of numbers whose partial sums are all
representable are exact in any order.
"""
import math

import numpy as np

from . import elements as el

TINY = 1e-37  # f32 results below the normal numbers may be flushed


class Tile:
    __slots__ = ("axes", "elem", "val", "err", "mag")

    def __init__(self, axes, elem, val, err=None, mag=None):
        self.axes, self.elem, self.val = tuple(axes), elem, val
        self.err = np.zeros(np.shape(val)) if err is None else err
        self.mag = mag  # the sum of the absolute values that this is a sum of

    def magnitude(self):
        return np.abs(self.val) if self.mag is None else self.mag


def scalar(elem, value):
    return Tile((), elem, np.asarray(value, np.float64 if el.is_float(elem) else bool if elem == "bool" else np.int64))


def aligned(*tiles):
    """The union of the axes, and value and error of each with all of them."""
    axes = list(dict.fromkeys(a for t in tiles for a in t.axes))
    return axes, [(spread(t.val, t.axes, axes), spread(t.err, t.axes, axes)) for t in tiles]


def spread(array, have, axes):
    order = sorted(range(len(have)), key=lambda k: axes.index(have[k]))
    array = np.transpose(array, order)
    where = [have[k] for k in order]
    return array.reshape([array.shape[where.index(a)] if a in where else 1 for a in axes])


def settled(elem, val, err, finer):
    """A float result that one operation rounds to `elem`: exact if its operands are and it is representable. A product
    that is not exact may be fused with the addition behind it. finer: the result in a wider type than f64."""
    err, near = np.where(np.isnan(err), np.inf, err), el.rounded(elem, val)
    exact = (err == 0) & (near == finer)
    with_rounding = err + np.abs(val) * el.epsilon(elem) * 2 + (0 if elem == "f64" else TINY)
    return unknown(elem, val, np.where(exact, 0, with_rounding))


def finer(x):
    return np.asarray(x, np.longdouble)


def unknown(elem, val, err):
    err = np.where(np.isnan(err), np.inf, err)
    bad = ~np.isfinite(val) | (np.abs(val) + err > el.FLOATS[elem][2])
    return np.where(bad & ~((err == 0) & np.isinf(val)), np.inf, err)


def convert(t, elem):
    """T(x), a declaration, an update or a store."""
    if t.elem == elem:
        return t
    if elem == "bool":
        decided = (t.err == 0) | (np.abs(t.val) > t.err)
        return Tile(t.axes, elem, t.val != 0, np.where(decided, 0.0, np.inf))
    if el.is_float(elem):
        return to_float(t, elem)
    if el.is_float(t.elem):
        low, high = (np.trunc(np.nan_to_num(t.val + s * t.err, nan=0, posinf=1e30, neginf=-1e30)) for s in (-1, 1))
        least, most = el.bounds(elem)
        far = ~np.isfinite(t.err) | (low != high) | (low < least) | (low > most) | np.isnan(t.val)
        return Tile(t.axes, elem, np.where(far, 0, low).astype(np.int64), np.where(far, np.inf, 0.0))
    return Tile(t.axes, elem, el.wrapped(elem, t.val.astype(np.int64)), t.err)


def holds(elem, other):
    """Every value of the float type `other` is one of `elem`."""
    (fraction, lowest, largest, _), (f, low, most, _) = el.FLOATS[elem], el.FLOATS[other]
    return fraction >= f and lowest <= low and largest >= most


def to_float(t, elem):
    val = t.val.astype(np.float64)
    if el.is_integer(t.elem) or t.elem == "bool":
        return Tile(t.axes, elem, el.rounded(elem, val), t.err, None)
    if holds(elem, t.elem):
        return Tile(t.axes, elem, val, t.err, t.mag)
    near = el.rounded(elem, val)
    largest, has_infinity = el.FLOATS[elem][2:]
    moved = t.err + np.where(np.isfinite(t.err), el.ulp(elem, np.nan_to_num(np.abs(val) + t.err, posinf=1.0)), 0)
    if not has_infinity:
        val = np.clip(val, -largest, largest)
    beyond = (np.abs(val) + moved >= largest) & (t.err != 0) & has_infinity
    exact = t.err == 0
    err = np.where(exact & ~np.isnan(val), 0, np.where(beyond | np.isnan(val), np.inf, moved))
    return Tile(t.axes, elem, np.where(exact, near, val), err, t.mag)


# ---- operators ----


def add_like(a, b, sign):
    elem = el.arithmetic(a.elem, b.elem)
    axes, ((x, ex), (y, ey)) = aligned(convert(a, elem), convert(b, elem))
    val, err = x + sign * y, ex + ey
    if not el.is_float(elem):
        return Tile(axes, elem, el.wrapped(elem, val), err)
    return Tile(axes, elem, val, settled(elem, val, err, finer(x) + sign * finer(y)))


def multiply(a, b):
    elem = el.arithmetic(a.elem, b.elem)
    axes, ((x, ex), (y, ey)) = aligned(convert(a, elem), convert(b, elem))
    val = x * y
    if not el.is_float(elem):
        return Tile(axes, elem, el.wrapped(elem, val), ex + ey)
    err = np.where((ex == 0) & (ey == 0), 0, np.abs(x) * ey + np.abs(y) * ex + ex * ey)
    return Tile(axes, elem, val, settled(elem, val, err, finer(x) * finer(y)))


def divide(a, b):
    elem = el.arithmetic(a.elem, b.elem)
    axes, ((x, ex), (y, ey)) = aligned(convert(a, elem), convert(b, elem))
    if not el.is_float(elem):
        safe = np.where(y == 0, 1, y)
        return Tile(axes, elem, el.wrapped(elem, x // safe), np.where(y == 0, np.inf, ex + ey))
    val = x / y
    err = np.where((ex == 0) & (ey == 0), 0, (ex + np.abs(val) * ey) / (np.abs(y) - ey))
    err = np.where((np.abs(y) > ey) & ~np.isnan(err), err, np.inf)
    soft = settled(elem, val, err, val)
    return Tile(axes, elem, val, np.where((soft == 0) & (el.rounded(elem, val) * y != x), np.abs(val) * 4 * el.epsilon(elem), soft))


def remainder(a, b):
    elem = el.arithmetic(a.elem, b.elem)
    axes, ((x, ex), (y, ey)) = aligned(convert(a, elem), convert(b, elem))
    return Tile(axes, elem, x % np.where(y == 0, 1, y), np.where(y == 0, np.inf, ex + ey))


def bitwise(function):
    def apply(a, b):
        elem = a.elem if a.elem == b.elem == "bool" else el.arithmetic(a.elem, b.elem)
        axes, ((x, ex), (y, ey)) = aligned(convert(a, elem), convert(b, elem))
        val = function(x, y)
        return Tile(axes, elem, val if elem == "bool" else el.wrapped(elem, val), ex + ey)
    return apply


def compare(function):
    """A comparison is known where no value within the errors decides it otherwise."""
    def apply(a, b):
        elem = "bool" if a.elem == "bool" else el.arithmetic(a.elem, b.elem)
        axes, ((x, ex), (y, ey)) = aligned(convert(a, elem), convert(b, elem))
        err = np.where((ex + ey == 0) | (np.abs(x.astype(np.float64) - y.astype(np.float64)) > ex + ey), 0.0, np.inf)
        return Tile(axes, "bool", function(x, y), err)
    return apply


def extreme(function):
    def apply(a, b):
        elem = el.arithmetic(a.elem, b.elem)
        axes, ((x, ex), (y, ey)) = aligned(convert(a, elem), convert(b, elem))
        val = function(x, y)
        clear = np.abs(x.astype(np.float64) - y.astype(np.float64)) > ex + ey
        return Tile(axes, elem, val, np.where(clear, np.where(val == x, ex, ey), np.maximum(ex, ey)) + 0.0)
    return apply


def where(c, a, b):
    elem = el.arithmetic(a.elem, b.elem) if a.elem != "bool" else "bool"
    axes, ((k, ek), (x, ex), (y, ey)) = aligned(c, convert(a, elem), convert(b, elem))
    val, err = np.where(k, x, y), np.where(k, ex, ey)
    same = (x == y) & (ex + ey == 0)
    return Tile(axes, elem, val, np.where((ek == 0) | same, err, np.inf))


OPERATORS = {
    "+": lambda a, b: add_like(a, b, 1), "-": lambda a, b: add_like(a, b, -1), "*": multiply, "/": divide, "%": remainder,
    "&": bitwise(np.bitwise_and), "|": bitwise(np.bitwise_or), "^": bitwise(np.bitwise_xor),
    "<<": bitwise(np.left_shift), ">>": bitwise(np.right_shift), "&&": bitwise(np.logical_and), "||": bitwise(np.logical_or),
    "<": compare(np.less), "<=": compare(np.less_equal), ">": compare(np.greater), ">=": compare(np.greater_equal),
    "==": compare(np.equal), "!=": compare(np.not_equal), "min": extreme(np.minimum), "max": extreme(np.maximum),
}

# ---- functions of elements ----

_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


FUNCTIONS = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin, "cos": np.cos, "tanh": np.tanh, "erf": _erf, "sigmoid": _sigmoid, "silu": lambda x: x * _sigmoid(x),
    "gelu": lambda x: 0.5 * x * (1 + _erf(x / math.sqrt(2))),
}
EXACT = {"abs": np.abs, "floor": np.floor, "ceil": np.ceil, "round": np.rint, "relu": lambda x: np.maximum(x, 0)}
STEPS = ("floor", "ceil", "round")


def negate(t):
    elem = el.computed(t.elem)
    t = convert(t, elem)
    return Tile(t.axes, elem, -t.val if el.is_float(elem) else el.wrapped(elem, -t.val), t.err)


def invert(t):
    return Tile(t.axes, "bool", ~t.val, t.err)


def function(name, t):
    elem = el.computed(t.elem)
    t = convert(t, elem)
    if name in EXACT:
        val = EXACT[name](t.val)
        if not el.is_float(elem):
            return Tile(t.axes, elem, el.wrapped(elem, val), t.err)
        low, high = EXACT[name](t.val - t.err), EXACT[name](t.val + t.err)
        err = np.where((t.err == 0) | (low == high) & (name in STEPS), 0, t.err + (1 if name in STEPS else 0))
        return Tile(t.axes, elem, val, np.where(np.isnan(err), np.inf, err))
    f = FUNCTIONS[name]
    val, spans = f(t.val), [np.abs(f(t.val + s * t.err) - f(t.val)) for s in (-1, 1)]
    span = t.err * 1.2 if name in ("sin", "cos", "silu", "gelu") else np.maximum(*spans)
    err = np.where(t.err == 0, 0, span * 1.01) + (np.abs(val) + 1e-2 * (name in ("sin", "cos", "silu", "gelu", "log", "log2"))) * 32 * el.epsilon(elem) + TINY
    return Tile(t.axes, elem, val, np.where(np.isfinite(val) & ~np.isnan(err), err, np.inf))


# ---- reductions and prefixes ----


def _representable(elem, total, x):
    """All partial sums in any order are numbers of `elem`: multiples of a unit that are not too many."""
    unit = 2.0 ** -(10 if elem == "f32" else 30)
    return (total < 2.0**10) & np.all(x == np.rint(x / unit) * unit)


def total(t, names):
    """sum(x, j, ..)"""
    elem = el.summed(t.elem)
    t = convert(t, elem)
    over = tuple(t.axes.index(n) for n in names)
    axes = [a for a in t.axes if a not in names]
    val = t.val.sum(axis=over)
    if not el.is_float(elem):
        return Tile(axes, elem, el.wrapped(elem, val), t.err.sum(axis=over))
    mag, err = t.magnitude().sum(axis=over), t.err.sum(axis=over)
    count = math.prod(t.val.shape[k] for k in over)
    fits = (err == 0) & _representable(elem, mag, t.val)
    return Tile(axes, elem, val, unknown(elem, val, np.where(fits, 0, err + (count + 1) * el.epsilon(elem) * mag + TINY)), mag)


def contract(a, b, names):
    """a @ b over the ranges that both have; the elements are converted, products not rounded to them."""
    elem = el.summed(el.arithmetic(a.elem, b.elem))
    a, b = convert(a, elem), convert(b, elem)
    product = multiply(a, b)
    return total(product, names)


def best(t, names, most):
    over = tuple(t.axes.index(n) for n in names)
    axes = [a for a in t.axes if a not in names]
    if t.val.size == 0 or any(t.val.shape[k] == 0 for k in over):
        shape = [n for k, n in enumerate(t.val.shape) if k not in over]
        return Tile(axes, t.elem, np.zeros(shape, t.val.dtype), np.full(shape, np.inf))
    t = convert(t, el.computed(t.elem))
    val = t.val.max(axis=over) if most else t.val.min(axis=over)
    return Tile(axes, t.elem, val, t.err.max(axis=over))


def either(t, names, every):
    over = tuple(t.axes.index(n) for n in names)
    axes = [a for a in t.axes if a not in names]
    val = t.val.all(axis=over) if every else t.val.any(axis=over)
    return Tile(axes, "bool", val, t.err.sum(axis=over))


def place_of_best(t, name, most):
    """argmax: the lowest index of the best; unknown where another may be as good."""
    axis = t.axes.index(name)
    axes = [a for a in t.axes if a != name]
    val = np.moveaxis(t.val, axis, -1).astype(np.float64 if el.is_float(t.elem) else np.int64)
    err = np.moveaxis(t.err, axis, -1)
    at = np.argmax(val, axis=-1) if most else np.argmin(val, axis=-1)
    top, slack = (np.take_along_axis(x, at[..., None], -1) for x in (val, err))
    close = (np.abs((val - top).astype(np.float64)) <= err + slack) & (err + slack > 0)
    others = np.arange(val.shape[-1]) != at[..., None]
    return Tile(axes, "i64", at.astype(np.int64), np.where((close & others).any(axis=-1), np.inf, 0.0))


def prefix(t, name, sums):
    axis = t.axes.index(name)
    elem = el.summed(t.elem) if sums else el.computed(t.elem)
    t = convert(t, elem)
    if not sums:
        return Tile(t.axes, elem, np.maximum.accumulate(t.val, axis), np.maximum.accumulate(t.err, axis))
    val = np.cumsum(t.val, axis)
    if not el.is_float(elem):
        return Tile(t.axes, elem, el.wrapped(elem, val), np.cumsum(t.err, axis))
    mag, err = np.cumsum(t.magnitude(), axis), np.cumsum(t.err, axis)
    fits = (err == 0) & _representable(elem, mag, t.val)
    return Tile(t.axes, elem, val, np.where(fits, 0, err + (t.val.shape[axis] + 1) * el.epsilon(elem) * mag + TINY), mag)
