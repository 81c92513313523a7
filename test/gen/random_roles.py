"""usage: random_roles.py TILEC ROLES_RUN FOLDER [--programs=N] [--first=SEED] [--schedules=N]: random products, attention and its gradients (random_chains.py), convolutions
(random_pixels.py), and operands that are made on the way (random_made.py) that the pass `roles` may take, by their bodies and by their roles in the interpreter. Prints what differs or fails, and how many the pass took."""
import random
import re
import subprocess
import sys

from random_chains import chained, gradients, latent
from random_made import made
from random_pixels import filtered, wide

PASSES = "comm,predicate,static_block,stream_order,roles"
EPILOGUES = ["acc", "acc * 0.5", "acc + f32(r[{z}i, j])", "acc * f32(r[{z}i, j]) - f32(d[{z}i - 1, j + 3])", "max(acc, 0.0) * s[j]", "tanh(acc + s[j]) * t[i]",
             "where(pos(i) >= pos(j), acc, 0) + t[i]"]

# behind the first rounding: finished a task later
LATE = ["tanh(f32({h}(acc)))", "f32({h}(acc * 0.5)) * 0.5 + f32(r[{z}i, j])", "f32({h}(acc)) * f32({h}(max(acc, 0.0))) - f32(r[{z}i, j])"]


