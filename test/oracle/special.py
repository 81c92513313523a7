"""Kernels of one idea each: sums into computed places, results that are read again, stores in loops, totals, updates in place."""
import math

import numpy as np

from . import draw as dr
from . import elements as el
from . import expr as ex
from . import kernel as ke
from . import tiles as ti
from .expr import Env, Range, Scope, Tensor

WHOLE_INTEGERS = ["i64", "i32", "i16", "i8", "u8"]


def text_of(name, params, results, words, lines, inout=None):
    head = dr.signature(name, params, results)
    if inout:
        head = head.replace("(", "(inout ", 1)
    return "\n".join([head, f"  each {', '.join(words)} {{", *ke.indented(ke.indented(lines)), "  }", "}"])


def grid_over(d, scope, names, dims, places=()):
    grid = ke.Grid()
    for n in d.sample(dims, len(dims)):
        if n in places:
            r = Range(names("i"), n, False)
            scope.ranges.append(r)
            grid.ranges.append(r)
            grid.sizes.append(None)
            grid.words.append(f"{r.name} of {n}")
        else:
            grid.add(d, scope, names("i"), n)
    return grid


# ---- sums into computed places ----


def scattered(d, name, dims, params):
    """y[place, j] += e: in the order of the tasks, each addition rounded."""
    scope, names = Scope(d, dims), dr.Names()
    scope.params = params
    first = d.choice([*dims])
    rest = [n for n in dims if n != first and d.random() < 0.6]
    grid = grid_over(d, scope, names, [first, *rest])
    by = {r.dim: r for r in scope.ranges}
    size = d.randint(1, 6)
    r = by[first]
    integers = [p for p in params if first in p.dims and set(p.dims) <= {first} and p.elem in ("i32", "i64", "u8", "i8")]
    if integers and d.random() < 0.6:
        p = d.choice(integers)
        spot = ex.Expr(f"{p.name}[{r.name}]", p.elem, scope.axes_of(r), plain_load(p, [r]))
    else:
        spot = ex.applied("%", ex.applied("*", ex.position(r), ex.literal("i64", d.choice([1, 2, 3]))), ex.literal("i64", size + d.choice([0, 1])))
    kind = d.choice(["float", "integer"])
    e = ex.any_of(scope, kind, 2)
    for n in [first, *rest]:
        if by[n].tile and by[n].name not in e.axes:
            e = ex.applied("+", e, ex.converted(el.computed(e.elem), ex.position(by[n])))
    elem = d.choice(["f32", "f32", "f64", "bf16", "f16"] if kind == "float" else WHOLE_INTEGERS)
    sign = d.choice(["+", "+", "-"])
    order = [by[n] for n in rest]
    results = [("y0", elem, [str(size), *rest])]
    target = ", ".join([spot.text, *(q.name for q in order)])
    text = text_of(name, params, results, grid.words, [f"y0[{target}] {sign}= {e.text};"])

    def run(tensors, sizes, parts=1):
        into = Tensor(elem, np.zeros([size, *(sizes[n] for n in rest)], np.float64 if kind == "float" else np.int64))
        mag, count = np.zeros(into.val.shape), np.zeros(into.val.shape)
        for task in grid.tasks(sizes):
            env = Env(tensors, sizes)
            env.at = {q.name: at for q, at in zip(grid.ranges, task)}
            scatter(env, spot, order, ti.convert(e.run(env), el.computed(elem)), into, mag, count, 1 if sign == "+" else -1)
        finish_sum(into, mag, count, parts)
        return [into]
    scope.fixed.update(r.dim for r in scope.ranges)
    return ke.Kernel(name, text, params, results, run, set(), set(), scope.bent)


def plain_load(p, ranges):
    return lambda env: ex.load(env.tensors[p.name], [env.positions(q.name) for q in ranges])


def scatter(env, spot, order, value, into, mag, count, sign):
    """Element by element, as np.add.at does; places outside are dropped."""
    at = spot.run(env)
    subs = [at, *(env.positions(q.name) for q in order)]
    axes = list(dict.fromkeys(a for s in [*subs, value] for a in s.axes))
    shape = [len(env.at[a]) for a in axes]
    places = [np.broadcast_to(ti.spread(s.val, s.axes, axes), shape).ravel() for s in subs]
    val, err = (np.broadcast_to(ti.spread(x, value.axes, axes), shape).ravel() for x in (value.val, value.err))
    if np.any(at.err):
        err = err + np.inf
    keep = (places[0] >= 0) & (places[0] < into.val.shape[0])
    index = tuple(p[keep] for p in places)
    np.add.at(into.val, index, sign * val[keep])
    np.add.at(into.err, index, err[keep])
    np.add.at(mag, index, np.abs(val[keep]))
    np.add.at(count, index, 1)


