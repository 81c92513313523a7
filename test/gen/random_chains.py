"""Attention as users write it: any score, mask and bounds, of one head to many, with keys that end where they like, or none."""
import re

import numpy

SCORES = ["x * 0.1", "20.0 * tanh(x * 0.01)", "4.0 * tanh(x * 0.2)", "x * 0.1 - slope[{h}] * f32(pos(i) - pos(j))", "x * 0.1 + f32(bias[i, j])", "x * 0.1 + f32(near[j])",
          "where(own[i] == own[j], x * 0.1, -inf)", "where(x > 0, x * 0.1, x * 0.02)", "x * 0.1", "x * 700.0", "where(own[i] == own[j], x * 0.1, -1e9)",
          "where(own[i] == own[j], x * 0.1, -3e38)", "(x + far[i - j + 500]) * 0.1", "x * 0.1 + far[j - i + 450]"]
SEEN = {"": ("0", "t"), "pos(j) <= pos(i)": ("0", "min(t, end(i))"), "pos(j) <= pos(i) + 3": ("0", "t"), "pos(j) <= pos(i) && pos(j) > pos(i) - w": ("max(0, begin(i) - w + 1)", "min(t, end(i))"),
        "pos(j) < 5 || pos(j) <= pos(i)": ("0", "max(5, end(i))"), "pos(i) >= pos(j) && pos(j) > pos(i) - w": ("max(0, begin(i) - w + 1) / 128 * 128", "min(t, end(i))"),
        "pos(j) >= 50 * own[i] && pos(j) <= pos(i)": ("0", "min(t, end(i))"), "pos(j) < 50 * own[i] + 50 && (pos(j) >= 50 * own[i] || pos(j) < 3)": ("0", "t"),
        "pos(j) >= 50 * own[i] && pos(j) < 50 * own[i] + 50": ("50 * own[begin(i)] / 64 * 64", "min(t, 50 * own[end(i) - 1] + 50)")}
STEP = """      {x}
      mx = max(m, max(x, j));
      f = exp(x - mx);
      y = exp(m - mx);
      l = l * y + sum(f, j);
      acc = acc * y + T(f) @ {v};
      m = mx;
"""
GUARDED = STEP.replace("mx);", "top);").replace("      f =", "      top = where(mx > -inf, mx, 0);\n      f =")


def size(r, most):
    """Those around multiples of tiles, and any."""
    return r.choice([r.choice([64, 128, 192, 256, 384]) + r.randint(-2, 2), r.randint(1, most)])


def own_range(step):
    """The same step along a range of its own."""
    return re.sub(r"\bj\b", "first", step)


