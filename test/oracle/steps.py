"""Statements of programs beyond calls and expressions: views, parts of results, called programs, choices, values that
differ from rank to rank, and arithmetic on partial sums."""
import dataclasses
import math

import numpy as np

from . import draw as dr
from . import elements as el
from . import tiles as ti
from . import whole as wh
from .expr import Param, Scope, Tensor


def sizes_text(dims):
    return ", ".join(dims)


class Steps:
    """What a Builder can add to a program."""

    def numeral(self, n):
        """A dimension that is written as a number."""
        self.sizes.setdefault(str(n), n)
        return str(n)

    # ---- views ----

    def viewed(self):
        """The same elements under other extents."""
        d, states = self.draw, [n for n, _ in self.states]
        v = self.some(lambda v: v.dims and not v.partial and not any(v.split) and v.text not in states and not set(v.dims) & self.runtime)
        if not v or "view" in v.text or v.text.endswith("]"):
            return
        total, dims = math.prod(self.shape(v.dims)), []
        while total > 1 and len(dims) < d.choice([1, 2, 3]):
            n = d.choice([k for k in range(2, total + 1) if total % k == 0])
            dims.append(n)
            total //= n
        dims = [self.numeral(n) for n in [*dims, total] if n > 1 or not dims]
        d.shuffle(dims)
        shape, name, get = self.shape(dims), self.fresh("t"), v.get

        def step(env):
            x = get(env)
            env[name] = Tensor(x.elem, x.val.reshape(shape), np.reshape(x.err, shape))
        self.emit(f"{name} = view({self.read(v)}, [{sizes_text(dims)}]);", step)
        self.temporary(name, v.elem, dims, [()] * len(dims))

    # ---- programs that are called ----

    def subprogram(self):
        """An expression over whole tensors in a program of its own."""
        d = self.draw
        v = self.some(lambda v: v.dims and not v.partial and len(set(v.dims)) == len(v.dims))
        if not v:
            return
        others = [w for w in self.pool if w.dims == v.dims and w.split == v.split and not w.partial and w is not v]
        args = [v] + d.sample(others, min(len(others), 1))
        scope, names = Scope(d, {}), [f"m{k}" for k in range(len(v.dims))]
        inner = [dataclasses.replace(w, text=f"x{k}", get=(lambda k: lambda env: env[f"sub x{k}"])(k)) for k, w in enumerate(args)]
        scope.params = [wh.WholeParam(w.text, w.elem, w, w) for w in inner]
        scope.used = []
        e = wh.tree(scope, 2, d.choice(["float", "integer"]), scope.params[-1])
        for p in scope.params:
            if p.was not in scope.used:
                return
        if not e.text.startswith("("):
            return
        name, result = self.fresh("sub"), self.fresh("t")
        head = ", ".join(f"{w.text}: {w.elem}[{sizes_text(names)}]" for w in inner)
        self.kernels.append(f"program {name}({head}) -> (y: {e.elem}[{sizes_text(names)}]) {{\n  y = {e.text};\n}}")
        assign, gets = self.assigning(result, e, e.elem, v.dims), [w.get for w in args]

        def step(env):
            env.update({f"sub x{k}": get(env) for k, get in enumerate(gets)})
            assign(env)
        self.emit(f"{result} = {name}({', '.join(self.read(w) for w in args)});", step)
        self.temporary(result, e.elem, v.dims, v.split)

    # ---- choices ----

    def chosen(self):
        """The first arm of two."""
        d = self.draw
        e, first, split = self.whole()
        f, _, _ = self.whole(first)
        elem = e.elem
        if el.kind(f.elem) != el.kind(elem):
            f = wh.whole_converted(elem, f)
        e, f = (x if x.text.startswith("(") and x.elem == elem else wh.whole_converted(elem, x) for x in (e, f))
        name = self.fresh("t")
        line = f"{name}: {self.declared(elem, first.dims, split)} = choose {{ one: {e.text}; other: {f.text}; }};"
        if d.random() < 0.3:
            line = f"{name}: {self.declared(elem, first.dims, split)} = {d.choice([1, 3])} > 2 ? {e.text} : {f.text};"
            e = e if " = 3 >" in line else f
        self.emit(line, self.assigning(name, e, elem, first.dims))
        self.temporary(name, elem, first.dims, split)

    # ---- partial sums ----

    def linear(self):
        """A partial sum times a number, or two of them added: rounded by each rank, so known only where it is exact."""
        d = self.draw
        v = self.some(lambda v: v.partial and v.elem in ("f32", "f64", "i32", "i64"))
        if not v:
            return
        same = [w for w in self.pool if w.partial == v.partial and w.split == v.split and w.dims == v.dims and w.elem == v.elem]
        w = d.choice(same)
        op = d.choice(["+", "-", "*"])
        run = ti.OPERATORS[op]
        axes, name, get, other = list(range(len(v.dims))), self.fresh("t"), v.get, w.get
        text = f"{self.read(v)} {op} {self.read(w) if op != '*' else 2}"

        def step(env):
            x, y = get(env), other(env)
            right = ti.Tile(axes, y.elem, y.val, y.err) if op != "*" else ti.scalar(x.elem, 2)
            t = run(ti.Tile(axes, x.elem, x.val, x.err), right)
            env[name] = Tensor(v.elem, t.val, np.where(t.err == 0, 0, np.inf))
        self.emit(f"{name} = {text};", step)
        self.temporary(name, v.elem, v.dims, v.split, v.partial)

    # ---- values that differ from rank to rank ----

    def different(self):
        """A kernel of each rank's own block; then what some ranks have, on all."""
        d = self.draw
        free = [a for a in self.axes if self.axes[a] > 1]
        fits = [n for n in self.named() if n not in self.runtime and free and any(self.sizes[n] % self.axes[a] == 0 for a in free)]
        if not fits:
            return
        n = d.choice(fits)
        axis = d.choice([a for a in free if self.sizes[n] % self.axes[a] == 0])
        ranks, block = self.axes[axis], self.sizes[n] // self.axes[axis]
        other = [m for m in self.named() if m != n and m not in self.runtime]
        if not other:
            return
        more = [d.choice(other)]
        dims, elem = [n, *more], d.choice(["f32", "i32", "bf16", "i8"])
        x = self.fresh("x")
        split = [(axis,) if m == n else () for m in dims]
        self.inputs.append(f"{x}: {self.declared(elem, dims, split)}")
        self.arrays[x] = (elem, self.numbers(elem, self.shape(dims)))
        local = {f"m{k}": block if m == n else self.sizes[m] for k, m in enumerate(dims)}
        for _ in range(6):
            kernel = dr.general(d, self.fresh("k"), local, [Param("x0", elem, [*local])])
            if len(kernel.results) == 1 and not any("m0" in s for s in kernel.results[0][2]) and " in " not in kernel.text:
                break
        else:
            return
        _, out, shape = kernel.results[0]
        result = [self.numeral(dr.extent(s, local)) for s in shape]
        own = self.fresh("t")

        def step(env):
            parts = np.split(env[x].val, ranks)
            env[own] = [kernel.run({"x0": Tensor(elem, p)}, {**local, "begin of m0": r * block, "all of m0": ranks * block})[0] for r, p in enumerate(parts)]
        self.kernels.append(kernel.text)
        self.emit(f"{own} = {kernel.name}(local({x}, {axis}));", step)
        self.spread(own, axis, ranks, out, result)

    def spread(self, own, axis, ranks, elem, dims):
        d = self.draw
        if d.random() < 0.5:
            turn, ring = d.randint(1, 3), self.fresh("t")
            before = own
            self.emit(f"{ring} = permute({before}, {axis}, {turn});", lambda env: env.__setitem__(ring, [env[before][(r - turn) % ranks] for r in range(ranks)]))
            own = ring
        name, source = self.fresh("t"), own
        if len(dims) < 8 and d.random() < 0.6:
            def stacked(env):
                env[name] = Tensor(elem, np.stack([t.val for t in env[source]]), np.stack([t.err for t in env[source]]))
            self.emit(f"{name} = stack({own}, {axis});", stacked)
            dims = [self.numeral(ranks), *dims]
        else:
            r = d.randrange(ranks)
            self.emit(f"{name} = broadcast({own}, {axis}, {r});", lambda env: env.__setitem__(name, env[source][r]))
        self.temporary(name, elem, dims, [()] * len(dims))

    # ---- parts of results ----

    def part_of_result(self, v, count):
        """o[l] = v, in a repeat: each iteration has its part."""
        w, name, at = self.reduced(v), self.fresh("o"), self.fresh("count")
        self.read(v)
        dims, get = [self.numeral(count), *v.dims], w.get
        self.outputs.append((name, v.elem, self.declared(v.elem, dims, ((), *w.split))))

        def step(env):
            x, k = get(env), env.get(at, 0)
            if k == 0:
                env[name] = Tensor(v.elem, np.zeros((count, *x.val.shape), x.val.dtype), np.zeros((count, *x.val.shape)))
            env[name].val[k], env[name].err[k] = x.val, x.err
            env[at] = k + 1
        self.emit(f"{name}[l] = {w.text};", step)