def finish_sum(into, mag, count, parts):
    elem = into.elem
    if el.is_integer(elem):
        into.val = el.wrapped(elem, into.val)
        return
    unit = 2.0 ** -(2 if elem in ("bf16", "f16") else 10)
    most = 2.0 ** (4 if elem == "bf16" else 8)
    exact = (into.err == 0) & (mag < most) & (into.val == np.rint(into.val / unit) * unit) & np.all(mag == np.rint(mag / unit) * unit)
    exact &= elem in ("f32", "f64")
    loose = into.err + (count + 2 * parts + 1) * 2 * el.epsilon(elem) * mag + 1e-7 * (elem in ("bf16", "f16"))
    into.err = ti.unknown(elem, into.val, np.where(exact | (count == 0), into.err, loose))


# ---- a result that is read again ----


def recurrent(d, name, dims, params):
    """y[i, j] of what earlier tasks have written: y[i - 1, j], y[i - 1, j - 1]."""
    scope, names = Scope(d, dims), dr.Names()
    scope.params = params
    order = d.sample([*dims], min(len(dims), d.choice([1, 2, 2])))
    back = order[: d.randint(1, len(order))]
    grid = grid_over(d, scope, names, order, places=order if len(back) > 1 else back)
    by = {r.dim: r for r in scope.ranges}
    e = ex.any_of(scope, "float", 2)
    if d.random() < 0.3:
        e = ex.any_of(scope, "integer", 2)
    is_float = el.is_float(e.elem)
    elem = d.choice(["f32", "f32", "f64", "bf16"] if is_float else ["i32", "i64"])
    for _ in range(d.choice([1, 1, 2])):
        steps = [-d.randint(1, 2) if n in back and (len(back) == 1 or n == back[0] or d.random() < 0.6) else 0 for n in order]
        subs = [ex.shifted(by[n], 1, s) for n, s in zip(order, steps)]
        axes = frozenset().union(*(s.axes for s in subs))
        prior = ex.Expr(f"y0[{', '.join(s.text for s in subs)}]", elem, axes, (lambda subs: lambda env: ex.load(env.tensors["y0"], [s.run(env) for s in subs]))(subs))
        e = ex.applied(d.choice(["+", "max", "min"]), e, ex.applied("*", prior, ex.literal(el.computed(elem), 0.5 if is_float else 1)))
    body = [ke.store("y0", [by[n] for n in order], 1, 0, ex.fitting(e, elem))]
    results = [("y0", elem, order)]
    text = text_of(name, params, results, grid.words, body[0].lines)
    return ke.Kernel(name, text, params, results, dr.runner(results, grid, body), set(), set(), scope.bent)


# ---- stores in a loop, totals ----


def looping(d, name, dims, params):
    """for p: 4 of n { y[i, p] = e; }, with a variable that the loop carries."""
    scope, names = Scope(d, dims), dr.Names()
    scope.params = params
    inner = d.choice([*dims])
    outer = [n for n in dims if n != inner and d.random() < 0.7]
    if not outer:
        return None
    grid = grid_over(d, scope, names, outer)
    size = None if d.random() < 0.3 else ke.tile_size(d, dims[inner])
    p = Range(names("p"), inner, size is not None)
    scope.ranges.append(p)
    inside = [ke.declaration(scope, names("v"), 0)] if d.random() < 0.4 else []
    e = dr.value_of(scope, 2)
    elem = dr.result_type(d, e)
    if elem in ("i4", "t2"):
        elem = "i32"
    e = ex.fitting(e, elem)
    order = d.sample(scope.ranges, len(scope.ranges))
    inside.append(ke.store("y0", order, 1, 0, e))
    head = f"for {p.name}: {size} of {inner} {{" if size else f"for {p.name} of {inner} {{"
    lines = [head, *ke.indented([x for s in inside for x in s.lines]), "}"]

    def run(env):
        for at in ke.sequence(0, env.dims[inner], size):
            env.at[p.name] = at
            ke.run_all(inside, env)
    results = [("y0", elem, [r.dim for r in order])]
    text = text_of(name, params, results, grid.words, lines)
    parallel = set(outer) - scope.fixed
    return ke.Kernel(name, text, params, results, dr.runner(results, grid, [ke.Statement(lines, run)]), parallel, set(), scope.bent)


