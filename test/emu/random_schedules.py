#!/usr/bin/env python3
"""usage: random_schedules.py TILEC FOLDER TARGET [--programs=N] [--first=SEED] [--kinds=KIND,..]: random products, attention and
decoding of tokens, one kind behind the other, at random sizes, which the machine's schedules or roles take, in the emulator of TARGET against the
interpreter; kinds: product, sized, made, gathered, pixels, ragged, ranks, attention, chained, gradients, latent, decode. Prints what differs or fails, how many took a schedule, and which."""
import os
import random
import re
import subprocess
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "gen"))
from random_chains import chained, gradients, latent
from random_made import steps, widened
from random_pixels import filtered, wide

PASSED = re.compile(r"pipe: '\w+': the schedule '(\w+)'|'\w+': (roles), ")


def size(r, most):
    """Those around multiples of tiles, and any."""
    return r.choice([r.choice([64, 128, 192, 256, 384]) + r.randint(-2, 2), r.randint(1, most)])


def eights(r, most):
    """Mostly what copies by tiles want."""
    return 8 * r.randint(1, most // 8) if r.random() < 0.9 else size(r, most)


def result_of(r, name, m, n):
    """What follows a product `name`, and the parameters that it takes."""
    return r.choice([
        (name, ""),
        (f"silu({name})", ""),
        (f"{name} + r", f", r: bf16[{m}, {n}]"),
        (f"silu({name} * s) * r", f", r: bf16[{m}, {n}], s: f32"),
        (f"{name} * s", ", s: f32"),
    ])


def product(r):
    m, n, k = size(r, 500), eights(r, 900), eights(r, 900)
    elem, out = r.choice(["bf16", "f16"]), r.choice(["bf16", "f16", "f32"])
    if r.random() < 0.2:
        elem, k = r.choice(["f8e4m3", "f8e5m2"]), 16 * (k // 16 + 1)
    if r.random() < 0.3:
        m, k = r.randint(1, 70), eights(r, 4000)
    along = elem.startswith("f8") or r.random() < 0.5
    call, b = ("linear", f"[{n}, {k}]") if along else ("matmul", f"[{k}, {n}]")
    parameters, x = f"A: {elem}[{m}, {k}], B: {elem}{b}", "A"
    if not elem.startswith("f8") and r.random() < 0.4:  # a launch before: then B may be copied before that has ended
        parameters, x = f"A: {elem}[{m}, {k}], G: {elem}[{k}], B: {elem}{b}", "rmsnorm(A, G)"
    body = f"  C = {call}({x}, B);\n"
    if r.random() < 0.3:
        parameters += f", E: {elem}{b}"
        body = f"  C = silu({call}({x}, B)) * {call}({x}, E);\n"
    elif r.random() < 0.6:
        value, more = result_of(r, "c", m, n)
        parameters += more
        body = f"  c: f32[{m}, {n}] = {call}({x}, B);\n  C = {value};\n"
    return f"program p({parameters}) -> (C: {out}[{m}, {n}]) {{\n{body}}}\n", {}, []


EPILOGUES = ["acc", "acc * 0.5", "acc + f32(r[{x}i, j])", "acc * f32(r[{x}i, j]) - f32(d[{x}i - 1, j + 3])", "max(acc, 0.0) * f32(s[j])", "silu(acc + f32(s[j])) * f32(t[i])",
             "silu(f32({h}(acc))) + f32(r[{x}i, j])", "f32({h}(acc * 0.5)) * f32(r[{x}i, j]) + f32({h}(acc))"]


ELEMENTS = [("bf16", "bf16", "f32"), ("f16", "f16", "f32"), ("f8e4m3", "f8e4m3", "f32"), ("f8e4m3", "f8e5m2", "f32"), ("f8e5m2", "f8e4m3", "f32"),
            ("f8e5m2", "f8e5m2", "f32"), ("i8", "u8", "i32"), ("i8", "i8", "i32")]


def sized(r):
    """Products of one or many matrices, any of whose sizes may be known when they run, and what is made of them."""
    b = r.choice([0, 0, r.randint(1, 5)])
    left, right, sums = r.choice(ELEMENTS)
    narrow, scaled = "8" in left, sums == "f32" and r.random() < 0.3
    at = {"M": size(r, 400), "N": eights(r, 600), "K": r.choice([eights(r, 600), size(r, 300), r.choice([1, 8, 63, 64, 65, 128, 256])])}
    at["K"] *= r.choice([1, 3]) if narrow else 1 # runs of several steps
    free = {n: r.random() < 0.6 for n in at}
    lines = [f"dim {n} {'<=' if free[n] else '='} {size + r.choice([0, 0, 200, 8000]) * free[n]};" for n, size in at.items()]
    a, w, x = r.choice(["m, k", "m, k" if narrow else "k, m"]), r.choice(["n, k", "n, k" if narrow else "k, n"]), "x, " if b else ""
    load = lambda name, of: f"{name}[{x}{', '.join('ijp'['mnk'.index(c)] for c in of.split(', '))}]"
    elem, out, value = "bf16" if narrow else left, r.choice(["bf16", "f16", "f32", "f8e4m3"]), r.choice(EPILOGUES).format(x=x, h="bf16" if narrow else left)
    value = value.replace("acc", "f32(acc)")
    pair, half = r.random() < 0.25, "bf16" if narrow else left # two results
    other = r.choice([f"{half}(acc)", f"{half}(f32({half}(acc)) * 0.25)", f"{half}(silu(f32({half}(acc))))"])
    again = not scaled and r.random() < 0.2 # two products, one sum
    step = f"acc += {load('a', a)} @ {load('w', w)};" + f" acc {r.choice(['+=', '-='])} {load('y', a)} @ {load('z', w)};" * again
    if scaled:
        step = f"acc += ({load('a', a)} @ {load('w', w)}) * (u[i, begin(p) / 128] * v[{r.choice(['j / 128', 'j / 64', 'j'])}, begin(p) / 128]);"
        lines += [f"dim H = {at['K'] // 128 + 1};"]
    shape = {"a": (bool(b), a), "w": (bool(b), w), "r": (bool(b), "m, n"), "d": (bool(b), "m, n"), "s": (False, "n"), "t": (False, "m"), "c": (bool(b), "m, n"), "e": (False, "b")}
    shape |= {"u": (False, "m, h"), "v": (False, "n, h"), "y": shape["a"], "z": shape["w"]}
    types = {"c": out, "e": "i32", "u": "f32", "v": "f32"}
    inner = lambda n: f"{types.get(n, elem)}[{'b, ' * shape[n][0]}{shape[n][1]}]"
    outer = lambda n: f"{types.get(n, elem)}[{f'{b}, ' * shape[n][0]}{shape[n][1].upper()}]".replace("B", str(b))
    counted = b and r.random() < 0.3 # tasks of several lengths, by a counter
    loop = f"in 0 .. {r.choice(['64 * (e[x] % 7)', 'e[x] % 400'])}" if counted else "of k"
    front = not b and r.random() < 0.5 # a launch before: then w may be copied before that has ended
    shape["o"], types["o"] = shape["c"], half
    shape["g"] = (False, a.split(", ")[1])
    given = ["a", "w"] + ["y", "z"] * again + ["u", "v"] * scaled + [n for n in "rdst" if f"{n}[" in value] + ["e"] * counted
    depth = f"fixed {128 if narrow else 64}" if scaled else "64"
    text = "\n".join(lines) + f"""
kernel products({', '.join(f'{n}: {inner(n)}' for n in given)}) -> (c: {inner('c')}{f", o: {inner('o')}" * pair}) {{
  each {'x of b, ' if b else ''}i: 128 of m, j: 256 of n {{
    acc: f32[i, j] = 0;
    for p: {depth} {loop} {{ {step} }}
    c[{x}i, j] = {out}({value});
{f"    o[{x}i, j] = {other};" * pair}
  }}
}}
program p({', '.join(f'{n}_: {outer(n)}' for n in given + ['g'] * front)}) -> (C: {outer('c')}{f", O: {outer('o')}" * pair}) {{
  C{', O' * pair} = products({', '.join('rmsnorm(a_, g_)' if front and n == 'a' else f'{n}_' for n in given)});
}}
"""
    return text, {}, [f"--size={n}={at[n]}" for n in at if free[n]]


def gathered(r):
    """Products whose operands' rows lie anywhere: as a tensor says, which may name rows outside, or by arithmetic."""
    m, n, k, t = size(r, 500), eights(r, 600), r.choice([eights(r, 500), 2 * r.randint(1, 200)]), r.randint(1, 200)
    row, spread = r.choice(["at[i]", "at[i]", "at[i] / 2 + 1", "i / 3", "2 * i + 1", "i"]), r.random() < 0.3
    at = {"AT": numpy.int32([r.randint(-2, t + 1) for _ in range(m)]), "BT": numpy.int32([r.randint(-2, k + 1) for _ in range(k)])}
    elem, out = r.choice(["bf16", "f16"]), r.choice(["bf16", "f16", "f32"])
    value = r.choice(["acc", "acc * 0.5", "acc + f32(at[i])", "acc * f32(d[i, j])"])
    two = r.random() < 0.4 # of one operand
    gate = f" g += v @ u[{'bt[p]' if spread else 'p'}, j];" if two else ""
    text = f"""dim M <= {m + r.choice([0, 3000])};
kernel products(x: {elem}[t, k], w: {elem}[k, n], u: {elem}[k, n], at: i32[m], bt: i32[k], d: {elem}[m, n]) -> (c: {out}[m, n]) {{
  each i: 128 of m, j: 256 of n {{
    acc: f32[i, j] = 0;
    {'g: f32[i, j] = 0;' if two else ''}
    for p: 64 of k {{ v = x[{row}, p]; acc += v @ w[{'bt[p]' if spread else 'p'}, j];{gate} }}
    {'acc = acc * tanh(g);' if two else ''}
    c[i, j] = {out}({value});
  }}
}}
program p(X: {elem}[{t}, {k}], W: {elem}[{k}, {n}], U: {elem}[{k}, {n}], AT: i32[M], BT: i32[{k}], D: {elem}[M, {n}]) -> (C: {out}[M, {n}]) {{
  C = products(X, W, U, AT, BT, D);
}}
"""
    return text, at, [f"--size=M={m}"]


def ragged(r):
    """Products by group: rows of groups of any length, none among them, lie one behind the other; they may be gathered, too."""
    e, n, k, t = r.randint(1, 40), eights(r, 500), r.choice([eights(r, 400), eights(r, 400), r.randint(1, 200)]), r.randint(1, 200)
    ends = sorted(r.choice([0, r.randint(0, 600)]) for _ in range(e))
    m, along, gathers = ends[-1], r.random() < 0.5, r.random() < 0.4
    elem, out = r.choice(["bf16", "f16"]), r.choice(["bf16", "f16", "f32"])
    load, w = "x[at[i], p]" if gathers else "x[i, p]", "w[g, j, p]" if along else "w[g, p, j]"
    value, two = r.choice(["acc", "silu(acc) * f32(s[i])", "acc + f32(b[g, j])", "acc * f32(d[i, j])"]), r.random() < 0.3
    given = {"START": numpy.int32([0] + ends), "AT": numpy.int32([r.randint(-1, t) for _ in range(m)])}
    rows = f"{t}" if gathers else "M"
    text = f"""dim M <= {max(m, 1) + r.choice([0, 3000])};
kernel products(x: {elem}[{'t' if gathers else 'm'}, k], at: i32[m], w: {elem}[e, {'n, k' if along else 'k, n'}], u: {elem}[e, {'n, k' if along else 'k, n'}],
    s: {elem}[m], b: {elem}[e, n], d: {elem}[m, n], ascending start: i32[e + 1]) -> (c: {out}[m, n]) {{
  each g of e, i: 128 of m in start[g] .. start[g + 1], j: 256 of n {{
    acc: f32[i, j] = 0;
    {'gate: f32[i, j] = 0;' if two else ''}
    for p: 64 of k {{ v = {load}; acc += v @ {w};{f" gate += v @ u{w[1:]};" if two else ''} }}
    {'acc = acc * tanh(gate);' if two else ''}
    c[i, j] = {out}({value});
  }}
}}
program p(X: {elem}[{rows}, {k}], AT: i32[M], W: {elem}[{e}, {f'{n}, {k}' if along else f'{k}, {n}'}], U: {elem}[{e}, {f'{n}, {k}' if along else f'{k}, {n}'}],
    S: {elem}[M], B: {elem}[{e}, {n}], D: {elem}[M, {n}], START: i32[{e + 1}]) -> (C: {out}[M, {n}]) {{
  C = products(X, AT, W, U, S, B, D, START);
}}
"""
    return text, given, [f"--size=M={m}"]


def ranks(r):
    """Products on several ranks: of what is gathered, or summed over ranks, and scattered or not, or both; blocks of rows that tiles divide or not."""
    n, elem = r.choice([2, 2, 3, 4]), r.choice(["bf16", "f16"])
    m = n * r.choice([64 * r.randint(1, 4), 128 * r.randint(1, 2), r.randint(1, 200)])
    k, cols = n * r.choice([8 * r.randint(1, 20), 64 * r.randint(1, 3)]), n * 8 * r.randint(1, 30)
    gathered = f"program p(A: {elem}[{m} @ tp, {k}], B: {elem}[{k}, {cols} @ tp]) -> (C: {elem}[{m}, {cols} @ tp]) {{\n  C = products(all_gather(A), B);\n}}\n"
    scattered = f"program p(A: {elem}[{m}, {k} @ tp], B: {elem}[{k} @ tp, {cols}]) -> (C: {elem}[{m} @ tp, {cols}]) {{\n  C = reduce_scatter(products(A, B), 0);\n}}\n"
    both = f"""program p(A: {elem}[{m} @ tp, {k}], B: {elem}[{k}, {cols} @ tp], D: {elem}[{cols} @ tp, {k}]) -> (C: {elem}[{m} @ tp, {k}]) {{
  C = reduce_scatter(products(products(all_gather(A), B), D), 0);
}}
"""
    reduced = f"program p(A: {elem}[{m}, {k} @ tp], B: {elem}[{k} @ tp, {cols}]) -> (C: {elem}[{m}, {cols}]) {{\n  C = all_reduce(products(A, B));\n}}\n"
    text = f"""mesh tp = {n};
kernel products(a: {elem}[m, k], b: {elem}[k, n]) -> (c: {elem}[m, n]) {{
  each i: {r.choice([64, 128])} of m, j: {r.choice([64, 128, 256])} of n {{
    acc: f32[i, j] = 0;
    for p: 64 of k {{ acc += a[i, p] @ b[p, j]; }}
    c[i, j] = {r.choice(["acc", "acc * 0.5"])};
  }}
}}
{r.choice([gathered, scattered, both, reduced])}"""
    return text, {}, ["--comm=push"]


def attention(r):
    b, g, share, d, s = r.randint(1, 2), r.randint(1, 2), r.randint(1, 3), r.choice([64, 80, 96, 128, 192, 256]), size(r, 700)
    t = s if r.random() < 0.6 else size(r, 700)
    elem = r.choice(["bf16", "f16"])
    call = "attention(Q, K, V, 0.1, false)" if t != s else r.choice(["attention(Q, K, V, 0.1, true)", f"attention_window(Q, K, V, 0.1, {r.randint(1, 300)})"])
    of = f"{elem}[{b}, {g}, {t}, {d}]"
    q = f"{elem}[{b}, {g * share}, {s}, {d}]"
    return f"program p(Q: {q}, K: {of}, V: {of}) -> (C: {q}) {{\n  C = {call};\n}}\n", {}, []


def decode(r):
    b, g, share, d, s = r.randint(1, 3), r.randint(1, 4), r.choice([1, 2, 4, 8]), r.choice([64, 128]), r.randint(1, 1500)
    elem = r.choice(["bf16", "f16"])
    of, q = f"{elem}[{b}, {s}, {g}, {d}]", f"{elem}[{b}, {g * share}, {d}]"
    at = numpy.int32([r.randint(0, s - 1) for _ in range(b)])
    return f"program p(Q: {q}, K: {of}, V: {of}, at: i32[{b}]) -> (C: {q}) {{\n  C = decode_attention(Q, K, V, at);\n}}\n", {"at": at}, []


def tiles(r, text):
    """Sizes of tiles that no model would choose for so few rows: widths between powers of two, few rows."""
    wide, few, across = (r.choice([64, 128]), 16 * r.randint(4, 16)), (8 * r.randint(1, 16), r.choice([64, 128])), (16 * r.randint(1, 16), r.choice([64, 128, 192]))
    i, j = r.choice([wide, few, across])
    sizes = f"i = {i}; j = {j}; " if r.random() < 0.6 else ""
    slices = f"slices = {r.choice([2, 2, 3, 4, 8])}; " if r.random() < 0.4 else ""
    slices += f"columns = {8 * r.choice([r.randint(1, 16), 2 * r.randint(4, 16)])}; " if r.random() < 0.1 else ""
    resident = f"resident = {r.choice([1, 2, 2, 3])}; " if r.random() < 0.3 else ""
    deep = "p = 128; " if r.random() < 0.3 and "for p: fixed" not in text else ""
    return f"kernel products on sm_90a {{ {sizes}{deep}{slices}{resident}clusters = {r.choice((1, 1, 2, 2, 4, 8))}; }}\n"


def pixels(r):
    text, sizes = filtered(r)
    return text, {}, [f"--size={x[:2]}{r.choice(x[2:].split(','))}" for x in sizes]


KINDS = {"pixels": pixels, "made": widened, "product": product, "sized": sized, "gathered": gathered, "ragged": ragged, "ranks": ranks, "attention": attention, "chained": chained, "gradients": gradients, "latent": latent, "decode": decode}


def run(tilec, folder, target, seed, kinds):
    """What the schedules were, and what went wrong."""
    r = random.Random(seed)
    kind = kinds[seed % len(kinds)]
    text, given, inputs = KINDS[kind](r)
    file = f"{folder}/{seed}.tile"
    with open(file, "w", encoding="utf-8") as to:
        to.write('import "std/decode.tile";\nimport "std/rows.tile";\n' + text)
    for name, value in given.items():
        numpy.save(f"{folder}/{seed}_{name}.npy", value)
        inputs.append(f"--in={name}={folder}/{seed}_{name}.npy")
    inputs.append(f"--tuned={folder}/{seed}.sizes")
    with open(inputs[-1].split("=")[1], "w", encoding="utf-8") as to:
        to.write(steps(r) if kind == "made" else tiles(r, text) if "kernel products" in text else wide(r) if "kernel filters" in text else "")
    asked = [i for i in inputs if i.startswith("--tuned") or i.startswith("--comm")]
    told = subprocess.run([tilec, "explain", f"--target={target}", file, *asked], capture_output=True, text=True, check=False).stdout
    command = [tilec, "run", f"--target=emu:{target}", file, "--check", *inputs]
    done = subprocess.run(["env", f"TILE_EMU_SEED={seed}", *command], capture_output=True, text=True, check=False)
    wrong = "" if done.returncode == 0 and "agrees" in done.stdout else f"{text}{done.stdout}{done.stderr}"
    return {a or b for a, b in PASSED.findall(told)}, wrong


def main():
    tilec, folder, target = sys.argv[1:4]
    options = dict(a[2:].split("=") for a in sys.argv[4:])
    first, n = int(options.get("first", 1)), int(options.get("programs", 20))
    kinds = options.get("kinds", "product,product,product,sized,sized,gathered,ragged,attention,chained,gradients,decode").split(",")
    wrong, took, names = 0, 0, set()
    for seed in range(first, first + n):
        schedules, message = run(tilec, folder, target, seed, kinds)
        names |= schedules
        took += bool(schedules)
        if message:
            wrong += 1
            print(f"seed {seed}: {message}", flush=True)
    print(f"{n} programs, {wrong} wrong, {took} by schedules: {', '.join(sorted(names))}")


main()
