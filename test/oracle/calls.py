"""Calls of random kernels: their arguments, what of them is split, and updates in place."""
import math

from . import draw as dr
from . import elements as el
from . import special as sp
from .expr import Param

MOST = 4000  # elements of a tensor


class Calls:
    """What a Builder knows of calls."""

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
        make = d.choice([dr.general] * 9 + [dr.summing] * 5 + [sp.scattered, sp.recurrent, sp.looping, sp.totals, sp.ordered, sp.causal])
        unknown = [[local[n] for n in used if n in self.runtime]] if make is dr.general else []
        kernel = make(d, self.fresh("k"), {local[n]: self.sizes[n] for n in used}, params, *unknown)
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
        kernel = d.choice([sp.updating, sp.updating, sp.scattered_into])(d, self.fresh("k"), {local[n]: self.sizes[n] for n in used}, params)
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