def totals(d, name, dims, params):
    """A result without extents, added to by all tasks."""
    scope, names = Scope(d, dims), dr.Names()
    scope.params = params
    grid = grid_over(d, scope, names, [*dims])
    kind = d.choice(["float", "integer"])
    e = ex.any_of(scope, kind, 2)
    for r in scope.ranges:
        if r.tile and r.name not in e.axes:
            e = ex.applied("+", e, ex.converted(el.computed(e.elem), ex.position(r)))
    tiled = [r.name for r in scope.ranges if r.tile and r.name in e.axes]
    elem = d.choice(["f32", "f64"]) if kind == "float" else el.summed(e.elem)
    value = f"sum({e.text}, {', '.join(tiled)})" if tiled else e.text
    results = [("y0", elem, [])]
    text = text_of(name, params, results, grid.words, [f"y0 += {value};"])

    def run(tensors, sizes, parts=1):
        into, mag, count = Tensor(elem, np.zeros((), np.float64 if kind == "float" else np.int64)), np.zeros(()), np.zeros(())
        for task in grid.tasks(sizes):
            env = Env(tensors, sizes)
            env.at = {q.name: at for q, at in zip(grid.ranges, task)}
            x = ti.total(e.run(env), tiled) if tiled else e.run(env)
            x = ti.convert(x, elem)
            into.val, into.err = np.asarray(into.val + x.val), np.asarray(into.err + x.err)
            mag, count = mag + x.magnitude(), count + 1
        finish_sum(into, mag, count, parts)
        if kind == "float" and math.prod(sizes.values()) > 0:
            into.err = np.where(into.err == 0, 0, into.err + 200 * el.epsilon("f32" if elem == "f32" else "f64") * mag)
        return [into]
    return ke.Kernel(name, text, params, results, run, set(), set(), scope.bent)


# ---- updates in place ----


def updating(d, name, dims, params):
    """inout x0[i, j] += e, of the task's own places; some tasks leave theirs alone."""
    scope, names = Scope(d, dims), dr.Names()
    scope.params = params[1:]
    into = params[0]
    grid = grid_over(d, scope, names, into.dims)
    by = {r.dim: r for r in scope.ranges}
    for n in [n for n in dims if n not in into.dims][:1]:
        statement = ke.reduction(scope, grid, n, names, False)[0]
        scope.fixed.add(n)
        break
    else:
        statement = None
    e = dr.value_of(scope, 2)
    if el.kind(e.elem) != el.kind(into.elem):
        e = ex.converted(into.elem, ex.clipped(e, -99.0, 99.0) if el.is_float(e.elem) else e)
    own = [by[n] for n in into.dims]
    old = ex.Expr(f"x0[{', '.join(r.name for r in own)}]", into.elem, frozenset(r.name for r in own if r.tile), plain_load(into, own))
    way = d.choice(["=", "+=", "+=", "-=", "max"])
    new = e if way == "=" else ex.applied(way[0] if way != "max" else way, old, e)
    store = ke.store("x0", own, 1, 0, ex.fitting(new, into.elem))
    if way in ("+=", "-="):
        store.lines = [f"{old.text} {way} {e.text};"]
    body = [store]
    places = [r for r in own if not r.tile]
    if places and d.random() < 0.5:
        k, r, inner = d.randint(0, 4), d.choice(places), store.run
        body = [ke.Statement([f"if pos({r.name}) >= {k} {{", *ke.indented(store.lines), "}"], lambda env: inner(env) if env.at[r.name] >= k else None)]
    body = ([statement] if statement else []) + body
    text = text_of(name, params, [], grid.words, [x for s in body for x in s.lines], inout=True)

    def run(tensors, sizes, parts=1):
        x = tensors["x0"]
        fresh = Tensor(x.elem, x.val.copy(), np.array(x.err, np.float64))
        env = Env({**tensors, "x0": fresh}, sizes)
        for task in grid.tasks(sizes):
            env.at, env.var = {q.name: at for q, at in zip(grid.ranges, task)}, {}
            ke.run_all(body, env)
        return [fresh]
    return ke.Kernel(name, text, params, [("x0", into.elem, list(into.dims))], run, set(into.dims) - scope.fixed, set(), scope.bent)


