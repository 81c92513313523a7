"""Random programs: calls of random kernels, expressions over whole tensors, state, parts, loops, branches and collectives.

A mesh is placement and not meaning: each value knows where it lies, so that what moves it can be written, and its
numbers never depend on it. `split` has the axes of each dimension, major first; `partial` the axes of a partial sum.
"""
import dataclasses
import itertools
import math
import random

import numpy as np

from . import elements as el
from . import tiles as ti
from . import whole as wh
from .calls import MOST, Calls
from .expr import Scope, Tensor
from .moves import Moves
from .steps import Steps

EXTENTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 16, 17, 20, 33]


@dataclasses.dataclass
class Value:
    text: str
    elem: str
    dims: tuple
    split: tuple
    partial: frozenset
    get: object  # {name: Tensor} -> Tensor
    name: str = None  # of a temporary that something has to read


class Builder(Moves, Calls, Steps):
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
            n = d.choice([*EXTENTS, 40, 65, 70, 100] if most < 3 else EXTENTS if most < 4 else EXTENTS[:4] if most < 6 else EXTENTS[:3])
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
        scope.params = [wh.WholeParam(v.text, v.elem, v, was) for v, was in placed.values()]
        scope.used = []
        e = wh.tree(scope, d.choice([1, 2, 2, 3]), d.choice(["float", "float", "integer"]), scope.params[0])
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
        if e.kept and d.random() < 0.6:
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
            e = wh.whole_converted(h.elem, e)
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
            if len(v.dims) in range(1, 8) and d.random() < 0.4:
                self.part_of_result(v, count)
            else:
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
        e, f = (wh.whole_converted(elem, x) if el.kind(x.elem) != el.kind(elem) or not x.text.startswith("(") else x for x in (e, f))
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

    def program_text(self):
        """What names the dims that the program takes as arguments."""
        return " ".join([*self.inputs, *self.records, *(t for _, _, t in self.outputs), *self.lines])

    def source(self):
        heads = [f"{n} <= {self.sizes[n] + self.draw.choice([0, 0, 3])}" if n in self.runtime else f"{n} = {self.sizes[n]}" for n in self.named()]
        text = [f"dim {h};" for h in heads] + [f"mesh {a} = {n};" for a, n in self.axes.items()]
        if self.records:
            text += ["record weights {"] + [f"  {r}," for r in self.records] + ["}"]
        params = self.inputs + (["w: weights"] if self.records else [])
        outs = [f"{n}: {t}" for n, _, t in self.outputs]
        return "\n".join(text + self.kernels + [f"program p({', '.join(params)}) -> ({', '.join(outs)}) {{"] + self.lines + ["}"]) + "\n"


def drawn(seed):
    b = Builder(seed)
    d = b.draw
    ways = [b.call, b.call, b.call, b.update_in_place, b.expression, b.update, b.repeated, b.branched, b.move, b.move, b.linear]
    ways += [d.choice([b.viewed, b.subprogram, b.chosen, b.different])]
    for _ in range(d.randint(1, 6)):
        d.choice(ways)()
    if not b.steps:
        b.call()
    b.finish()
    return b
