"""Random expressions of a kernel: their text, and their value as a tile.

A Scope is what is visible where an expression is drawn; an Env is what it has while it is evaluated.
"""
import dataclasses

import numpy as np

from . import elements as el
from . import tiles as ti
from .tiles import Tile


@dataclasses.dataclass
class Expr:
    text: str
    elem: str
    axes: frozenset
    run: object  # Env -> Tile
    plain: str = None  # the range that a subscript is


@dataclasses.dataclass
class Range:
    name: str
    dim: str
    tile: bool  # or single positions
    whole: bool = False  # one tile of all that there is
    fixed: bool = False  # tiles of a size that is meant


@dataclasses.dataclass
class Param:
    name: str
    elem: str
    dims: list


class Tensor:
    __slots__ = ("elem", "val", "err")

    def __init__(self, elem, val, err=None):
        self.elem, self.val = elem, val
        self.err = np.zeros(np.shape(val)) if err is None else err


class Env:
    """at: positions of each range, an array for tiles. dims: extents; of a rank's own block also where it begins in the whole, and
    how much the whole has."""

    def __init__(self, tensors, dims):
        self.at, self.var, self.tensors, self.dims = {}, {}, tensors, dims

    def positions(self, name):
        at = self.at[name]
        return Tile((name,) if np.ndim(at) else (), "i64", np.asarray(at, np.int64))


class Scope:
    def __init__(self, draw, dims):
        self.draw, self.dims = draw, dims
        self.ranges, self.params, self.vars = [], [], []
        self.bent = set()  # (parameter, dimension) that is read elsewhere than at a plain range
        self.fixed = set()  # dimensions that cannot be split
        self.unknown = set()  # dimensions whose extents are known at run time only

    def range(self, name):
        return next(r for r in self.ranges if r.name == name)

    def axes_of(self, r):
        return frozenset([r.name] if r.tile else [])


def load(tensor, subs):
    """Outside of the tensor is 0."""
    axes = list(dict.fromkeys(a for s in subs for a in s.axes))
    places = [ti.spread(s.val, s.axes, axes) for s in subs]
    shape = np.broadcast_shapes(*(p.shape for p in places)) if places else ()
    inside, doubt = np.ones(shape, bool), np.zeros(shape)
    for p, s, n in zip(places, subs, tensor.val.shape):
        inside = inside & (p >= 0) & (p < n)
        doubt = doubt + ti.spread(s.err, s.axes, axes)
    if 0 in tensor.val.shape:
        val, err = np.zeros(shape, tensor.val.dtype), np.zeros(shape)
    else:
        at = tuple(np.clip(p, 0, n - 1) for p, n in zip(places, tensor.val.shape))
        val = np.where(inside, tensor.val[at], tensor.val.dtype.type(0))
        err = np.where(inside, tensor.err[at], 0)
    return Tile(axes, tensor.elem, val, err + doubt)


# ---- leaves ----


def literal(elem, value):
    text = f"{value}" if value >= 0 else f"(-{-value})"
    return Expr(text, elem, frozenset(), lambda env: ti.scalar(elem, value))


def number(d, elem):
    if elem == "bool":
        value = d.random() < 0.5
        return Expr(str(value).lower(), "bool", frozenset(), lambda env: ti.scalar("bool", value))
    return literal(elem, d.randint(-12, 12) / 4.0 if el.is_float(elem) else d.randint(0, 7))


def position(r):
    axes = frozenset([r.name] if r.tile else [])

    def run(env):
        at = env.positions(r.name)
        return Tile(at.axes, "i64", at.val + env.dims.get(f"begin of {r.dim}", 0))
    return Expr(f"pos({r.name})", "i64", axes, run)


def tile_begin(r):
    """begin(i) of a range of tiles whose size is fixed."""
    return Expr(f"begin({r.name})", "i64", frozenset(), lambda env: ti.scalar("i64", int(env.at[r.name][0]) + env.dims.get(f"begin of {r.dim}", 0)))


def variable(v):
    name, elem, axes = v
    return Expr(name, elem, axes, lambda env: env.var[name])


def converted(elem, e):
    return Expr(f"{elem}({e.text})", elem, e.axes, lambda env: ti.convert(e.run(env), elem))


def applied(op, a, b):
    run = ti.OPERATORS[op]
    text = f"{op}({a.text}, {b.text})" if op in ("min", "max") else f"({a.text} {op} {b.text})"
    comparing = op in ("<", "<=", ">", ">=", "==", "!=", "&&", "||")
    elem = "bool" if comparing or a.elem == "bool" else el.arithmetic(a.elem, b.elem)
    return Expr(text, elem, a.axes | b.axes, lambda env: run(a.run(env), b.run(env)))


