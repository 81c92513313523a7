"""Random programs: calls of random kernels, expressions over whole tensors, state, parts, loops, branches and collectives.

A mesh is placement and not meaning: each value knows where it lies, so that what moves it can be written, and its
numbers never depend on it. `split` has the axes of each dimension, major first; `partial` the axes of a partial sum.
"""
import dataclasses
import itertools
import math
import random

import numpy as np

from . import draw as dr
from . import elements as el
from . import expr as ex
from . import special as sp
from . import tiles as ti
from .expr import Param, Scope, Tensor

EXTENTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 16, 17, 20, 33]
MOST = 4000  # elements of a tensor


@dataclasses.dataclass
class Value:
    text: str
    elem: str
    dims: tuple
    split: tuple
    partial: frozenset
    get: object  # {name: Tensor} -> Tensor
    name: str = None  # of a temporary that something has to read


class Builder:
    def __init__(self, seed):
        self.draw = d = random.Random(seed)
        self.rng = np.random.default_rng(seed)
        self.count = itertools.count()
        self.sizes, self.runtime = {}, set()
        self.axes = dict(zip(d.sample(["tp", "dp", "cp"], 3), [d.choice([2, 2, 3, 3, 4]) for _ in range(d.choice([0, 0, 1, 1, 1, 2, 3]))]))
        while math.prod(self.axes.values()) > 12:
            self.axes.popitem()
        self.inputs, self.arrays, self.kernels, self.lines, self.steps = [], {}, [], [], []
        self.states, self.outputs, self.records = [], [], []
        self.pool, self.unread, self.ident = [], {}, 0
        most = d.choice([2, 2, 3, 3, 4, 5, 6, 8])
        for k in range(most):
            n = d.choice(EXTENTS if most < 4 else EXTENTS[:4] if most < 6 else EXTENTS[:3])
            self.sizes[f"N{k}"] = n
            if d.random() < 0.12:
                self.runtime.add(f"N{k}")

    def fresh(self, prefix):
        return f"{prefix}{next(self.count)}"

    def named(self):
        return [n for n in self.sizes if n.startswith("N")]

    def shape(self, dims):
        return tuple(self.sizes[n] for n in dims)

    # ---- inputs ----

    def numbers(self, elem, shape):
        """Small multiples of a power of two mostly, whose sums are exact; else any."""
        d, rng = self.draw, self.rng
        if elem == "bool":
            return rng.integers(0, 2, shape).astype(bool)
        if el.is_integer(elem):
            low, high = el.bounds(elem)
            if d.random() < 0.75:
                low, high = max(low, -6), min(high, 9)
            return rng.integers(low, high, shape, endpoint=True, dtype=np.int64)
        if d.random() < 0.75:
            return el.rounded(elem, rng.integers(-8, 8, shape, endpoint=True) / 4.0)
        return el.rounded(elem, rng.standard_normal(shape) * d.choice([1, 1, 4]))

    def placement(self, dims):
        d, split = self.draw, [()] * len(dims)
        for axis in d.sample([*self.axes], len(self.axes)):
            k = d.randrange(len(dims) + 1) if dims else 0
            if dims and k < len(dims) and dims[k] not in self.runtime and d.random() < 0.8:
                split[k] += (axis,)
        return tuple(split)

    def declared(self, elem, dims, split):
        if not dims:
            return elem
        at = [f" @ {s[0]}" if len(s) == 1 else f" @ ({', '.join(s)})" if s else "" for s in split]
        return f"{elem}[{', '.join(n + a for n, a in zip(dims, at))}]"

    def input(self, elem, dims, state=False):
        name = self.fresh("h" if state else "x")
        split = self.placement(dims)
        in_record = not state and dims and self.draw.random() < 0.12
        text = f"w.{name}" if in_record else name
        declaration = f"{name}: {self.declared(elem, dims, split)}"
        if in_record:
            self.records.append(declaration)
        else:
            self.inputs.append(("state " if state else "") + declaration)
        self.arrays[text] = (elem, self.numbers(elem, self.shape(dims)))
        v = Value(text, elem, tuple(dims), split, frozenset(), lambda env: env[text])
        if state:
            self.states.append((name, elem))
        self.pool.append(v)
        return v

    def some(self, fits):
        """A value of the pool, the later the likelier."""
        found = [v for v in self.pool if fits(v)]
        if not found:
            return None
        return found[-1 - min(len(found) - 1, int(self.draw.expovariate(0.4)))]

    # ---- statements ----

    def emit(self, line, step):
        self.lines.append("  " * (1 + self.ident) + line)
        self.steps.append(step)

    def read(self, v):
        self.unread.pop(v.name, None)
        return v.text

    def temporary(self, name, elem, dims, split, partial=frozenset()):
        v = Value(name, elem, tuple(dims), tuple(split), partial, lambda env: env[name], name)
        self.pool.append(v)
        self.unread[name] = v
        return v

    # ---- collectives ----

    def gathered(self, v, k, keep=()):
        """The text of v with the axes of dimension k, from the last on, gathered until `keep` are left."""
        text = v.text
        for axis in reversed(v.split[k][len(keep):]):
            text = f"all_gather({text}, {axis}, {k})"
        split = v.split[:k] + (tuple(keep),) + v.split[k + 1:]
        return dataclasses.replace(v, text=text, split=split)

    def reduced(self, v):
        if not v.partial:
            return v
        order = [a for a in self.axes if a in v.partial]
        self.draw.shuffle(order)
        return dataclasses.replace(v, text=f"all_reduce({v.text}, {', '.join(order)})", partial=frozenset(), get=rounding(v.get, v.elem))

    def placed(self, v, want):
        """v where dimension k is split over want[k], or replicated along the axes in it that nothing else splits."""
        v = self.reduced(v)
        for k, axes in enumerate(want):
            if v.split[k] and v.split[k] != axes:
                v = self.gathered(v, k, v.split[k][:common(v.split[k], axes)] if axes[: len(v.split[k])] == v.split[k] else ())
        return v

    def move(self):
        """A collective by itself."""
        d = self.draw
        states = [n for n, _ in self.states]  # another name of one would be dead behind its update
        v = self.some(lambda v: (v.partial or any(v.split)) and v.text not in states)
        if not v or not v.dims or (v.name is None and v.text not in self.arrays):
            return
        name = self.fresh("t")
        if v.partial:
            self.move_partial(v, name)
            return
        k = d.choice([k for k in range(len(v.dims)) if v.split[k]])
        axis = v.split[k][-1]
        free = [j for j in range(len(v.dims)) if j != k and v.dims[j] not in self.runtime]
        if free and d.random() < 0.5 and not v.split[k][:-1]:
            j = d.choice(free)
            split = list(v.split)
            split[k], split[j] = v.split[k][:-1], v.split[j] + (axis,)
            text = f"all_to_all({self.read(v)}, {axis}, {j})"
        else:
            w = self.gathered(v, k, v.split[k][:-1])
            self.read(v)
            split, text = w.split, w.text
        get = v.get
        self.emit(f"{name} = {text};", lambda env: env.__setitem__(name, get(env)))
        self.temporary(name, v.elem, v.dims, split)

    def move_partial(self, v, name):
        d, axis = self.draw, self.draw.choice(sorted(v.partial))
        free = [k for k, n in enumerate(v.dims) if n not in self.runtime]
        split = list(v.split)
        self.read(v)
        if free and d.random() < 0.6:
            k = d.choice(free)
            split[k] = split[k] + (axis,)
            text, partial = f"reduce_scatter({v.text}, {axis}, {k})", v.partial - {axis}
        else:
            text, partial = f"all_reduce({v.text}, {axis})", v.partial - {axis}
        get = rounding(v.get, v.elem)
        self.emit(f"{name} = {text};", lambda env: env.__setitem__(name, get(env)))
        self.temporary(name, v.elem, v.dims, split, partial)

    # ---- parts ----

    def part(self, v):
        """x[k], x[at] or x[l, k] of dimensions that are not split."""
        d = self.draw
        if not v.dims or v.split[0] or v.partial or v.dims[0] in self.runtime or v.text.endswith("]") or len(v.dims) < 2:
            return v
        n = self.sizes[v.dims[0]]
        get = v.get
        if d.random() < 0.3:
            at = self.scalar()
            text, place = at, lambda env: int(env[at].val)
        else:
            k = d.randrange(n)
            text, place = str(k), lambda env: k

        def run(env):
            x, i = get(env), place(env)
            if 0 <= i < n:
                return Tensor(x.elem, x.val[i], x.err[i])
            return Tensor(x.elem, np.zeros_like(x.val[0]), np.zeros_like(x.err[0]))
        return Value(f"{v.text}[{text}]", v.elem, v.dims[1:], v.split[1:], frozenset(), run, v.name)

    def scalar(self):
        """A run-time integer."""
        known = [t for t in self.arrays if t.startswith("s")]
        if known and self.draw.random() < 0.6:
            return self.draw.choice(known)
        name = self.fresh("s")
        self.inputs.append(f"{name}: i32")
        self.arrays[name] = ("i32", np.asarray(self.draw.randint(-1, 4), np.int64))
        return name

    # ---- calls ----

    def arguments(self, dims):
        """Values whose dimensions are some of `dims`; the first has most."""
        d, found = self.draw, []
        for k in range(d.choice([1, 2, 2, 3])):
            want = [n for n in dims if d.random() < (0.8 if k == 0 else 0.5)]
            d.shuffle(want)
            v = self.some(lambda v: v.dims and set(v.dims) <= set(dims) and len(set(v.dims)) == len(v.dims)) if d.random() < 0.6 else None
            if v and d.random() < 0.2:
                v = self.part(v)
            if v is None:
                elem = d.choice(el.ALL)
                v = self.input(elem if want else d.choice(["f32", "i32", "f64", "i64"]), want)
            found.append(v)
        return found

    def call(self):
        d = self.draw
        known = [n for n in self.sizes if n.startswith("N") or d.random() < 0.5]
        dims = d.sample(known, d.randint(1, min(len(known), d.choice([2, 3, 4, 8]))))
        args = self.arguments(dims)
        used = [n for n in dims if any(n in v.dims for v in args)]
        if not used or math.prod(self.shape(used)) > MOST:
            return
        local = {n: f"m{k}" for k, n in enumerate(used)}
        params = [Param(f"x{k}", v.elem, [local[n] for n in v.dims]) for k, v in enumerate(args)]
        make = d.choice([dr.general] * 9 + [dr.summing] * 5 + [sp.scattered, sp.recurrent, sp.looping, sp.totals])
        kernel = make(d, self.fresh("k"), {local[n]: self.sizes[n] for n in used}, params)
        if kernel:
            self.called(kernel, args, {local[n]: n for n in used})

    def update_in_place(self):
        """h = k(h, x): a state, or a temporary that nothing else names."""
        d = self.draw
        names = [n for n, _ in self.states]
        h = self.some(lambda v: v.text in names and len(set(v.dims)) == len(v.dims))
        if not h or d.random() < 0.3:
            dims = d.sample(self.named(), d.randint(1, min(3, len(self.named()))))
            if math.prod(self.shape(dims)) > MOST:
                return
            h = self.input(d.choice(["f32", "f32", "i32", "bf16", "f16", "i64", "i8", "f8e4m3"]), dims, state=True)
        more = d.sample(self.named(), 1)
        dims = list(dict.fromkeys([*h.dims, *more]))
        args = [h] + [v for v in self.arguments(dims) if v.text != h.text and not v.text.startswith(h.text + "[")]
        used = [n for n in dims if any(n in v.dims for v in args)]
        if math.prod(self.shape(used)) > MOST:
            return
        local = {n: f"m{k}" for k, n in enumerate(used)}
        params = [Param(f"x{k}", v.elem, [local[n] for n in v.dims]) for k, v in enumerate(args)]
        kernel = sp.updating(d, self.fresh("k"), {local[n]: self.sizes[n] for n in used}, params)
        if any(h.split) and not {local[n] for n, s in zip(h.dims, h.split) if s} <= kernel.parallel:
            return
        self.called(kernel, args, {k: n for n, k in local.items()}, h)

    def choice_of_axes(self, kernel, args, only=False):
        """Which axes each of the kernel's dimensions is split over; only: as the first argument has it."""
        chosen, taken = {}, set()
        if only:
            return {n: axes for n, axes in zip(kernel.params[0].dims, args[0].split) if axes}
        for p, v in zip(kernel.params, args):
            for n, axes in zip(p.dims, v.split):
                if axes and n not in chosen and n in kernel.parallel | kernel.summed and (p.name, n) not in kernel.bent and not taken & set(axes):
                    chosen[n] = axes
                    taken |= set(axes)
        return chosen

    def called(self, kernel, args, outer, into=None):
        """into: the state that the call updates."""
        chosen = self.choice_of_axes(kernel, args, into is not None)
        placed = []
        for p, v in zip(kernel.params, args):
            self.read(v)
            want = [() if (p.name, n) in kernel.bent else chosen.get(n, ()) for n in p.dims]
            placed.append(self.placed(v, want))
        over = frozenset(a for n in kernel.summed for a in chosen.get(n, ()))
        names = [into.text] if into else [self.fresh("t") for _ in kernel.results]
        sizes = {k: self.sizes[n] for k, n in outer.items()}
        parts = math.prod(self.axes[a] for a in over)

        def step(env):
            got = kernel.run({p.name: v.get(env) for p, v in zip(kernel.params, placed)}, sizes, parts)
            env.update(zip(names, got))
        self.kernels.append(kernel.text)
        self.emit(f"{', '.join(names)} = {kernel.name}({', '.join(v.text for v in placed)});", step)
        for name, (_, elem, shape) in zip(names, [] if into else kernel.results):
            dims = [self.extent(s, outer) for s in shape]
            split = [chosen.get(s, ()) if s in kernel.parallel else () for s in shape]
            self.temporary(name, elem, dims, split, over)

    def extent(self, expression, outer):
        if expression.isdigit():
            self.sizes.setdefault(expression, int(expression))
            return expression
        if not expression.startswith("2 * "):
            return outer[expression]
        n = outer[expression[4:]]
        self.sizes.setdefault(f"2 * {n}", 2 * self.sizes[n])
        if n in self.runtime:
            self.runtime.add(f"2 * {n}")
        return f"2 * {n}"

    # ---- expressions over whole tensors ----

    def whole(self, like=None):
        """An expression over tensors of one shape, and their placement; like: one that it has to have."""
        d = self.draw
        first = like or self.some(lambda v: v.dims)
        if not first:
            first = self.input(d.choice(["f32", "f32", "bf16", "i32", "f16", "f64", "i64"]), d.sample(self.named(), 1))
        same = [v for v in self.pool if v.dims == first.dims]
        picked = [first] + d.sample(same, min(len(same), d.choice([0, 1, 1, 2])))
        split = first.split
        placed = {}
        for v in picked:
            placed[v.text] = self.placed(v, split), v
        scope = Scope(d, {})
        scope.params = [WholeParam(v.text, v.elem, v, was) for v, was in placed.values()]
        scope.used = []
        e = tree(scope, d.choice([1, 2, 2, 3]), d.choice(["float", "float", "integer"]), scope.params[0])
        for was in scope.used:
            self.read(was)
        return e, first, split

    def expression(self):
        d = self.draw
        e, first, split = self.whole()
        if e.text in (n for n, _ in self.states):
            return  # another name of a state would be dead behind its update
        name = self.fresh("t")
        bare = e.text in (v.text for v in self.pool) or e.text.startswith("all_")
        elem = e.elem if bare or e.elem not in el.FLOATS or d.random() < 0.5 else d.choice([t for t in el.FLOATS])
        head = f"{name}: {self.declared(elem, first.dims, split)}"
        if e.kept and e.plain and d.random() < 0.6:
            head, elem = name, e.kept
        self.emit(f"{head} = {e.text};", self.assigning(name, e, elem, first.dims))
        self.temporary(name, elem, first.dims, split)

    def assigning(self, name, e, elem, dims):
        shape = self.shape(dims)

        def step(env):
            t = ti.convert(e.run(env), elem)
            val, err = (np.broadcast_to(ti.spread(x, t.axes, list(range(len(shape)))), shape).copy() for x in (t.val, t.err))
            env[name] = Tensor(elem, val, err)
        return step

    def update(self):
        """A state takes an expression of itself and others."""
        d = self.draw
        names = [n for n, _ in self.states]
        h = self.some(lambda v: v.text in names)
        if not h or d.random() < 0.4:
            dims = d.sample(self.named(), d.choice([1, 1, 2]) if len(self.named()) > 1 else 1)
            if math.prod(self.shape(dims)) > MOST:
                return
            h = self.input(d.choice(["f32", "f32", "i32", "bf16", "f16", "i64", "i8"]), dims, state=True)
        e, _, _ = self.whole(h)
        if el.kind(e.elem) != el.kind(h.elem) or not e.text.startswith("("):
            e = whole_converted(h.elem, e)
        self.emit(f"{h.text} = {e.text};", self.assigning(h.text, e, h.elem, h.dims))

    def repeated(self):
        """Updates of states some times."""
        d, count = self.draw, self.draw.randint(1, 3)
        if self.ident:
            return
        seen, first, lines = len(self.pool), len(self.steps), len(self.lines)
        self.lines.append(f"  repeat l of {count} {{")
        self.ident += 1
        before = dict(self.unread)
        for _ in range(d.randint(1, 2)):
            d.choice([self.update, self.update, self.update_in_place, self.call, self.expression, self.move])()
        for v in [v for v in self.unread.values() if v.name not in before]:
            self.consume(v)
        self.ident -= 1
        body = self.steps[first:]
        if not body:
            del self.lines[lines:], self.pool[seen:]
            return
        self.lines.append("  }")
        self.steps[first:] = [lambda env: [s(env) for _ in range(count) for s in body]]
        self.pool[seen:] = [v for v in self.pool[seen:] if v.name is None]

    def consume(self, v):
        """A state that takes the value, since nothing else reads it where it ends."""
        name = self.fresh("h")
        w = self.reduced(v)
        self.read(v)
        self.inputs.append(f"state {name}: {self.declared(v.elem, v.dims, v.split)}")
        self.arrays[name] = (v.elem, self.numbers(v.elem, self.shape(v.dims)))
        self.states.append((name, v.elem))
        get = w.get
        self.emit(f"{name} = {w.text};", lambda env: env.__setitem__(name, get(env)))

    def branched(self):
        """One of two expressions, by a condition of a run-time number."""
        d, at = self.draw, self.scalar()
        e, first, split = self.whole()
        f, _, _ = self.whole(first)
        name, k, elem = self.fresh("t"), d.randint(0, 3), d.choice(["f32", "bf16"]) if e.elem in el.FLOATS else e.elem
        e, f = (whole_converted(elem, x) if el.kind(x.elem) != el.kind(elem) or not x.text.startswith("(") else x for x in (e, f))
        head = f"{name}: {self.declared(elem, first.dims, split)}"
        one, two = self.assigning(name, e, elem, first.dims), self.assigning(name, f, elem, first.dims)
        self.emit(f"if {at} > {k} {{ {head} = {e.text}; }} else {{ {head} = {f.text}; }}", lambda env: (one if int(env[at].val) > k else two)(env))
        self.temporary(name, elem, first.dims, split)

    # ---- the end ----

    def finish(self):
        for v in [*self.unread.values()]:
            w = self.reduced(v)
            self.read(v)
            split = w.split
            if not any(split) and self.axes and self.draw.random() < 0.3:
                split = self.placement(w.dims)
            name = self.fresh("o")
            self.outputs.append((name, v.elem, self.declared(v.elem, v.dims, split)))
            self.emit(f"{name} = {w.text};", (lambda get, n: lambda env: env.__setitem__(n, get(env)))(w.get, name))

    def source(self):
        heads = [f"{n} <= {self.sizes[n] + self.draw.choice([0, 0, 3])}" if n in self.runtime else f"{n} = {self.sizes[n]}" for n in self.named()]
        text = [f"dim {h};" for h in heads] + [f"mesh {a} = {n};" for a, n in self.axes.items()]
        if self.records:
            text += ["record weights {"] + [f"  {r}," for r in self.records] + ["}"]
        params = self.inputs + (["w: weights"] if self.records else [])
        outs = [f"{n}: {t}" for n, _, t in self.outputs]
        return "\n".join(text + self.kernels + [f"program p({', '.join(params)}) -> ({', '.join(outs)}) {{"] + self.lines + ["}"]) + "\n"


