"""Right programs with collectives over one axis to three, nested, of every --comm: the compiler takes them, and neither proof calls
one a fault. usage: nested.py TILEC MUTATE_BOTH FOLDER [EVERY]: each EVERY-th program, 1: all of them"""
import itertools
import os
import subprocess
import sys

TILEC, BOTH, FOLDER = sys.argv[1:4]
EVERY = int(sys.argv[4]) if len(sys.argv) > 4 else 1
MESHES = (2, 2), (3, 2), (2, 4), (2, 2, 2)
EXTENTS = 1, 2, 3, 5, 9
SIZES = "number", "columns", "rows"  # which dimension is of a run-time size
COMM = "auto", "unfused", "pull", "staged", "push", "packet"

KERNELS = """kernel own(x: f32[n, m]) -> (y: f32[n, m]) { each i: 2 of n, j: 1 of m { y[i, j] = x[i, j] + 1; } }
kernel one(x: f32[n, m]) -> (y: f32[n, m]) { each i of n, j: 1 of m { y[i, j] = x[1, j] + x[i, j]; } }
kernel sums(x: f32[n, m], w: f32[m]) -> (y: f32[n]) {
  each i: 2 of n {
    acc: f32[i] = 0;
    for p: 2 of m { acc += sum(x[i, p] * w[p], p); }
    y[i] = acc;
  }
}
"""


def nested(collective, inner, axes, dim):
    for a in axes:
        inner = f"{collective}({inner}, {a}, {dim})"
    return inner


def programs(axes):
    """(name, arguments and results, body) of what a mesh of these axes can do."""
    split, back = "(" + ", ".join(axes) + ")", list(reversed(axes))
    rows, columns = f"x: f32[N @ {split}, M]", f"x: f32[N, M @ {split}]"
    for kernel in "own", "one":
        yield f"gather_{kernel}", f"({rows}) -> (y: f32[N, M])", f"y = {kernel}({nested('all_gather', 'x', back, 0)});"
    yield "gather_outer", f"({rows}) -> (y: f32[N @ {axes[0]}, M])", f"y = own({nested('all_gather', 'x', back[:-1], 0)});"
    yield "gather_columns", f"({columns}) -> (y: f32[N, M])", f"y = one({nested('all_gather', 'x', back, 1)});"
    yield "gather_twice", f"(x: f32[N @ {axes[0]}, M @ {axes[-1]}]) -> (y: f32[N, M])", (
        f"y = one(all_gather(all_gather(x, {axes[-1]}, 1), {axes[0]}, 0));")
    yield "gather_whole", f"({rows}) -> (y: f32[N, M])", f"y = {nested('all_gather', 'x', back, 0)};"
    part = f"(x: f32[N, M @ {split}], w: f32[M @ {split}])"
    yield "scatter", f"{part} -> (y: f32[N @ {split}])", f"y = {nested('reduce_scatter', 'sums(x, w)', axes, 0)};"
    yield "reduce", f"{part} -> (y: f32[N])", f"y = all_reduce({', '.join(['sums(x, w)'] + list(axes))});"
    yield "scatter_gather", f"{part} -> (y: f32[N])", (
        f"y = {nested('all_gather', nested('reduce_scatter', 'sums(x, w)', axes, 0), back, 0)};")
    yield "turn", f"(x: f32[N @ {split}, M]) -> (y: f32[N, M @ {axes[-1]}])", (
        f"y = {nested('all_gather', f'own(all_to_all(x, {axes[-1]}, 1))', back[1:], 0)};")


def sources():
    for mesh, n, sizes in itertools.product(MESHES, EXTENTS, SIZES):
        axes = ["dp", "tp", "ep"][:len(mesh)]
        dims = f"dim N {'<=' if sizes == 'rows' else '='} {n};\ndim M {'<=' if sizes == 'columns' else '='} {n + 1};\n"
        head = dims + "".join(f"mesh {a} = {r};\n" for a, r in zip(axes, mesh)) + KERNELS
        for name, arguments, body in programs(axes):
            yield f"{name}_{'x'.join(map(str, mesh))}_{n}_{sizes}", f"{head}program p{arguments} {{\n  {body}\n}}\n"


def run(*command):
    r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return r.returncode, r.stdout


os.makedirs(FOLDER, exist_ok=True)
wrong, made, modules = 0, 0, []
for at, ((name, text), comm) in enumerate(itertools.product(sources(), COMM)):
    if at % EVERY:
        continue
    path, made = os.path.join(FOLDER, name + ".tile"), made + 1
    with open(path, "w") as f:
        f.write(text)
    modules.append(os.path.join(FOLDER, comm, name + ".tir"))
    command = TILEC, "compile", path, "--target=host", "-W", "no-all", f"--comm={comm}", "--emit=ir", "-o", os.path.dirname(modules[-1])
    code, out = run(*command)
    if code:
        wrong += 1
        print(f"{' '.join(command)}\n{out}")
        modules.pop()
code, out = run(BOTH, "--as-is", *modules)
print(out)
print(f"{made} programs, {wrong} refused")
sys.exit(1 if wrong or code else 0)
