"""Kernels put together: which dimensions are results', which are reduced, and what of them may be split."""
import itertools

import numpy as np

from . import elements as el
from . import expr as ex
from . import kernel as ke
from . import tiles as ti
from .expr import Env, Scope, Tensor


class Names:
    def __init__(self):
        self.count = itertools.count()

    def __call__(self, prefix):
        return f"{prefix}{next(self.count)}"


def result_type(d, e):
    """Where e is stored: of its kind, or written as a conversion."""
    if e.elem == "bool":
        return "bool"
    kind = el.FLOATS if el.is_float(e.elem) else [t for t in el.INTEGERS if t not in ("i4", "t2")]
    return d.choice([e.elem, e.elem, "f32" if kind is el.FLOATS else "i32", d.choice([*kind])])


def value_of(scope, depth):
    """What a result is: some of the variables with an expression, so that each is read."""
    d = scope.draw
    e = ex.any_of(scope, d.choice(["float", "float", "integer"]), depth)
    for v in scope.vars:
        e = ke.joined(e, ex.variable(v))
    return e


def signature(name, params, results):
    heads = [f"{p.name}: {p.elem}" + (f"[{', '.join(p.dims)}]" if p.dims else "") for p in params]
    outs = [f"{n}: {t}" + (f"[{', '.join(s)}]" if s else "") for n, t, s in results]
    return f"kernel {name}({', '.join(heads)}) -> ({', '.join(outs)}) {{"


def general(d, name, dims, params, unknown=()):
    """Any body: results over some of the dimensions, the others reduced by loops or in one tile."""
    scope, names, grid = Scope(d, dims), Names(), ke.Grid()
    scope.unknown = set(unknown)
    scope.params = params
    out = [n for n in dims if d.random() < 0.7] or [d.choice([*dims])]
    rest = [n for n in dims if n not in out]
    for n in d.sample(out, len(out)):
        grid.add(d, scope, names("i"), n)
    ranges = {r.dim: r for r in scope.ranges}
    whole = [grid.add(d, scope, names("w"), n, whole=True) for n in rest if out and d.random() < 0.3]
    for w in whole:
        scope.ranges.remove(w)
    body = [ke.declaration(scope, names("v"), k) for k in range(d.choice([0, 0, 1, 2]))]
    for w in whole:
        scope.ranges.append(w)
        body.append(ke.over_whole(scope, w, names("r")))
        if w.name in scope.vars[-1][2]:  # a prefix: its range ends here
            v, r = scope.vars.pop(), names("s")
            whole_sum = total_of(v, w.name)
            body.append(ke.assignment(r, whole_sum))
            scope.vars.append((r, whole_sum.elem, whole_sum.axes))
        scope.ranges.remove(w)
    whole_grid = [r for r in scope.ranges if (r.whole or r.fixed) and d.random() < 0.5]
    for w in whole_grid[:1]:
        body.append(ke.over_whole(scope, w, names("r")))
    for n in [n for n in dims if d.random() < 0.25 or n in rest and d.random() < 0.6][:2]:
        if n in out:
            scope.fixed.add(n)
        body.append(ke.reduction(scope, grid, n, names, False)[0])
    if d.random() < 0.25:
        s = ke.branch(scope, names("v"))
        body += [s] if s else []
    return finished(d, name, dims, params, scope, grid, [ranges[n] for n in out], body, set())


def total_of(v, name):
    x = ex.variable(v)
    return ex.Expr(f"sum({x.text}, {name})", el.summed(v[1]), v[2] - {name}, lambda env: ti.total(x.run(env), [name]))