def common(a, b):
    return next((k for k, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def rounding(get, elem):
    """The sum of the ranks' parts is rounded once more."""
    def run(env):
        x = get(env)
        if not el.is_float(elem):
            return x
        return Tensor(elem, x.val, np.where(x.err == 0, 0, x.err + 2 * el.epsilon(elem) * np.abs(x.val)))
    return run


# ---- expressions over whole tensors ----


@dataclasses.dataclass
class WholeParam:
    name: str
    elem: str
    value: Value
    was: Value  # before it was moved


class Whole(ex.Expr):
    """kept: the type that a result has where nothing declares it: that of a conversion, or of the widest tensor."""

    def __init__(self, e, kept, plain=True):
        super().__init__(e.text, e.elem, e.axes, e.run, plain)
        self.kept = kept


def widest(a, b):
    if a is None or b is None:
        return a or b
    if el.kind(a) != el.kind(b):
        return None
    return a if a == b else b if el.arithmetic(a, b) == b and b != el.arithmetic(a, a) else a if el.arithmetic(a, b) == a else el.arithmetic(a, b)


def operand(p):
    get, axes = p.value.get, list(range(len(p.value.dims)))

    def run(env):
        x = get(env)
        return ti.Tile(axes, x.elem, x.val, x.err)
    return Whole(ex.Expr(p.name, p.elem, frozenset(axes), run), p.elem)


def whole_converted(elem, e):
    if el.is_float(e.elem) and el.is_integer(elem):
        e = ex.clipped(e, -100.0, 100.0)
    return Whole(ex.converted(elem, e), elem, False)


def tree(scope, depth, kind, must=None):
    d = scope.draw
    if depth <= 0 or must and depth == 1:
        x = must or d.choice(scope.params)
        scope.used.append(x.was)
        x = operand(x)
        if el.kind(x.elem) == kind:
            return x
        return whole_converted(d.choice(["f32", "f32", "bf16", "f16"] if kind == "float" else ["i32", "i64", "i8"]), x)
    a, way = tree(scope, depth - 1, kind, must), d.random()
    if way < 0.2:
        return Whole(ex.applied(d.choice(["+", "*", "-"]), a, ex.number(d, el.computed(a.elem))), a.kept, a.plain)
    if way < 0.32 and kind == "float":
        return Whole(ex.function_of(scope, a), a.kept, a.plain)
    if way < 0.45:
        to = d.choice([*el.FLOATS] if kind == "float" else ["i32", "i64", "i16", "i8", "u8"])
        return whole_converted(to, a)
    b = tree(scope, depth - 1, kind)
    if way < 0.6:
        c = ex.applied(d.choice(["<", ">=", "=="]), a, ex.number(d, el.computed(a.elem)))
        return Whole(ex.chosen(c, a, b), widest(a.kept, b.kept), a.plain and b.plain)
    op = d.choice(["+", "-", "*", "min", "max"] + (["&", "^", "|"] if kind == "integer" else []))
    return Whole(ex.applied(op, a, b), widest(a.kept, b.kept), a.plain and b.plain)


def drawn(seed):
    b = Builder(seed)
    d = b.draw
    ways = [b.call, b.call, b.call, b.update_in_place, b.expression, b.update, b.repeated, b.branched, b.move, b.move]
    for _ in range(d.randint(1, 6)):
        d.choice(ways)()
    if not b.steps:
        b.call()
    b.finish()
    return b
