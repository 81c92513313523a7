"""Random products one of whose operands is made on the way, of elements in few bits: the loops of such a kernel, and whole programs."""


def eights(r, most):
    return 8 * r.randint(1, most // 8)


# of a tile q, and numbers of its rows and of blocks
MADE = ["{q}", "f32({q})", "(f32({q}) - 3.0) * u2[j]", "f32({q}) * sq[j, p / 128]", "i32({q}) * 2 - 1", "f32({q}) * f32({v})"]


def made(r, load, left):
    """Loops with such an operand, and what it is made of."""
    value = r.choice(MADE).format(q=load("q", "jp"), v=load("q", "jp", "j") if r.random() < 0.3 else load("o", "jp"))
    names = [x for x in ("q", "o", "u2", "sq") if f"{x}[" in value]
    if r.random() < 0.3:
        return "groups", f"for h of (k + 127) / 128 {{ own: f32[i, j] = 0; for p: auto in 128 * h .. min(k, 128 * (h + 1)) {{ own += {load('a', 'ip')} @ {left}({value}); }} acc += own * sq[j, h]; }}", [*dict.fromkeys([*names, "sq"])]
    return "made", f"for p: auto of k {{ acc += {load('a', 'ip')} @ {left}({value}); }}", names


# what groups of 128 places have in common, and how a sum is finished
SUMS = ["acc * f32(u2[j])", "acc", "acc + f32(d[i, j])"]


def widened(r):
    """The text, and sizes of the run: few rows or some, by columns that leave tiles for many processors."""
    left, few = r.choice(["bf16", "f16"]), r.choice(["i8", "u8", "i4", "i4", "t2", "f8e4m3"])
    at = {"M": r.choice([r.randint(1, 70), r.randint(1, 16), r.randint(1, 300)]), "N": 1024 + r.randint(1, 200), "K": r.choice([64 * r.randint(1, 20), *[128 * r.randint(1, 12)] * 5, 16 * r.randint(1, 60)])}
    load = lambda name, dims, i="i": f"{name}[{', '.join(i if d == 'i' else d for d in ('jp' if name in 'qo' else dims))}]"
    kind, body, names = made(r, load, left)
    free = {"M": r.random() < 0.5, "N": r.random() < 0.2, "K": kind == "made" and r.random() < 0.1}
    value = r.choice(SUMS)
    shapes = {"a": "m, k", "q": "n, k", "o": "n, k", "u2": "n", "sq": "n, f", "d": "m, n", "c": "m, n"}
    types = {"a": left, "q": few, "o": few, "u2": "f32", "sq": r.choice(["f32", left]), "d": left, "c": r.choice(["bf16", "f16", "f32", "f8e4m3"])}
    given = [*dict.fromkeys(["a", *names, *(n for n in ("u2", "d") if f"{n}[" in value)])]
    inner = lambda n: f"{types[n]}[{shapes[n]}]"
    outer = lambda n: f"{types[n]}[{shapes[n].upper()}]"
    lines = [f"dim {d} {'<=' if free[d] else '='} {n + r.choice([0, 500]) * free[d]};" for d, n in at.items()] + [f"dim F = {(at['K'] + 500) // 128 + 1};"]
    text = "\n".join(lines) + f"""
kernel products({', '.join(f'{n}: {inner(n)}' for n in given)}) -> (c: {inner('c')}) {{
  each i: auto of m, j: auto of n {{
    acc: f32[i, j] = 0;
    {body}
    c[i, j] = {types['c']}({value});
  }}
}}
program p({', '.join(f'{n}_: {outer(n)}' for n in given)}) -> (C: {outer('c')}) {{
  C = products({', '.join(f'{n}_' for n in given)});
}}
"""
    return text, {}, [f"--size={d}={n}" for d, n in at.items() if free[d]]


def steps(r):
    """Sizes of tiles of few rows, of steps, and slices of them, for a file of sizes."""
    i, j, p = 8 * r.randint(1, 12), r.choice([64, 64, 128, 192]), r.choice([64, 128, 256])
    sizes = f"i = {i}; j = {j}; p = {p}; " if r.random() < 0.6 else ""
    slices = f"slices = {r.choice([2, 3, 4, 8])}; " if r.random() < 0.5 else ""
    return f"kernel products on sm_90a {{ {sizes}{slices}}}\n"
