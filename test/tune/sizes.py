"""usage: sizes.py TILEC EXAMPLES WORK: files of random sizes (a fixed seed); the program agrees with the interpreter, or
the compiler refuses with a message."""
import os
import random
import subprocess
import sys

# Source, options, and per kernel its ranges.
PROGRAMS = [
    ("gemm.tile", ["-DM=61", "-DN=47", "-DK=75"], {"matmul": "ijp"}),
    ("attention.tile", ["-DB=1", "-DS=37", "-DH=2", "-DG=1", "-DD=24"], {"attention": "ij"}),
    ("mlp_tp.tile", [], {"linear": "ijp"}),
    ("scan.tile", [], {"sw": "i", "causal": "ip"}),
    ("scan.tile", [], {"sw": "ij"}),  # refused: j is fixed
]

SCAN = """
kernel sw(s: i8[n], t: i8[m]) -> (h: i32[n, m]) {
  each i: 8 of n, j: fixed 8 of m {
    for r in i {
      d = max(0, max(h[r - 1, j - 1] + where(s[r] == t[j], 3, -3), h[r - 1, j] - 2));
      left = h[r, begin(j) - 1] - 2 * i32(pos(j) - begin(j) + 1);
      h[r, j] = max(left, cummax(d + 2 * i32(pos(j)), j) - 2 * i32(pos(j)));
    }
  }
}
kernel causal(x: f32[n]) -> (y: f32[n]) {
  each i: 16 of n {
    acc: f32[i] = 0;
    for p: 8 in 0 .. end(i) { acc += sum(where(pos(p) <= pos(i), x[p], 0), p); }
    y[i] = acc;
  }
}
program scan(s: i8[29], t: i8[31], x: f32[70]) -> (h: i32[29, 31], y: f32[70]) {
  h = sw(s, t);
  y = causal(x);
}
"""


def write_sizes(path, kernels, draw):
    with open(path, "w", encoding="utf-8") as file:
        for kernel, ranges in kernels.items():
            some = [r for r in ranges if draw.random() < 0.8]
            sizes = "".join(f" {r} = {int(2 ** draw.uniform(0, 8))};" for r in some)
            sizes += f" split = {draw.randint(2, 9)};" if draw.random() < 0.4 else ""
            file.write(f"kernel {kernel} on host {{{sizes} }}\n")


def main(tilec, examples, work):
    os.makedirs(work, exist_ok=True)
    with open(f"{work}/scan.tile", "w", encoding="utf-8") as file:
        file.write(SCAN)
    draw, errors, wrong, count = random.Random(5), 0, [], 10
    for i in range(count):
        name, options, kernels = PROGRAMS[i % len(PROGRAMS)]
        source = f"{work if name == 'scan.tile' else examples}/{name}"
        sizes = f"{work}/{i}.sizes"
        write_sizes(sizes, kernels, draw)
        done = subprocess.run([tilec, "run", source, *options, "--check", f"--tuned={sizes}"], capture_output=True, text=True)
        if done.returncode == 1 and "[bad-tuning]" in done.stderr:
            errors += 1
        elif done.returncode or "agrees" not in done.stdout:
            wrong.append(f"{sizes} of {name}: {done.returncode}: {done.stdout}{done.stderr}")
    print("\n".join(wrong + [f"{count} files, {errors} errors, {len(wrong)} wrong"]))


main(*sys.argv[1:])
