"""usage: random_orders.py TILEC FOLDER FILE --programs=N --first=SEED: random orders of tasks for the programs of FILE, at random
run-time sizes, in the emulator of a random AMD GPU against the interpreter. Prints what differs or fails."""
import os
import random
import re
import subprocess
import sys

GRID = re.compile(r"each \(([^)]*)\) on group plan \(([^)]*)\)")
GPUS = ["gfx90a", "gfx942", "gfx950"]


def digits(r, ranges):
    """Up to two bands of a range stand anywhere before its tiles."""
    left = {name: r.randint(1, 3) for name in ranges}
    while open_ranges := [name for name in left if left[name]]:
        name = r.choice(open_ranges)
        left[name] -= 1
        yield f"{name} / {r.randint(1, 5)}" if left[name] else name + r.choice(["", " down", " turn", " pair"])


def order(r, grid):
    ranges = [re.match(r"\w+", part)[0] for part in grid.split(", ") if ": *" not in part]
    chiplets = f"chiplets {r.randint(1, 9)} " * (r.random() < 0.8)
    block = f"block {r.randint(1, 60)} " * (chiplets != "" and r.random() < 0.5)
    return f"order {chiplets}{block}({', '.join(digits(r, ranges))})"


def wrong(tilec, folder, file, seed):
    """What is wrong; the program and its order."""
    r = random.Random(seed)
    program = r.choice(re.findall(r"^program (\w+)", open(file, encoding="utf-8").read(), re.M))
    gpu, n, to = r.choice(GPUS), r.choice([0, 1, 17, 77, 128, 129, 200]), os.path.join(folder, f"{seed}.tir")
    done = subprocess.run([tilec, "compile", file, f"--program={program}", f"--target={gpu}", "--emit=ir", "--off=remap", "-W", "no-all"], capture_output=True, text=True, check=True)
    orders = []

    def planned(grid):
        orders.append(order(r, grid[1]))
        return f"{grid[0][:-1]}, {orders[-1]})"

    with open(to, "w", encoding="utf-8") as out:
        out.write(GRID.sub(planned, done.stdout))
    sizes = ["-D", f"n={n}"] if re.search(r"^dim n\b", done.stdout, re.M) else []
    run = subprocess.run([tilec, "run", to, "--passes=none", f"--target=emu:{gpu}", *sizes, "--check"], capture_output=True, text=True, check=False)
    good = orders and run.returncode == 0 and "agrees" in run.stdout
    return "" if good else f"seed {seed}: {program} on {gpu}, n = {n}, {orders}: {run.stdout[-300:]}{run.stderr[-300:]}"


def main():
    tilec, folder, file, *options = sys.argv[1:]
    count, first = (int(o.split("=")[1]) for o in options)
    found = [w for w in (wrong(tilec, folder, file, seed) for seed in range(first, first + count)) if w]
    print(*found, f"{count} programs, {len(found)} wrong", sep="\n")


main()
