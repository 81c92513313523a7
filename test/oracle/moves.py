"""Placements of values: what is gathered, reduced or moved so that it lies where it is taken."""
import dataclasses

import numpy as np

from . import elements as el
from .expr import Tensor


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


class Moves:
    """What a Builder knows of collectives."""

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