def extent(r, most):
    """Around multiples of tiles, or any."""
    return r.choice([r.choice([64, 128, 256]) + r.choice([-8, 0, 8]), 8 * r.randint(1, most // 8)])


SCALES = ["({0}) * ({1} * {2})", "({0}) * {1} * {2}", "{2} * ({0})", "abs({0}) * {1}", "({0}) * {1} + {2}"]


def steps_of(r, load, batched, depth, whole):
    """The loops that make `acc` of tiles, what they are called, and the operands that they take beside a and w; whole: acc is an integer."""
    dot = f"{load('a', 'ip')} @ {load('w', 'pj')}"
    step = f"for p: {depth} of k {{ acc += {dot}; }}"
    taps = ("taps", f"for h of 3 {{ for p: {depth} of k {{ acc += {load('a', 'ip', 'i + h - 1')} @ {load('w', 'pj')}; }} }}", "")
    block, at = f"begin(p) / {r.choice([32, 128, 256])}", r.choice(["i", "i", "h[i]", "h[i] % 50 + i"])
    tile = r.choice([depth, depth, depth, depth // 2, 2 * depth])
    scaled = r.choice(SCALES).format(dot, f"sa[i, {block}]", f"sb[{r.choice(['j / 128', 'j / 64', 'j / 48', 'j'])}, {block}]")
    if batched and not whole and r.random() < 0.3:
        return "counted", f"for p: {depth} in 0 .. {r.choice([f'{depth} * (e[z] % 5)', 'e[z] % 300'])} {{ acc += {dot}; }}", "e"
    if whole:
        return r.choice([("plain", step, ""), taps])
    return r.choice([
        ("plain", step, ""),
        ("promoted", f"for p: fixed {depth} of k {{ acc = acc * 0.5 + ({dot}) * u[i]; }}", "u"),
        ("blocks", f"for p: fixed {tile} of k {{ acc += {scaled}; }}", [x for x in ("sa", "sb") if f"{x}[" in scaled]),
        ("gated", f"""g: f32[i, j] = 0;
    for p: {depth} of k {{
      acc += {load('a', 'ip', at)} @ {load('w', 'pj')};
      g += {load('a', 'ip', at)} @ {load('v', 'pj')};
    }}
    acc = acc * tanh(g);""", "vh" if "h[" in at else "v"),
        ("chained", f"""{step}
    acc = acc * 0.5;
    for q: {depth} of l {{ acc += {load('x', 'iq')} @ {load('y', 'qj')}; }}""", "xy"),
        ("nested", f"for h of 3 {{ own: f32[i, j] = 0; for p: {depth} of k {{ own += {load('a', 'ip', 'i + h')} @ {load('w', 'pj')}; }} acc += own * u[i]; }}", "u"),
        ("gathered", f"for p: {depth} of k {{ acc += {load('a', 'ip', r.choice(['h[i]', 'h[i] % 50 + i', 'i / 3', '2 * i + 1']))} @ {load('w', 'pj')}; }}", "h"),
        taps,
    ])


def elements(r):
    """Types of a and of its partners."""
    return r.choice([("bf16", "bf16"), ("f16", "f16"), (r.choice(["f8e4m3", "f8e5m2"]), r.choice(["f8e4m3", "f8e5m2"])),
                     (r.choice(["i8", "u8"]), r.choice(["i8", "u8"]))])


def program(r):
    """The text, and sizes of the run. Most rows are bounded by many; few have plans of their own (passes/plan/tile_few.c)."""
    b = r.choice([0, 0, r.randint(1, 3)])
    m, n, k, l = extent(r, 400), extent(r, 600), extent(r, 300), extent(r, 200)
    few = r.choice([0, 0, 0, 32, 64])
    m = r.randint(1, few) if few else m
    (left, right), out = elements(r), r.choice(["bf16", "f16", "f32"])
    narrow, whole = left[1:2] == "8", left[:1] in "iu"
    if r.random() < 0.15: # bytes, in rows of any length
        out, n = "i8" if whole else "f8e4m3", n + r.choice([0, 1, 2, 7])
    k *= r.choice([1, 4]) # runs of several steps
    k, l = (16 * (k // 16 + 1), 16 * (l // 16 + 1)) if narrow else (k, l)
    across = {name: not narrow and r.random() < 0.3 for name in "awvxy"} | {"q": False, "o": False}
    z = "z, " if b else ""
    turned = lambda name, dims: dims[::-1] if across[name] or (narrow and name in "wvy") else dims
    load = lambda name, dims, i="i": f"{name}[{z}{', '.join(i if d == 'i' else d for d in turned(name, dims))}]"
    _, body, more = steps_of(r, load, b, 128 if narrow else 64, whole)
    makes = not narrow and r.random() < 0.2
    if makes:
        k = 64 * (k // 64 + 1) if r.random() < 0.8 else k
        _, body, more = made(r, load, left)
    late = not whole and not makes and out[1:2] != "8" and r.random() < 0.25
    if late:
        body, more, out = f"for p: {128 if narrow else 64} of k {{ acc += {load('a', 'ip')} @ {load('w', 'pj')}; }}", "", r.choice(["bf16", "f16"])
        n, k = r.choice([n, 64 * (n // 64 + 1)]), k * r.choice([1, 3])
    value = r.choice(LATE if late else EPILOGUES).format(z=z, h="bf16" if narrow else left)
    value = value.replace("acc", "f32(acc)") if whole else value
    dims = {"a": "mk", "w": "kn", "v": "kn", "x": "ml", "y": "ln", "q": "nk", "o": "nk"}
    shapes = {name: ("b" if b else "") + turned(name, d) for name, d in dims.items()}
    shapes |= {"r": ("b" if b else "") + "mn", "d": ("b" if b else "") + "mn", "s": "n", "t": "m", "u": "m", "e": "b", "h": "m", "c": ("b" if b else "") + "mn", "sa": "mf", "sb": "hf", "u2": "n", "sq": "nf"}
    types = dict.fromkeys(("s", "t", "u", "sa", "sb", "u2", "sq"), "f32") | dict.fromkeys("qo", r.choice(["i8", "i8", "u8", "i4", "t2", left])) | dict.fromkeys("ax", left) | dict.fromkeys("wvy", right)
    types |= {"e": "i32", "h": "i32", "c": out} | dict.fromkeys("rd", "bf16" if narrow else left)
    given = ["a", *(["w"] if not makes else []), *more] + [name for name in "rdst" if f"{name}[" in value]
    inner = lambda name: f"{types[name]}[{', '.join(shapes[name])}]"
    outer = lambda name: f"{types[name]}[{', '.join(d.upper() for d in shapes[name])}]"
    sizes = {"B": b, "M": m, "N": n, "K": k, "L": l, "F": (k + 127) // 128, "H": r.choice([n, (n + 47) // 48])}
    text = "".join(f"dim {d} {f'<= {few or (65536 if late else 8192)}' if d == 'M' else f'= {size}'};\n" for d, size in sizes.items() if size)
    text += f"""
kernel products({', '.join(f'{x}: {inner(x)}' for x in given)}) -> (c: {inner('c')}) {{
  each {'z of b, ' if b else ''}i: {r.choice([64, 128, 256])} of m, j: {r.choice([64, 128, 256])} of n {{
    acc: {"i32" if whole else "f32"}[i, j] = 0;
    {body}
    c[{z}i, j] = {out}({value});
  }}
}}
program p({', '.join(f'{x.upper()}: {outer(x)}' for x in given)}) -> (C: {outer('c')}) {{
  C = products({', '.join(x.upper() for x in given)});
}}
"""
    return text, [f"M=0,{r.randint(1, m)},{m}"]


def tiles(r, text):
    """Sizes of tiles between powers of two, and of few rows, which the pass keeps."""
    wide, few = (r.choice([64, 128]), 16 * r.randint(4, 16)), (8 * r.choice([r.randint(1, 16), 2 * r.randint(4, 16)]), r.choice([64, 128]))
    i, j = r.choice([wide, few])
    sizes = f"i = {i}; j = {j}; " if r.random() < 0.6 else ""
    slices = f"slices = {r.choice([2, 2, 3, 4, 8])}; " if r.random() < 0.4 else ""
    columns = f"columns = {8 * r.choice([r.randint(1, 16), 2 * r.randint(4, 16)])}; " if r.random() < 0.1 else ""
    resident = f"resident = {r.choice([1, 2, 2, 3])}; " if r.random() < 0.3 else ""
    deep = "p = 128; " if r.random() < 0.3 and "for p: fixed" not in text else ""
    return f"kernel products on sm_90a {{ {sizes}{deep}{slices}{resident}clusters = {r.choice((1, 1, 2, 2, 4, 8))}; }}\n"


def run(tilec, roles_run, folder, seed, schedules):
    """Whether the pass took the kernel, and what went wrong."""
    r = random.Random(seed)
    if seed % 6 == 0:
        text, _, sizes = r.choice([chained, chained, gradients, latent])(r)
        sizes = [x[len("--size="):] for x in sizes]
    else:
        text, sizes = (filtered if seed % 6 == 1 else program)(r)
    file = f"{folder}/{seed}.tile"
    with open(file, "w", encoding="utf-8") as to:
        to.write(text)
    with open(f"{folder}/{seed}.sizes", "w", encoding="utf-8") as to:
        to.write(tiles(r, text) if "kernel products" in text else wide(r) if "kernel filters" in text else "")
    done = subprocess.run([tilec, "compile", file, "--target=sm_90a", "-o", f"{folder}/text"], capture_output=True, text=True, check=False)
    if done.returncode: # what is planned can be written
        return False, f"{text}{done.stderr}"
    command = [tilec, "compile", file, "--target=sm_90a", f"--tuned={folder}/{seed}.sizes", f"--passes={PASSES}", "--verify-each", "--emit=ir", "-o", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return False, f"{text}{done.stderr}"
    command = [roles_run, f"{folder}/{seed}.tir", f"schedules={schedules}", *sizes]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "no kernel has roles" in done.stdout:
        return False, ""
    promoted = re.search(r": f8e\dm\d\[|slope\[", text)  # sums in another order; slopes, divided by a factor of the scores
    with open(f"{folder}/{seed}.tir", encoding="utf-8") as kernel:
        promoted = promoted or " each of " in kernel.read()  # and those of slices
    good = done.returncode == 0 and not re.search("different|faults" if promoted else "within|different|faults", done.stdout)
    return True, "" if good else f"{text}{done.stdout}{done.stderr}"


def main():
    tilec, roles_run, folder = sys.argv[1:4]
    options = dict(a[2:].split("=") for a in sys.argv[4:])
    first, n = int(options.get("first", 1)), int(options.get("programs", 20))
    wrong, took = 0, 0
    for seed in range(first, first + n):
        taken, message = run(tilec, roles_run, folder, seed, options.get("schedules", "3"))
        took += taken
        if message:
            wrong += 1
            print(f"seed {seed}: {message}", flush=True)
    print(f"{n} programs, {wrong} wrong, {took} in roles")


if __name__ == "__main__":
    main()
