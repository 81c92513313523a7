"""Random kernels: a grid, declarations, loops that reduce, branches, and stores of every element of the results."""
import dataclasses
import itertools

import numpy as np

from . import elements as el
from . import expr as ex
from . import tiles as ti
from .expr import Range, Tensor

SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 32]
MOST_TASKS = 40


@dataclasses.dataclass
class Kernel:
    name: str
    text: str
    params: list
    results: list  # (element type, extents as expressions of the kernel's dimensions)
    run: object  # ({parameter: Tensor}, {dimension: extent}, parts) -> [Tensor]; parts: ranks of a sum
    parallel: set  # dimensions that may be split, and give a split result
    summed: set  # dimensions that may be split, and give partial sums
    bent: set  # (parameter, dimension) that must not be


@dataclasses.dataclass
class Statement:
    lines: list
    run: object  # Env -> None


def indented(lines):
    return ["  " + line for line in lines]


def tile_size(d, n):
    """Sizes that divide nothing, and everything."""
    return max(1, d.choice([d.choice(SIZES), n, n + 1, n - 1, (n + 1) // 2, n // 2, (n + 2) // 3]))


# ---- ranges of the grid ----


class Grid:
    """The ranges in the order of `each`; sizes: of the tiles, None for single positions."""

    def __init__(self):
        self.ranges, self.sizes, self.words = [], [], []

    def add(self, d, scope, name, dim, whole=False):
        n, way = scope.dims[dim], d.random()
        form, size = "tile", tile_size(d, n)
        if whole or way < 0.12:
            form, size, word = "whole", max(n, 1), f"{name}: * of {dim}"
        elif way < 0.35:
            form, size, word = "place", None, f"{name} of {dim}"
        elif way < 0.45:
            word = f"{name}: auto of {dim}"
        elif way < 0.55 and n > 0:
            form, size = "fixed", max(size, -(-n // 6))
            word = f"{name}: fixed {size} of {dim}"
        else:
            word = f"{name}: {size} of {dim}"
        r = Range(name, dim, form != "place", form == "whole", form == "fixed")
        scope.ranges.append(r)
        self.ranges.append(r)
        self.sizes.append(size)
        self.words.append(word)
        return r

    def tasks(self, dims):
        """The positions of each task's ranges. Tiles are taken whole where there would be many: their sizes mean nothing."""
        sizes = list(self.sizes)
        for k, r in enumerate(self.ranges):
            if sizes[k] and not r.fixed and np.prod([-(-max(dims[q.dim], 1) // (s or 1)) for q, s in zip(self.ranges, sizes)]) > MOST_TASKS:
                sizes[k] = max(dims[r.dim], 1)
        choices = []
        for r, size in zip(self.ranges, sizes):
            n = dims[r.dim]
            choices.append(range(n) if size is None else [np.arange(a, min(a + size, n)) for a in range(0, n, size)])
        return itertools.product(*choices)


# ---- statements ----


def run_all(body, env):
    for s in body:
        s.run(env)


def assignment(name, e, elem=None, declared=None, word=""):
    """name = e, or name: elem[..] = e, whose ranges are `declared`."""
    kind = elem or e.elem
    shape = "" if declared is None else f": {elem}[{', '.join(declared)}]" if declared else f": {elem}"

    def run(env):
        env.var[name] = ti.convert(e.run(env), kind)
    return Statement([f"{word}{name}{shape} = {e.text};"], run)


def widened(tile, axes, env):
    """A variable has all the ranges that it is declared with."""
    missing = [a for a in axes if a not in tile.axes]
    have = [*tile.axes, *missing]
    shape = [*np.shape(tile.val), *(len(env.at[a]) for a in missing)]
    cast = [np.broadcast_to(np.reshape(x, [*np.shape(x), *[1] * len(missing)]), shape) for x in (tile.val, tile.err)]
    mag = None if tile.mag is None else np.broadcast_to(np.reshape(tile.mag, [*np.shape(tile.mag), *[1] * len(missing)]), shape)
    return ti.Tile(have, tile.elem, cast[0], cast[1], mag)


def declaration(scope, name, number):
    d = scope.draw
    kind = d.choice(["float", "float", "integer", "bool"])
    e = ex.any_of(scope, kind, 2)
    elem = e.elem
    if d.random() < 0.3 and kind != "bool":
        elem = d.choice([t for t in (el.FLOATS if kind == "float" else el.INTEGERS) if t not in ("i4", "t2")])
        s = assignment(name, e, elem, sorted(e.axes))
    else:
        s = assignment(name, e, word=d.choice(["", "let "]))
    scope.vars.append((name, elem, e.axes))
    return s


def branch(scope, name):
    """A value of both branches of a condition on scalars."""
    d = scope.draw
    places = [r for r in scope.ranges if not r.tile]
    if not places:
        return None
    p = d.choice(places)
    c = ex.applied(d.choice(["<", ">=", "=="]), ex.position(p), ex.literal("i64", d.randint(0, 4)))
    a, b = ex.floats(scope, 2), ex.floats(scope, 1)
    axes = sorted(a.axes | b.axes)
    lines = [f"{name}: f32[{', '.join(axes)}] = {b.text};" if axes else f"{name}: f32 = {b.text};"]
    late = d.random() < 0.5
    lines += [f"if {c.text} {{", f"  {name} = {a.text};", *(["} else {", f"  {name} = {b.text} + {name};"] if late else []), "}"]

    def run(env):
        first = widened(ti.convert(b.run(env), "f32"), axes, env)
        env.var[name] = first
        if c.run(env).val:
            env.var[name] = widened(ti.convert(a.run(env), "f32"), axes, env)
        elif late:
            env.var[name] = widened(ti.convert(ti.add_like(b.run(env), first, 1), "f32"), axes, env)
    scope.vars.append((name, "f32", frozenset(axes)))
    return Statement(lines, run)


# ---- loops ----


@dataclasses.dataclass
class Bounds:
    text: str
    low: object  # Env -> int, or None: the whole dimension
    high: object


def loop_bounds(scope, dim):
    """All of a dimension, or from one place to another."""
    d = scope.draw
    places = [r for r in scope.ranges if not r.tile]
    if d.random() < 0.7:
        return Bounds(f"of {dim}", lambda env: 0, lambda env: env.dims[dim])
    scope.fixed.add(dim)
    scope.fixed.update(r.dim for r in places)
    if not places or d.random() < 0.3:
        a, b = sorted(d.randint(0, scope.dims[dim]) for _ in range(2))
        return Bounds(f"in {a} .. {b}", lambda env: a, lambda env: b)
    p, q = d.choice(places), d.choice(places)
    high = f"min({dim}, pos({p.name}) + 1)" if p is q else f"min(pos({p.name}) + 1, pos({q.name}) + 2)"
    if p is q:
        return Bounds(f"in 0 .. {high}", lambda env: 0, lambda env: min(env.dims[dim], env.at[p.name] + 1))
    return Bounds(f"in 0 .. {high}", lambda env: 0, lambda env: min(env.at[p.name] + 1, env.at[q.name] + 2))


def sequence(low, high, size):
    if size is None:
        return range(low, high)
    return [np.arange(a, min(a + size, high)) for a in range(low, high, size)]


def joined(e, v):
    """e and v in one value, so that v is read."""
    if el.kind(v.elem) == el.kind(e.elem):
        return ex.applied("+", e, v)
    if v.elem == "bool":
        return ex.chosen(v, e, ex.applied("+", e, ex.literal(el.computed(e.elem), 1)))
    return ex.applied("+", e, ex.converted("f32" if el.is_float(e.elem) else "i32", ex.clipped(v, -99, 99) if el.is_float(v.elem) else v))


def step_of(scope, loop, way):
    """What an iteration adds to the accumulator, and the ranges that the accumulator has."""
    p = loop.name
    if way == "@":
        a, b = product_of(scope, loop)
        if a:
            return contraction(a, b), (a.axes | b.axes) - {p}
    kind = "integer" if way == "isum" else "float"
    e = ex.any_of(scope, kind, 2)
    if loop.tile and p not in e.axes:
        e = ex.applied("+", e, ex.converted(el.computed(e.elem), ex.position(loop)))
    return e, e.axes - {p}


def contraction(a, b):
    elem, names = el.summed(el.arithmetic(a.elem, b.elem)), a.axes & b.axes
    return ex.Expr(f"{a.text} @ {b.text}", elem, (a.axes | b.axes) - names, lambda env: ti.contract(a.run(env), b.run(env), [*names]))


def product_of(scope, loop):
    """Two loads that have the loop's range alone in common."""
    d = scope.draw
    loads = [p for p in scope.params if loop.dim in p.dims and p.elem != "bool"]
    if not loop.tile or not loads:
        return None, None
    for _ in range(8):
        a, b = ex.read(scope, d.choice(loads), 0), ex.read(scope, d.choice(loads), 0)
        if a.axes & b.axes == {loop.name} and el.kind(a.elem) == el.kind(b.elem):
            return a, b
    return None, None


def reduction(scope, grid, dim, names, pure):
    """acc: T[..] = start; for p: size of dim { acc += .. }; pure: a sum from 0 and nothing else, which may be partial."""
    d, n = scope.draw, scope.dims[dim]
    p, name = names("p"), names("acc")
    bounds = Bounds(f"of {dim}", lambda env: 0, lambda env: env.dims[dim]) if pure else loop_bounds(scope, dim)
    size = None if d.random() < 0.25 else tile_size(d, n)
    loop = Range(p, dim, size is not None)
    scope.ranges.append(loop)
    seen = len(scope.vars)
    inner = [declaration(scope, names("u"), 1)] if d.random() < 0.2 else []
    way = d.choice(["sum", "sum", "isum"] + ([] if inner else ["@", "@"]) + ([] if pure else ["max", "min", "carry"]))
    loop.fixed = way == "carry"
    e, axes = step_of(scope, loop, way)
    for v in scope.vars[seen:]:
        e = joined(e, ex.variable(v))
        axes = e.axes - {p}
    scope.ranges.remove(loop)
    del scope.vars[seen:]
    kind = el.kind(e.elem)
    elem = el.summed(e.elem) if way not in ("max", "min") else el.computed(e.elem)
    if kind == "float" and d.random() < 0.3 and elem == "f32" and way != "@":
        elem = d.choice(["f32", "f64"])
    dot = "@" in e.text and e.text.count("@") == 1 and way == "@"
    step, update = accumulate(loop, e, elem, way, dot, name)
    start = ex.literal(elem, 0 if pure or way in ("sum", "isum", "@") and d.random() < 0.6 else d.choice([-2, 3]) + (0.0 if kind == "float" else 0))
    shape = f"[{', '.join(sorted(axes))}]" if axes else ""
    size = size and loop.fixed and max(size, -(-n // 5)) or size
    head = f"for {p}: {'fixed ' * loop.fixed}{size} {bounds.text} {{" if size else f"for {p} {bounds.text} {{"
    lines = [f"{name}: {elem}{shape} = {start.text};", head, *indented([x for s in inner for x in s.lines]), "  " + step, "}"]

    def run(env):
        env.var[name] = widened(start.run(env), sorted(axes), env)
        for at in sequence(int(bounds.low(env)), int(bounds.high(env)), size):
            env.at[p] = at
            run_all(inner, env)
            env.var[name] = widened(update(env), sorted(axes), env)
    scope.vars.append((name, elem, frozenset(axes)))
    return Statement(lines, run), name, elem, frozenset(axes)


def accumulate(loop, e, elem, way, dot, name):
    """The statement of an iteration, and the accumulator's next value."""
    p = loop.name
    if way in ("max", "min"):
        text = f"{way}({e.text}, {p})" if loop.tile else e.text
        best = (lambda env: ti.best(e.run(env), [p], way == "max")) if loop.tile else e.run

        def update(env):
            return ti.convert(ti.OPERATORS[way](env.var[name], best(env)), elem)
        return f"{name} = {way}({name}, {text});", update
    if way == "carry":
        return carried(loop, e, elem, name)
    reduce = loop.tile and not dot
    text = f"sum({e.text}, {p})" if reduce else e.text

    def update(env):
        x = e.run(env)
        x = ti.total(x, [p]) if reduce else x
        return added(env.var[name], x, elem)
    return f"{name} += {text};", update


def carried(loop, e, elem, name):
    """What a step does to what those before it left is no sum: the size of its tile counts."""
    x = ex.Expr(f"sum({e.text}, {loop.name})", el.summed(e.elem), e.axes - {loop.name}, lambda env: ti.total(e.run(env), [loop.name])) if loop.tile else e
    acc = ex.Expr(name, elem, frozenset(), lambda env: env.var[name])
    by = ex.literal(elem, 0.5 if el.is_float(elem) else 3)
    step = ex.applied("+", ex.applied("*", acc, by), x)
    return f"{name} = {step.text};", lambda env: ti.convert(step.run(env), elem)


def added(acc, x, elem):
    """acc += x; the magnitude of a sum is that of its terms."""
    y = ti.convert(ti.add_like(acc, x, 1), elem)
    if el.is_float(elem):
        _, ((a, _), (b, _)) = ti.aligned(ti.Tile(acc.axes, elem, acc.magnitude()), ti.Tile(x.axes, elem, x.magnitude()))
        y.mag = a + b
        y.err = np.where(y.err == 0, 0, y.err + y.mag * el.epsilon(el.computed(elem)))
    return y


# ---- what is reduced over a range of one tile ----


def over_whole(scope, w, name):
    """A reduction or prefix over a range of the grid that is all of a dimension."""
    d = scope.draw
    way = d.choice(["sum", "max", "min", "any", "all", "argmax", "argmin", "cumsum", "cummax", "isum"])
    kind = "bool" if way in ("any", "all") else "integer" if way == "isum" or d.random() < 0.3 else "float"
    e = ex.any_of(scope, kind, 2)
    if w.name not in e.axes:
        if kind == "bool":
            e = ex.applied("^", e, ex.applied("<", ex.position(w), ex.literal("i64", 2)))
        else:
            e = ex.applied("+", e, ex.converted(el.computed(e.elem), ex.position(w)))
    scope.fixed.add(w.dim)
    n, axes = w.name, e.axes - {w.name}
    if way in ("sum", "isum"):
        out = ex.Expr(f"sum({e.text}, {n})", el.summed(e.elem), axes, lambda env: ti.total(e.run(env), [n]))
    elif way in ("max", "min"):
        out = ex.Expr(f"{way}({e.text}, {n})", el.computed(e.elem), axes, lambda env: ti.best(e.run(env), [n], way == "max"))
    elif way in ("any", "all"):
        out = ex.Expr(f"{way}({e.text}, {n})", "bool", axes, lambda env: ti.either(e.run(env), [n], way == "all"))
    elif way in ("argmax", "argmin"):
        out = ex.Expr(f"{way}({e.text}, {n})", "i64", axes, lambda env: position_of_best(env, e, w, way == "argmax"))
    else:
        sums = way == "cumsum"
        elem = el.summed(e.elem) if sums else el.computed(e.elem)
        out = ex.Expr(f"{way}({e.text}, {n})", elem, e.axes, lambda env: ti.prefix(e.run(env), n, sums))
    s = assignment(name, out)
    scope.vars.append((name, out.elem, out.axes))
    return s


def position_of_best(env, e, w, most):
    """A position of the dimension, as a subscript counts it, not of the tile."""
    t = ti.place_of_best(e.run(env), w.name, most)
    first = int(env.at[w.name][0]) if len(env.at[w.name]) else 0
    return ti.Tile(t.axes, t.elem, t.val + first, t.err)


# ---- stores ----


def place(env, axes):
    """Index arrays of a store whose subscripts are `axes`' ranges."""
    n = len(axes)
    return [np.reshape(env.at[a], [-1 if k == j else 1 for k in range(n)]) if np.ndim(env.at[a]) else env.at[a] for j, a in enumerate(axes)]


def store(result, ranges, factor, add, e):
    """o[.., factor * r + add, ..] = e, along the first dimension what `factor` and `add` say; add: (dimension, times)."""
    texts = [r.name for r in ranges]
    if ranges and factor != 1:
        texts[0] = f"{factor} * {texts[0]}" + (f" + {add}" if add else "")
    elif ranges and add:
        texts[0] += f" + {add}"
    target = f"{result}[{', '.join(texts)}]" if ranges else result

    def run(env):
        into = env.tensors[result]
        value = ti.convert(e.run(env), into.elem)
        names = [r.name for r in ranges]
        tiled = [r.name for r in ranges if r.tile]
        val, err = (np.broadcast_to(ti.spread(x, value.axes, tiled), [len(env.at[a]) for a in tiled]) for x in (value.val, value.err))
        at = []
        for k, a in enumerate(names):
            spot = env.at[a]
            if k == 0:
                spot = factor * spot + (add if isinstance(add, int) else env.dims[add])
            if np.ndim(spot):
                axis = tiled.index(a)
                spot = np.reshape(spot, [-1 if j == axis else 1 for j in range(len(tiled))])
            at.append(spot)
        into.val[tuple(at)], into.err[tuple(at)] = val, err
    return Statement([f"{target} = {e.text};"], run)


def fresh(elem, shape):
    """What nothing has written."""
    if el.is_float(elem):
        return Tensor(elem, np.full(shape, np.nan), np.zeros(shape))
    return Tensor(elem, np.full(shape, True if elem == "bool" else 77, bool if elem == "bool" else np.int64))