def scattered_into(d, name, dims, params):
    """inout x0[pos(i) / 2, j] += e: elements of a tile share a place that has a value before."""
    scope, names, into = Scope(d, dims), dr.Names(), params[0]
    scope.params = params[1:]
    grid = grid_over(d, scope, names, into.dims)
    by = {r.dim: r for r in scope.ranges}
    own = [by[n] for n in into.dims]
    spot = ex.applied("/", ex.position(own[0]), ex.literal("i64", 2))
    e = ex.any_of(scope, el.kind(into.elem), 2)
    for r in own:
        if r.tile and r.name not in e.axes:
            e = ex.applied("+", e, ex.converted(el.computed(e.elem), ex.position(r)))
    sign = d.choice(["+", "+", "-"])
    target = ", ".join([spot.text, *(r.name for r in own[1:])])
    text = text_of(name, params, [], grid.words, [f"x0[{target}] {sign}= {e.text};"], inout=True)

    def run(tensors, sizes, parts=1):
        x = tensors["x0"]
        fresh = Tensor(x.elem, x.val.copy(), np.array(x.err, np.float64))
        mag, count = np.abs(fresh.val).astype(np.float64), np.zeros(fresh.val.shape)
        for task in grid.tasks(sizes):
            env = Env({**tensors, "x0": fresh}, sizes)
            env.at = {q.name: at for q, at in zip(grid.ranges, task)}
            scatter(env, spot, own[1:], ti.convert(e.run(env), el.computed(into.elem)), fresh, mag, count, 1 if sign == "+" else -1)
        finish_sum(fresh, mag, count, parts)
        return [fresh]
    scope.fixed.update(r.dim for r in scope.ranges)
    return ke.Kernel(name, text, params, [("x0", into.elem, list(into.dims))], run, set(), set(), scope.bent)


# ---- positions in order, loops that end where the task's tile does ----


def ordered(d, name, dims, params):
    """for r in i { y[r, j] = e; }: the positions of the task's tile one by one."""
    scope, names = Scope(d, dims), dr.Names()
    scope.params = params
    order = d.sample([*dims], min(len(dims), d.choice([1, 2, 2, 3])))
    grid = grid_over(d, scope, names, order)
    tiles = [r for r in grid.ranges if r.tile]
    if not tiles:
        return None
    within = d.choice(tiles)
    scope.ranges.remove(within)
    p = Range(names("q"), within.dim, False)
    scope.ranges.append(p)
    e = ex.any_of(scope, d.choice(["float", "integer"]), 2)
    elem = dr.result_type(d, e)
    elem = "i32" if elem in ("i4", "t2") else elem
    by = {r.dim: r for r in scope.ranges}
    store = ke.store("y0", [by[n] for n in order], 1, 0, ex.fitting(e, elem))
    lines = [f"for {p.name} in {within.name} {{", *ke.indented(store.lines), "}"]

    def run(env):
        for at in env.at[within.name]:
            env.at[p.name] = int(at)
            store.run(env)
    results = [("y0", elem, order)]
    text = text_of(name, params, results, grid.words, lines)
    return ke.Kernel(name, text, params, results, dr.runner(results, grid, [ke.Statement(lines, run)]), set(), set(), scope.bent)


def causal(d, name, dims, params):
    """acc += sum(where(pos(p) <= pos(i), e, 0), p) in a loop that ends with the tile of i."""
    scope, names = Scope(d, dims), dr.Names()
    scope.params = params
    rows = d.choice([*dims])
    keys = d.choice([*dims])
    out = [rows, *[n for n in dims if n not in (rows, keys) and d.random() < 0.5]]
    grid = grid_over(d, scope, names, out)
    i = next(r for r in grid.ranges if r.dim == rows)
    size = ke.tile_size(d, dims[keys])
    p = Range(names("p"), keys, True)
    scope.ranges.append(p)
    e = ex.any_of(scope, d.choice(["float", "integer"]), 2)
    mask = ex.applied("<=", ex.position(p), ex.position(i))
    e = ex.chosen(mask, e, ex.literal(el.computed(e.elem), 0))
    if p.name not in e.axes:
        return None
    scope.ranges.remove(p)
    elem, axes = el.summed(e.elem), sorted(e.axes - {p.name})
    shape = f"[{', '.join(axes)}]" if axes else ""
    end = f"end({i.name})" if i.tile else f"pos({i.name}) + 1"
    lines = [f"acc: {elem}{shape} = 0;", f"for {p.name}: {size} in 0 .. min({keys}, {end}) {{", f"  acc += sum({e.text}, {p.name});", "}"]

    def run(env):
        env.var["acc"] = ke.widened(ti.scalar(elem, 0), axes, env)
        last = int(np.max(env.at[i.name])) + 1 if np.size(env.at[i.name]) else 0
        for at in ke.sequence(0, min(env.dims[keys], last), size):
            env.at[p.name] = at
            env.var["acc"] = ke.widened(ke.added(env.var["acc"], ti.total(e.run(env), [p.name]), elem), axes, env)
    order = d.sample(grid.ranges, len(grid.ranges))
    store = ke.store("y0", order, 1, 0, ex.variable(("acc", elem, frozenset(axes))))
    results = [("y0", elem, [r.dim for r in order])]
    text = text_of(name, params, results, grid.words, [*lines, *store.lines])
    return ke.Kernel(name, text, params, results, dr.runner(results, grid, [ke.Statement(lines, run), store]), set(), set(), scope.bent)
