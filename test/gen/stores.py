"""usage: stores.py TILEC WORK [KERNELS [FIRST]]: random kernels whose stores are strided, shifted, mirrored, divided and guarded, at one
size and at run-time sizes, and that read their own results under conditions. Each element is counted here, by running through all positions; what the compiler accepts must be written
exactly once. Right kernels that it refuses are counted. Where conditions are made of data, a run has to name the first element that is not."""
import os
import random
import re
import subprocess
import sys

BATCH, SIZES, WRONG = 20, range(1, 21), ("result-not-covered", "result-written-twice", "result-not-written", "self-order")


def guard(draw):
    """A condition of i as text, and as a function of i and n."""
    a, b = draw.randint(0, 6), draw.randint(1, 4)
    return draw.choice([
        (f"i % {b + 1} == {a % (b + 1)}", lambda i, n: i % (b + 1) == a % (b + 1)),
        (f"i < {a}", lambda i, n: i < a),
        (f"i > {a} && i <= {a + b}", lambda i, n: a < i <= a + b),
        (f"i < {a} || !(i < {a + b})", lambda i, n: i < a or not i < a + b),
        (f"2 * i < n - {b}", lambda i, n: 2 * i < n - b),
        (f"min(i, {a}) + 1 > max({b}, i / 2)", lambda i, n: min(i, a) + 1 > max(b, i // 2)),
    ])


def data_guard(draw, scale, add):
    """A condition of at[i], which is (scale * i + add) % 5."""
    a = draw.randint(0, 5)
    sign, holds = draw.choice([("<", lambda x: x < a), (">", lambda x: x > a), ("==", lambda x: x == a)])
    return f"at[i] {sign} {a}", lambda i, n: holds((scale * i + add) % 5)


def place(draw):
    a, b = draw.randint(-2, 3), draw.randint(-2, 3)
    return draw.choice([
        ("i", lambda i, n: i), ("i", lambda i, n: i),
        (f"i + {a}" if a >= 0 else f"i - {-a}", lambda i, n: i + a),
        (f"2 * i + {b % 2}", lambda i, n: 2 * i + b % 2),
        (f"n - 1 - i", lambda i, n: n - 1 - i),
        (f"i / 2", lambda i, n: i // 2),
        (f"{3 + a % 4} - i", lambda i, n: 3 + a % 4 - i),
        (f"i + i / 2", lambda i, n: i + i // 2),
        (f"4 * (i / 4) + 3 - i + 4 * (i / 4)", lambda i, n: 8 * (i // 4) + 3 - i),
    ])


def statements(draw, depth, guard=guard):
    """Texts, and functions (i, n) -> places that are written."""
    form = draw.random()
    if depth and form < 0.45:
        test, holds = guard(draw)
        yes, no = statements(draw, depth - 1, guard), statements(draw, depth - 1, guard)
        return f"if {test} {{ {yes[0]} }} else {{ {no[0]} }}", lambda i, n: (yes if holds(i, n) else no)[1](i, n)
    if form < 0.7:
        text, at = place(draw)
        return f"c[{text}] = a[i];", lambda i, n: [at(i, n)]
    first, second = draw.choice([((2, 0), (2, 1)), ((2, 0), (3, 1)), ((1, 0), (1, 1)), ((2, 0), (2, 2))])
    return (f"c[{first[0]} * i + {first[1]}] = a[i]; c[{second[0]} * i + {second[1]}] = a[i];",
            lambda i, n: [first[0] * i + first[1], second[0] * i + second[1]])


def kernel(draw, k):
    body, places = statements(draw, 2)
    grid = draw.choice(["i of n", "i: 4 of n", "i: 16 of n", "i: * of n"]) if "if" not in body and "/" not in body else "i of n"
    runtime, size, factor = draw.random() < 0.5, draw.randint(1, 20), draw.choice([1, 1, 1, 2])
    if runtime:
        factor = 1  # extents are a size plus a number
    text = (f"kernel k{k}(a: f32[n], const m: i32) -> (c: f32[m]) {{ each {grid} {{ {body} }} }} "
            f"program p{k}(a: f32[{size}]) -> (c: f32[{size * factor}]) {{ c = k{k}(a, {size * factor}); }}")
    if runtime:
        text = (f"kernel k{k}(a: f32[n]) -> (c: f32[n]) {{ each {grid} {{ {body} }} }} "
                f"program p{k}(a: f32[S]) -> (c: f32[S]) {{ c = k{k}(a); }}")
    return text, all(right(places, n, n * factor) for n in (SIZES if runtime else [size]))


def reader(draw, k):
    """A task reads what another has written, under a condition: that has to be an earlier one, for all sizes."""
    (test, holds), (text, at) = guard(draw), place(draw)
    text = (f"kernel k{k}(a: f32[n]) -> (c: f32[n]) {{ each i of n {{ if {test} {{ c[i] = a[i] + c[{text}]; }} else {{ c[i] = a[i]; }} }} }} "
            f"program p{k}(a: f32[S]) -> (c: f32[S]) {{ c = k{k}(a); }}")
    return text, all(not holds(i, n) or at(i, n) < i or at(i, n) >= n for n in SIZES for i in range(n))


def counts(places, n, m):
    count = [0] * m
    for i in range(n):
        for at in places(i, n):
            if 0 <= at < m:
                count[at] += 1
    return count


def right(places, n, m):
    return all(c == 1 for c in counts(places, n, m))


def guarded(draw, k):
    """Conditions of data around the stores, some beside conditions of ranges: a kernel, and how often it writes each element."""
    scale, add, n = draw.randint(1, 4), draw.randint(0, 4), draw.randint(1, 12)
    by_data = lambda d: data_guard(d, scale, add) if d.random() < 0.7 else guard(d)
    (test, holds), yes, no = data_guard(draw, scale, add), statements(draw, 1, by_data), statements(draw, 1, by_data)
    if draw.random() < 0.4:
        yes = no = ("c[i] = a[i];", lambda i, n: [i])
    text = (f"kernel k{k}(a: f32[n], at: i32[n]) -> (c: f32[n]) {{ each i of n {{ if {test} {{ {yes[0]} }} else {{ {no[0]} }} }} }} "
            f"kernel d{k}(a: f32[n]) -> (at: i32[n]) {{ each i of n {{ at[i] = ({scale} * i32(pos(i)) + {add}) % 5; }} }} "
            f"program p{k}(a: f32[{n}]) -> (c: f32[{n}]) {{ c = k{k}(a, d{k}(a)); }}\n")
    return text, counts(lambda i, n: (yes if holds(i, n) else no)[1](i, n), n, n)


def first_wrong(count):
    """What a run says of it; None: nothing."""
    for at, times in enumerate(count):
        if times != 1:
            return f"{'twice' if times else 'writes'}: 'c'[{at}]"
    return None


def run_guarded(tilec, path, draw, kernels):
    """Counts of accepted kernels that run, of those that end with a fault, and of those that a run judges wrongly."""
    ran = faults = wrong = 0
    for k in range(kernels):
        text, count = guarded(draw, k)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        how = "--check" if k % 10 == 0 else "--target=interp"
        run = subprocess.run([tilec, "run", path, how], capture_output=True, text=True, check=False)
        want, said = first_wrong(count), re.search(r"(twice|writes): 'c'\[\d+\]", run.stderr)
        if run.returncode == 1 and re.search(r"\[(result|self|tasks)-", run.stderr):  # before it runs
            if not want:
                print("refused:", text)
            continue
        ran, faults = ran + 1, faults + bool(want)
        if run.returncode != (3 if want else 0) or (said and said[0]) != want:
            wrong += 1
            print("judged wrongly:", text, run.returncode, run.stderr, count)
    return ran, faults, wrong


def main(tilec, work, kernels=400, first=1):
    os.makedirs(work, exist_ok=True)
    draw, wrong, refused, good = random.Random(int(first)), 0, 0, 0
    for start in range(0, int(kernels), BATCH):
        made = [(reader if k % 3 == 2 else kernel)(draw, k) for k in range(start, start + BATCH)]
        path = f"{work}/stores.tile"
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(text + "\n" for text, _ in made) + f"dim S <= {SIZES[-1]};\n")
        said = subprocess.run([tilec, "check", path], capture_output=True, text=True, check=False).stderr
        found = re.findall(r"stores\.tile:(\d+):\d+: error: .*\[([a-z-]+)\]$", said, re.M)
        bad = {int(line) - 1 for line, _ in found}
        for line, name in found:
            if name not in WRONG:
                print("unexpected", name, made[int(line) - 1][0])
        for k, (text, fine) in enumerate(made):
            good += fine
            if fine and k in bad:
                refused += 1
                print("refused:", text)
            elif not fine and k not in bad:
                wrong += 1
                print("wrong, and accepted:", text)
    print(f"{kernels} kernels, {good} right, {refused} of them refused, {wrong} wrong ones accepted")
    ran, faults, wrong = run_guarded(tilec, f"{work}/guarded.tile", draw, int(kernels) // 2)
    print(f"{ran} kernels under conditions of data, {faults} with faults, {wrong} of them judged wrongly")


if __name__ == "__main__":
    main(*sys.argv[1:])
