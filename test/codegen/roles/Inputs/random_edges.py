"""usage: random_edges.py TILEC FOLDER SHARED.tir PROGRAMS FIRST: the product of SHARED.tir with edge tiles last and narrow, of random sizes, in
clusters or alone, its groups in turn or not, in the emulator against the interpreter."""
import random
import re
import subprocess
import sys

tilec, folder, shared, programs, first = *sys.argv[1:4], *map(int, sys.argv[4:])
with open(shared, encoding="utf-8") as file:
    lines = [line for line in file if not re.match("//|dim [MN]", line)]
for seed in range(first, first + programs):
    r = random.Random(seed)
    m, n, k = r.choice([256, 512, r.randint(1, 700)]), r.choice([256, 512, 8 * r.randint(1, 100)]), 8 * r.randint(0, 40)
    text = re.sub(r"\bN\b", str(n), re.sub(r"\bM\b", str(m), "".join(lines)))
    text = text.replace("order (i / 8", "order edges (i / 8").replace("tasks static", r.choice(["tasks static", "tasks ticket"]))
    if r.random() < 0.4:
        text = text.replace("cluster i 2 ", "").replace(" share i", "")
    if r.random() < 0.4:
        text = text.replace("turns A B@1", "turns A B@1 ends 3")
    path = f"{folder}/{seed}.tir"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run(["env", f"TILE_EMU_SEED={seed}", tilec, "run", path, "--passes=none", "--target=emu:sm_90a", f"--size=K={k}", "--check"], capture_output=True, text=True, check=False)
    if done.returncode or "agrees" not in done.stdout:
        print(f"seed {seed}: {m} x {n} x {k}: {done.stdout}{done.stderr}")
print(f"{programs} programs")