def chained(r):
    """The program; values of some inputs, by their names; sizes that a run gives."""
    heads = r.choice(["", "hi of h", "bi of b, hi of h"])
    at, of = "".join(x.split()[0] + ", " for x in heads.split(", ") if x), "".join(x.split()[2] + ", " for x in heads.split(", ") if x)
    sizes = {"b": r.randint(1, 2), "h": r.randint(1, 3), "s": r.choice([size(r, 300), 32 + r.randint(0, 200)]), "t": r.choice([size(r, 400), r.choice([0, 1, 2, 63, 129, 256])])}
    d, e, elem = r.choice([64, 64, 80, 96, 112, 128, 128, 192, 256, 8 * r.randint(1, 16)]), r.choice([0, 64, 80, 96, 128, 176, 256, 8 * r.randint(1, 16)]), r.choice(["bf16", "f16"])
    seen, score, out = r.choice([*SEEN]), r.choice(SCORES).format(h="hi" if heads else "0"), r.choice([elem, elem, "f32"])
    begin, end = SEEN[seen]
    also = r.random() < 0.15 and "bias" not in score # a product with no part in the chain
    counted = "b" in of and r.random() < 0.3
    begin, end = (begin, end) if not counted else ("0", f"min(t, len[bi]{r.choice([' + 1', ' * 2'])})")
    free = {n: sizes[n] > 0 and r.random() < 0.4 for n in "st"}
    free["t"] |= sizes["t"] == 0
    lines = [f"dim {n.upper()} {'<=' if free.get(n) else '='} {max(1, x + r.choice([0, 99]) * free.get(n, 0))};" for n, x in sizes.items()] + [f"dim W = {r.randint(1, 200)};"]
    shared = not e and r.random() < 0.3
    wide = e or d
    column, v = (("e" if e else "c"), f"{'k' if shared else 'v'}[{at}j, {'e' if e else 'c'}]")
    shapes = {"q": f"T[{of}s, d]", "k": f"T[{of}t, d]", "v": f"T[{of}t, {'n' if e else 'd'}]", "slope": "f32[g]", "bias": "T[s, t]", "near": "T[t]", "own": "i32[u]", "far": "f32[u]", "len": "i32[b]"}
    given = ["q", "k"] + ["v"] * (not shared) + [n for n in ("slope", "bias", "near", "own", "far") if n + "[" in score + seen or (also and n == "bias")] + ["len"] * counted
    steps, lse = r.choice([64, 64, 80, 96, 128, 128]) if wide <= 128 else r.choice([48, 64, 64, 80, 96]), r.random() < 0.4
    guarded = r.random() < 0.2  # rows may begin with nothing
    low, least = ("max(m, -3e38)", "-inf") if guarded else ("m", "-3e38")
    x = f"x = q[{at}i, c] @ k[{at}j, c];\n      x = {score};" + f"\n      x = where({seen}, x, -inf);" * (seen != "")
    rows = f"{'fixed ' * ('begin' in begin or also or r.random() < 0.5)}{r.choice([64, 128, 128, 192])}"
    step = (GUARDED if guarded else STEP).format(x=x, v=v + f" + bias[i, j] @ {v}" * also)
    ahead = f"    for first: fixed {r.choice([16, 16, 32, steps])} in 0 .. min(t, {r.randint(1, 40)}) {{\n{own_range(step)}    }}\n" if r.random() < 0.25 else ""
    text = f"""
kernel chain({', '.join(f'{n}: {shapes[n]}' for n in given)}, const w: i64) -> (o: {out if out == 'f32' else 'T'}[{of}s, {'n' if e else 'd'}]{f', z: f32[{of}s]' * lse}) {{
  each {heads + ', ' * (heads != '')}i: {rows} of s, c: * of d{', e: * of n' * (e > 0)} {{
    m: f32[i] = {least};
    l: f32[i] = 0;
    acc: f32[i, {column}] = 0;
{ahead}    for j: fixed {steps} in {begin} .. {end} {{
{step}    }}
    o[{at}i, {column}] = acc / max(l, 0.001);
{f'    z[{at}i] = {low} + log(l + 1.0);' * lse}
  }}
}}
"""
    fill = {"T": elem, "[g]": "[8]", "[u]": "[999]", "d]": f"{d}]", "n]": f"{wide}]"}
    def outer(shape):
        for a, b in fill.items():
            shape = shape.replace(a, b) if a != "T" else shape.replace("T[", b + "[")
        return re.sub(r"\b[bhst]\b", lambda x: x[0].upper(), shape)
    heads_out = f"O: {outer(f'{out}[{of}s, d]').replace(f'{d}]', f'{wide}]')}" + f", Z: {outer(f'f32[{of}s]')}" * lse
    text += f"program p({', '.join(f'{n}_: {outer(shapes[n])}' for n in given)}) -> ({heads_out}) {{\n  O{', Z' * lse} = chain({', '.join(n + '_' for n in given)}, W);\n}}\n"
    values = {"own_": numpy.int32([i // 50 for i in range(999)]), "len_": numpy.int32([r.randint(0, sizes["t"]) for _ in range(sizes["b"])])}
    return "\n".join(lines) + text, {n: values[n] for n in values if n[:-1] in given}, [f"--size={n.upper()}={sizes[n]}" for n in free if free[n]]


def latent(r):
    """Attention whose values are keys, or lie beside them, with results of up to 512 columns; keys in one piece, or on pages of any size. Returns the same as `chained`."""
    elem, n, rest = r.choice(["bf16", "f16"]), r.choice([64, 96, 128, 256, 384, 512, 512]), r.choice([0, 16, 64, 64])
    own = r.random() < 0.3  # values of their own, keys of few numbers
    heads = r.choice(["", "bi of b"])
    at, of = ("bi, ", "b, ") if heads else ("", "")
    s, t = r.choice([64, 128, size(r, 150), r.randint(1, 40)]), r.choice([size(r, 200), r.choice([0, 1, 63, 64, 65])])
    seen, score = r.choice([*SEEN]), r.choice(["x * 0.1", "4.0 * tanh(x * 0.1)", "x * 0.1 + near[j]", "x * 0.1 + slope[0] * f32(pos(j))"])
    begin, end = SEEN[seen]
    counted = heads and r.random() < 0.5
    begin, end = ("0", "min(t, len[bi])") if counted else (begin, end)
    k, u = rest or 64, r.choice([0, 0, 1, 3, 16, 48, 64]) if heads else 0  # u: places of a page
    t = -(-t // u) * u if u else t
    key = lambda x, column: f"{x}[page, pos(j) % u, {column}]" if u else f"{x}[{at}j, {column}]"
    first = f"q[{at}i, e] @ {key('k', 'e')}" + f" + q[{at}i, n + c] @ {key('k', 'n + c')}" * (rest > 0)
    x = f"{'page = table[bi, pos(j) / u];' * (u > 0)} x = {f'q[{at}i, c] @ ' + key('k', 'c') if own else first};\n      x = {score};" + f"\n      x = where({seen}, x, -inf);" * (seen != "")
    step = STEP.format(x=x, v=key("v" if own else "k", "e"))
    width, lse, free = k if own else n + rest, r.random() < 0.4, t == 0 or r.random() < 0.3
    free, places = free and not u, f"{2 * t // u + 1 if u else 0}, {u}, " if u else f"{of}t, "
    more = ({"v": f"T[{places}{n}]"} if own else {}) | ({"table": f"i32[b, {max(1, t // u)}]"} if u else {})
    shapes = {"q": f"T[{of}s, {width}]", "k": f"T[{places}{width}]", **more, **{x: y for x, y in {"near": "f32[t]", "slope": "f32[g]", "own": "i32[docs]"}.items() if x + "[" in score + seen}, **({"len": "i32[b]"} if counted else {})}
    unbound = [("u", str(u)), ("t", "T")][: 1 + ("near[" not in score)] if u else []
    more_const, more_given = "".join(f", const {x}: i64" for x, _ in unbound), "".join(f", {y}" for _, y in unbound)
    text = f"""dim B = 2, S = {s}, T {'<=' if free else '='} {max(1, t + 99 * free)};

kernel chain({', '.join(f'{x}: {y}' for x, y in shapes.items())}, const n: i64, const w: i64{more_const}) -> (o: T[{of}s, n]{f', z: f32[{of}s]' * lse}) {{
  each {heads + ', ' * (heads != '')}i: {r.choice(['', 'fixed '] if 'begin' not in begin and 'end' not in end else ['fixed '])}64 of s, e: * of n{f', c: * of {k}' * (own or rest > 0)} {{
    m: f32[i] = -3e38;
    l: f32[i] = 0;
    acc: f32[i, e] = 0;
    for j: fixed {r.choice([16, 32, 48, 64, 64])} in {begin} .. {end} {{
{step}    }}
    o[{at}i, e] = acc / max(l, 0.001);
{f'    z[{at}i] = m + log(l + 1.0);' * lse}
  }}
}}
"""
    outer = lambda y: re.sub(r"\b[bst]\b", lambda a: a[0].upper(), y.replace("T[", elem + "[").replace("[g]", "[3]").replace("[docs]", "[999]"))
    text += f"program p({', '.join(f'{x}_: {outer(y)}' for x, y in shapes.items())}) -> (O: {outer(f'T[{of}s, {n}]')}{', Z: ' + outer(f'f32[{of}s]') if lse else ''}) {{\n  O{', Z' * lse} = chain({', '.join(x + '_' for x in shapes)}, {n}, 40{more_given});\n}}\n"
    values = {"len_": numpy.int32([r.randint(0, max(t, 1)) for _ in range(2)])} if counted else {}
    if "own" in shapes:
        values["own_"] = numpy.int32([i // 50 for i in range(999)])
    if u:
        values["table_"] = numpy.int32([[r.randint(-1, 2 * t // u + 1) for _ in range(max(1, t // u))] for _ in range(2)])
    return text, values, [f"--size=T={t}"] * free


WEIGHTS = ["exp(x * 0.1 - u[{near}])", "x * 0.1", "tanh(x * 0.02) + u[{near}]", "exp(x * 0.1 - u[{near}]) * n[{far}]", "max(x, 0.0) * 0.1", "x * exp(n[{far}] - u[{near}])"]
CHANGES = ["w * (y - z[{near}])", "w * y * 0.1", "y * 0.1 - w", "w * (y - z[{near}]) + n[{far}]"]
SHOWN = {"": ("0", "t"), "pos(j) <= pos(i)": ("0", "min(t, end(i))"), "pos(j) >= pos(i)": ("begin(i)", "t"), "pos(j) + 5 >= pos(i)": ("0", "t")}


def gradients(r):
    """Steps that begin with two products and end with one sum or two, as attention's backward pass: rows are keys or queries, numbers of rows or of columns stand
    beside, and other loops may be around. Returns the same as `chained`."""
    sizes = {"b": r.randint(1, 2), "s": r.choice([size(r, 300), 32 + r.randint(0, 200)]), "t": r.choice([size(r, 400), r.choice([0, 1, 2, 63, 129, 256])])}
    d, elem, n = r.choice([64, 64, 80, 96, 128, 128]), r.choice(["bf16", "f16"]), r.choice([0, 0, 1, 2, 3])
    near, far = r.choice(["ji", "ij"])
    shown, two = r.choice([*SHOWN]), r.random() < 0.6
    of = lambda x: f"bi * {n} + r, {x}" if n else f"bi, {x}"
    at = lambda x: of("j") if x == "j" else "bi, i"
    w, g = (r.choice(x).format(near=at(near), far=at(far)) for x in (WEIGHTS, CHANGES))
    begin, end = SHOWN[shown]
    free = {x: sizes[x] > 0 and r.random() < 0.3 for x in "st"} | {"t": sizes["t"] == 0 or r.random() < 0.3}
    lines = [f"dim {x.upper()} {'<=' if free.get(x) else '='} {max(1, v + r.choice([0, 99]) * free.get(x, 0))};" for x, v in sizes.items()]
    front = r.random() < 0.3  # a product begins the sum, as of a state
    p = "l" if front else "c"
    many = lambda x: "m, t" if x == "j" else "b, s"
    shapes = {"a": "T[b, s, d]", "e": "T[b, s, d]", "k": "T[m, t, d]", "v": "T[m, t, d]", "u": f"f32[{many(near)}]", "z": f"f32[{many(near)}]", "n": f"f32[{many(far)}]"}
    shapes["h"] = "T[b, d, d]"
    given = ["a", "e", "k", "v"] + ["h"] * front + [x for x in "uzn" if re.search(rf"\b{x}\[", w + g)]
    mask = f"w = where({shown}, w, 0);" if shown else ""
    step = f"""x = a[bi, i, {p}] @ k[{of('j')}, {p}];
      w = {w};
      {mask}
      {('sv += T(w) @ v[' + of('j') + ', c];') * two}
      y = e[bi, i, {p}] @ v[{of('j')}, {p}];
      sk += T({g}) @ k[{of('j')}, c];"""
    loop = f"for j: {r.choice(['fixed ', ''])}{r.choice([48, 64, 64, 80, 96])} in {begin} .. {end} {{\n      {step}\n    }}"
    out = r.choice(["T", "T", "f32"])
    text = f"""
kernel gradients({', '.join(f'{x}: {shapes[x]}' for x in given)}) -> (o: {out}[b, s, d]{', q: T[b, s, d]' * two}) {{
  each bi of b, i: fixed {r.choice([64, 128, 128])} of s, c: * of d{', l: * of d' * front} {{
    sk: f32[i, c] = {'(a[bi, i, l] @ h[bi, c, l]) * 0.5' if front else '0'};
    {'sv: f32[i, c] = 0;' * two}
    {f'for r of {n} {{ {loop} }}' if n else loop}
    o[bi, i, c] = sk * 0.5;
    {'q[bi, i, c] = sv;' * two}
  }}
}}
"""
    fill = {"T[": f"{elem}[", "m,": f"{sizes['b'] * max(1, n)},", "b,": "B,", "s,": "S,", "t,": "T,", "s]": "S]", "t]": "T]", "d,": f"{d},", "d]": f"{d}]"}
    def outer(shape):
        for x, y in fill.items():
            shape = re.sub(rf"(?<![a-zA-Z0-9]){re.escape(x)}", y, shape)
        return shape
    text += f"""program p({', '.join(f'{x}_: {outer(shapes[x])}' for x in given)}) -> (O: {outer(f'{out}[b, s, d]')}{f", Q: {outer('T[b, s, d]')}" * two}) {{
  O{', Q' * two} = gradients({', '.join(x + '_' for x in given)});
}}
"""
    return "\n".join(lines) + text, {}, [f"--size={x.upper()}={sizes[x]}" for x in "st" if free[x]]