def call(name, a):
    return Expr(f"{name}({a.text})", el.computed(a.elem), a.axes, lambda env: ti.function(name, a.run(env)))


def shifted(r, factor, add):
    """factor * r + add as a subscript, or r / -factor + add."""
    def run(env):
        at = env.positions(r.name)
        return Tile(at.axes, "i64", (at.val * factor if factor > 0 else at.val // -factor) + add)
    text = r.name if factor == 1 else f"{factor} * {r.name}" if factor > 0 else f"{r.name} / {-factor}"
    text += f" + {add}" if add > 0 else f" - {-add}" if add < 0 else ""
    return Expr(text, "i64", frozenset([r.name] if r.tile else []), run, r.name if (factor, add) == (1, 0) else None)


def mirrored(scope, r, dim):
    scope.fixed.add(dim)

    def run(env):
        at = env.positions(r.name)
        return Tile(at.axes, "i64", env.dims.get(f"all of {dim}", env.dims[dim]) - 1 - at.val)
    return Expr(f"{dim} - 1 - {r.name}", "i64", frozenset([r.name] if r.tile else []), run)


def both(a, b):
    def run(env):
        x, y = env.positions(a.name), env.positions(b.name)
        return ti.add_like(x, y, 1)
    return Expr(f"{a.name} + {b.name}", "i64", frozenset(r.name for r in (a, b) if r.tile), run)


def gathered(scope, depth):
    """A computed place: an element of integers, or a variable."""
    d = scope.draw
    known = [variable(v) for v in scope.vars if el.is_integer(v[1]) and v[1] not in ("i4", "t2")]
    loads = [p for p in scope.params if p.elem in ("i32", "i64", "u8", "i8")] if depth > 0 else []
    if loads and (not known or d.random() < 0.7):
        return read(scope, d.choice(loads), depth - 1)
    return d.choice(known) if known else None


def subscript(scope, param, dim, depth):
    d = scope.draw
    here = [r for r in scope.ranges if r.dim == dim]
    if here and d.random() < 0.72:
        return shifted(d.choice(here), 1, 0)
    scope.bent.add((param.name, dim))
    r = d.choice(here or scope.ranges or [None])
    way = d.choice(["shift", "shift", "stride", "half", "mirror", "number", "gather", "sum", "other"])
    if way == "gather":
        e = gathered(scope, depth)
        if e:
            scope.fixed.add(dim)
            return e
    if r is None or way == "number":
        scope.fixed.add(dim)
    if r is None or way == "number":
        return literal("i64", d.randint(0, max(0, scope.dims[dim] - 1)))
    if r not in here or way != "shift" or scope.draw.random() < 0.7:
        scope.fixed.update([dim, *(q.dim for q in scope.ranges)])
    if way == "mirror" and here:
        return mirrored(scope, r, dim)
    if way == "stride":
        return shifted(r, d.choice([2, 2, 3]), d.randint(-2, 2))
    if way == "half":
        return shifted(r, -d.choice([2, 2, 3, 4]), d.choice([0, 0, 1]))
    if way == "sum" and len(scope.ranges) > 1:
        a, b = d.sample(scope.ranges, 2)
        return both(a, b)
    if way == "other":
        scope.fixed.update(q.dim for q in scope.ranges)
        return shifted(d.choice(scope.ranges), 1, 0)
    return shifted(r, 1, d.choice([-3, -2, -1, 1, 2, 3]))


def read(scope, param, depth):
    subs = [subscript(scope, param, dim, depth) for dim in param.dims]
    axes = frozenset().union(*(s.axes for s in subs))
    text = f"{param.name}[{', '.join(s.text for s in subs)}]" if subs else param.name
    name = param.name
    return Expr(text, param.elem, axes, lambda env: load(env.tensors[name], [s.run(env) for s in subs]))


# ---- trees ----


def leaf(scope, kind, depth):
    d = scope.draw
    ways = [p for p in scope.params if el.kind(p.elem) == kind] * 3
    ways += [v for v in scope.vars if el.kind(v[1]) == kind] * 2
    if kind != "bool":
        ways += [r for r in scope.ranges]
    way = d.choice(ways) if ways else None
    if kind == "integer" and isinstance(way, Range) and way.fixed and way.tile and d.random() < 0.3:
        scope.fixed.add(way.dim)
        return tile_begin(way)
    if isinstance(way, Param):
        return read(scope, way, depth)
    if isinstance(way, tuple):
        return variable(way)
    if isinstance(way, Range):
        return applied("*", converted(d.choice(["f32", "f32", "f16"]), position(way)), literal("f32", 0.125)) if kind == "float" else position(way)
    if kind == "bool":
        return applied("<", integers(scope, 0), literal("i32", d.randint(0, 5)))
    return converted("f32" if kind == "float" else "i32", number(d, "i32"))


def floats(scope, depth):
    d = scope.draw
    if depth <= 0:
        return leaf(scope, "float", 1)
    way = d.random()
    if way < 0.5:
        a = floats(scope, depth - 1)
        op = d.choice(["+", "+", "-", "*", "*", "min", "max", "/"])
        if op == "/":
            return applied("/", a, applied("+", call("abs", floats(scope, depth - 2)), literal("f32", 1.0)))
        b = number(d, el.computed(a.elem)) if d.random() < 0.25 else floats(scope, depth - 1)
        return applied(op, a, b)
    if way < 0.62:
        return function_of(scope, floats(scope, depth - 1))
    if way < 0.72:
        a, b = floats(scope, depth - 1), floats(scope, depth - 2)
        return chosen(conditions(scope, depth - 1), a, b)
    if way < 0.8:
        return converted(d.choice([*el.FLOATS]), floats(scope, depth - 1))
    if way < 0.88:
        return converted(d.choice([*el.FLOATS]), integers(scope, depth - 1))
    return leaf(scope, "float", depth) if way < 0.97 else negated(floats(scope, depth - 1))


def negated(a):
    return Expr(f"(-{a.text})", el.computed(a.elem), a.axes, lambda env: ti.negate(a.run(env)))


def chosen(c, a, b):
    elem = el.arithmetic(a.elem, b.elem) if a.elem != "bool" else "bool"
    run = lambda env: ti.where(c.run(env), a.run(env), b.run(env))
    if c.axes:
        return Expr(f"where({c.text}, {a.text}, {b.text})", elem, a.axes | b.axes | c.axes, run)
    return Expr(f"({c.text} ? {a.text} : {b.text})", elem, a.axes | b.axes, run)


def clipped(a, low, high):
    return applied("min", applied("max", a, literal(el.computed(a.elem), low)), literal(el.computed(a.elem), high))


def function_of(scope, a):
    name = scope.draw.choice([*ti.FUNCTIONS, *ti.EXACT, "abs", "relu"])
    if name in ("exp", "exp2", "sin", "cos", "silu", "gelu"):
        a = clipped(a, -3.0, 3.0)
    if name in ("log", "log2", "sqrt", "rsqrt"):
        a = applied("+", call("abs", a), literal(el.computed(a.elem), 0.5))
    return call(name, a)


def integers(scope, depth):
    d = scope.draw
    if depth <= 0:
        return leaf(scope, "integer", 0)
    way = d.random()
    if way < 0.6:
        a = integers(scope, depth - 1)
        op = d.choice(["+", "+", "-", "*", "min", "max", "/", "%", "&", "|", "^", "<<", ">>"])
        if op in ("/", "%"):
            return applied(op, a, literal(el.computed(a.elem), d.choice([1, 2, 3, 5])))
        if op in ("<<", ">>"):
            return applied(op, a, literal(el.computed(a.elem), d.randint(0, 3)))
        b = number(d, el.computed(a.elem)) if d.random() < 0.3 else integers(scope, depth - 1)
        return applied(op, a, b)
    if way < 0.7:
        return chosen(conditions(scope, depth - 1), integers(scope, depth - 1), integers(scope, depth - 2))
    if way < 0.85:
        return converted(d.choice([*el.INTEGERS]), integers(scope, depth - 1))
    if way < 0.92:
        return converted(d.choice(["i8", "i32", "i64", "u8"]), clipped(floats(scope, depth - 1), -100.0, 100.0))
    return leaf(scope, "integer", depth)


def conditions(scope, depth):
    d = scope.draw
    way = d.random()
    if depth > 1 and way < 0.25:
        return applied(d.choice(["&&", "||", "^", "&", "|"]), conditions(scope, depth - 1), conditions(scope, depth - 1))
    if way < 0.35:
        a = conditions(scope, depth - 1) if depth > 0 else leaf(scope, "bool", 0)
        return Expr(f"(!{a.text})", "bool", a.axes, lambda env: ti.invert(a.run(env)))
    if way < 0.5 and any(p.elem == "bool" for p in scope.params):
        return leaf(scope, "bool", depth)
    op = d.choice(["<", "<=", ">", ">=", "==", "!="])
    make = d.choice([floats, integers, integers])
    a = make(scope, depth - 1)
    b = number(d, el.computed(a.elem)) if d.random() < 0.6 else make(scope, depth - 1)
    return applied(op, a, b)


def any_of(scope, kind, depth):
    return {"float": floats, "integer": integers, "bool": conditions}[kind](scope, depth)


def fitting(e, elem):
    """e where a value of type `elem` is stored: conversions within a kind go without a word."""
    return e if el.kind(e.elem) == el.kind(elem) and elem != "bool" else e if e.elem == elem else converted(elem, e)
