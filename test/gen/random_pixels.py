"""Convolutions of images with channels last as users write them: one range of pixels, channels and places of the weights in one loop or in three."""


def filtered(r):
    """The program, and its name. Some are refused: wide borders, long reaches, channels that are no whole steps."""
    nested, narrow = r.random() < 0.4, r.random() < 0.1
    elem, depth = (r.choice(["f8e4m3", "f8e5m2"]), 128) if narrow else (r.choice(["bf16", "f16"]), 64)
    c = r.choice([16 * r.randint(1, 12), depth, 2 * depth]) if nested else depth * r.choice([1, 1, 2, 3])
    kh, kw, step, hole, pad = r.choice([1, 2, 3, 3, 5]), r.choice([1, 2, 3, 3, 4]), r.choice([1, 1, 2, 3]), r.choice([1, 1, 2, 3]), r.randint(0, 4)
    oh, ow = r.randint(1, 12), r.randint(1, 20)
    h, w = (max(1, step * (x - 1) + hole * (y - 1) + 1 - 2 * pad + r.randint(0, step - 1)) for x, y in ((oh, kh), (ow, kw)))
    oh, ow = ((x + 2 * pad - hole * (y - 1) - 1) // step + 1 for x, y in ((h, kh), (w, kw)))
    o, images = r.choice([64, 8 * r.randint(9, 40)]), max(1, r.randint(3000, 9000) // (oh * ow))
    given = r.random() < 0.5 # images that a run gives
    at = f"i / {oh * ow}, {step} * (i / {ow} % {oh}) + {hole} * {{a}} - {pad}, {step} * (i % {ow}) + {hole} * {{b}} - {pad}"
    if nested:
        across = r.random() < 0.4 and not narrow
        weights = f"[{kh * kw}, {'c, o' if across else 'o, c'}]"
        loop = f"for a of {kh} {{ for b of {kw} {{ for p: {depth} of c {{ acc += x[{at.format(a='a', b='b')}, p] @ k[{kw} * a + b, {'p, j' if across else 'j, p'}]; }} }} }}"
    else:
        weights = f"[o, {kh * kw * c}]"
        loop = f"for p: {depth} of {kh * kw * c} {{ acc += x[{at.format(a=f'(p / {kw * c})', b=f'(p / {c} % {kw})')}, p % {c}] @ k[j, p]; }}"
    value = r.choice(["acc + l[i]", "max(acc + s[j], l[i])", "acc * l[i]"])
    out, more = "f32" if narrow else elem, ", s: f32[o]" * ("s[" in value)
    rows = "M" if given else images * oh * ow
    text = f"""dim O = {o};
{f'dim M <= 16384, N <= 9999;' if given else ''}
kernel filters(x: T[n, h, w, c], k: T{weights}, l: f32[m]{more}) -> (y: {out}[m, o]) {{
  each i: {r.choice([64, 128, 256])} of m, j: {r.choice([64, 128, 256])} of o {{
    acc: f32[i, j] = 0;
    {loop}
    y[i, j] = {out}({value});
  }}
}}
program p(X: {elem}[{'N' if given else images}, {h}, {w}, {c}], K: {elem}{weights.replace('o', 'O').replace('c', str(c))}, L: f32[{rows}]{', S: f32[O]' if more else ''}) -> (Y: {out}[{rows}, O]) {{
  Y = filters(X, K, L{', S' if more else ''});
}}
"""
    return text, [f"M={images * oh * ow - r.choice([0, 0, 1, 5])},{r.randint(0, images * oh * ow)}", f"N={images},{r.choice([0, 1, images])}"] if given else []


def wide(r):
    """Sizes of tiles, which the pass keeps; pairs share pixels or weights."""
    sizes = f"i = {r.choice([64, 128, 128, 192])}; j = {16 * r.randint(4, 12)}; " if r.random() < 0.6 else ""
    return f"kernel filters on sm_90a {{ {sizes}clusters = {r.randint(1, 2)}; }}\n"