def finished(d, name, dims, params, scope, grid, out, body, summed):
    """The stores of one or two results, and the kernel."""
    results, stores = [], []
    for k in range(d.choice([1, 1, 1, 2])):
        order = d.sample(out, len(out))
        e = value_of(scope, 2)
        if e.elem not in el.FLOATS and e.elem in ("i4", "t2"):
            e = ex.converted("i32", e)
        elem = result_type(d, e)
        e = ex.fitting(e, elem)
        way = d.random()
        shape = [r.dim for r in order]
        result = f"y{k}"
        if order and way < 0.1 and order[0].dim not in scope.unknown:
            shape[0] = f"2 * {order[0].dim}"
            scope.fixed.add(order[0].dim)
            other = ex.fitting(value_of(scope, 1), elem)
            strided = d.random() < 0.5
            stores.append(ke.store(result, order, 2 if strided else 1, 0, e))
            stores.append(ke.store(result, order, 2 if strided else 1, 1 if strided else order[0].dim, convertible(other, elem)))
        else:
            stores.append(ke.store(result, order, 1, 0, e))
        results.append((result, elem, shape))
    text = [signature(name, params, results), f"  each {', '.join(grid.words)} {{"]
    text += ke.indented(ke.indented([line for s in body + stores for line in s.lines])) + ["  }", "}"]
    parallel = {r.dim for r in out} - scope.fixed
    return ke.Kernel(name, "\n".join(text), params, results, runner(results, grid, body + stores), parallel, summed - scope.fixed, scope.bent)


def convertible(e, elem):
    return e if el.kind(e.elem) == el.kind(elem) else ex.converted(elem, e)


def extent(expression, dims):
    return 2 * dims[expression[4:]] if expression.startswith("2 * ") else dims[expression]


def runner(results, grid, body):
    def run(tensors, dims, parts=1):
        outs = {n: ke.fresh(t, [extent(s, dims) for s in shape]) for n, t, shape in results}
        env = Env({**tensors, **outs}, dims)
        for task in grid.tasks(dims):
            env.at, env.var = {r.name: at for r, at in zip(grid.ranges, task)}, {}
            ke.run_all(body, env)
        return list(outs.values())
    return run


def summing(d, name, dims, params):
    """A sum and nothing else: of a split dimension it is a partial sum, rounded to the result's type."""
    scope, names, grid = Scope(d, dims), Names(), ke.Grid()
    scope.params = params
    over = d.choice([n for n in dims])
    out = [n for n in dims if n != over and d.random() < 0.75]
    for n in d.sample(out, len(out)):
        grid.add(d, scope, names("i"), n)
    if not grid.ranges:
        return None
    statement, acc, elem, axes = ke.reduction(scope, grid, over, names, True)
    order = d.sample(scope.ranges, len(scope.ranges))
    kind = [t for t in el.FLOATS if not t.startswith("f8")]
    to = d.choice([elem, elem, *kind]) if el.is_float(elem) else elem
    e = ex.variable((acc, elem, axes))
    if d.random() < 0.3:
        e = ex.applied("*", e, ex.literal(el.computed(elem), 2))
    body = [statement, ke.store("y0", order, 1, 0, e)]
    results = [("y0", to, [r.dim for r in order])]
    text = [signature(name, params, results), f"  each {', '.join(grid.words)} {{"]
    text += ke.indented(ke.indented([line for s in body for line in s.lines])) + ["  }", "}"]
    plain = runner(results, grid, body)

    def run(tensors, dims, parts=1):
        got = plain(tensors, dims)
        if parts > 1 and el.is_float(to):
            magnitude = magnitude_of(tensors, dims, results, grid, body)
            exact = (got[0].err == 0) & (to == "f64" or (to, elem) == ("f32", "f32"))
            got[0].err = np.where(exact, 0, got[0].err + 2 * parts * el.epsilon(to) * magnitude)
        return got
    return ke.Kernel(name, "\n".join(text), params, results, run, {r.dim for r in order} - scope.fixed, {over} - scope.fixed, scope.bent)


def magnitude_of(tensors, dims, results, grid, body):
    """The sum of the absolute values behind each element, for what rounding of each rank's part may come to."""
    name, elem, shape = results[0]
    into = Tensor("f64", np.zeros([extent(s, dims) for s in shape]))
    env = Env({**tensors, name: into}, dims)
    for task in grid.tasks(dims):
        env.at, env.var = {r.name: at for r, at in zip(grid.ranges, task)}, {}
        body[0].run(env)
        acc = next(iter(v for k, v in env.var.items() if k.startswith("acc")))
        env.var = {k: ti.Tile(v.axes, "f64", v.magnitude().astype(np.float64)) if v is acc else v for k, v in env.var.items()}
        body[1].run(env)
    return into.val
