"""Expressions over whole tensors, as trees that know the type of a result that nothing declares."""
import dataclasses

from . import elements as el
from . import expr as ex
from . import tiles as ti


@dataclasses.dataclass
class WholeParam:
    name: str
    elem: str
    value: object
    was: object  # before it was moved


class Whole(ex.Expr):
    """kept: the type that a result has where nothing declares it."""

    def __init__(self, e, kept):
        super().__init__(e.text, e.elem, e.axes, e.run)
        self.kept = kept


def widest(a, b):
    """The wider of two types of one kind; None: numbers have none."""
    if a is None or b is None:
        return a or b
    if a == b:
        return a
    if el.width(a) == el.width(b):
        return "f32" if el.is_float(a) else "i32"
    return max(a, b, key=el.width)


def operand(p):
    get, axes = p.value.get, list(range(len(p.value.dims)))

    def run(env):
        x = get(env)
        return ti.Tile(axes, x.elem, x.val, x.err)
    return Whole(ex.Expr(p.name, p.elem, frozenset(axes), run), p.elem)


def whole_converted(elem, e):
    if el.is_float(e.elem) and el.is_integer(elem):
        e = ex.clipped(e, -100.0, 100.0)
    return Whole(ex.converted(elem, e), elem)


def with_integer(d, a, value):
    """A number that the type does not hold widens it: x * 3000 of an i8 is i32, and so is x * 2 of a t2."""
    op = d.choice(["+", "*", "-"])
    most = {"t2": 1, "i4": 7, "i8": 127, "u8": 255}
    wide = lambda elem: "i32" if most.get(elem, value) < value else elem
    return Whole(ex.applied(op, a, ex.literal(wide(el.computed(a.elem)), value)), wide(a.kept))


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
        if kind == "integer":
            return with_integer(d, a, d.choice([200, 3000]) if d.random() < 0.4 else d.randint(0, 7))
        return Whole(ex.applied(d.choice(["+", "*", "-"]), a, ex.number(d, el.computed(a.elem))), a.kept)
    if way < 0.32 and kind == "float":
        return Whole(ex.function_of(scope, a), a.kept)
    if way < 0.45:
        to = d.choice([*el.FLOATS] if kind == "float" else ["i32", "i64", "i16", "i8", "u8"])
        return whole_converted(to, a)
    b = tree(scope, depth - 1, kind)
    if way < 0.6:
        c = ex.applied(d.choice(["<", ">=", "=="]), a, ex.number(d, el.computed(a.elem)))
        return Whole(ex.chosen(c, a, b), widest(a.kept, b.kept))
    op = d.choice(["+", "-", "*", "min", "max"] + (["&", "^", "|"] if kind == "integer" else []))
    return Whole(ex.applied(op, a, b), widest(a.kept, b.kept))
