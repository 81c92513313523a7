#!/usr/bin/env python3
"""usage: plans.py build BUILD FOLDER [--only=WORD] [--jobs=N]
       plans.py FOLDER [-o FILE] [--only=WORD]
       plans.py show FILE ..

Rows of table.py by plans that files of sizes ask for, beside the compiler's own choice and the row's peers: what the count by which tiles are compared is
fitted to. `build` compiles the programs into FOLDER: libraries that need no compiler; plans that the compiler does not take as they are asked for are named, and
left out. The second form measures on this GPU, plans of a row in turns, checks values, and appends a JSON line a row to FILE (FOLDER/plans.jsonl). `show`,
and the end of each run, prints them: plans from the fastest on, each with what it takes and what the compiler counts."""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess

import table_rows as T

HERE = os.path.dirname(os.path.abspath(__file__))
KERNEL = {"gemm_tn": "linear", "gemm_nn": "matmul", "sized_tn": "linear", "sized_nn": "matmul", "gathered": "gate_up"}
# By work and shape of table.py's rows. A plan: rows x columns of a tile; /N: slices; c: in clusters of 2.
FEW_HUNDRED = "128x64 128x64c 64x128 64x128c 64x256/2 128x128 128x128c 128x128/2 128x256/2"
RUN_TIME = {1: "8x64 16x64 24x64 32x64 64x64 64x64/2 104x64 112x64/2 128x64/2", 16: "16x64 24x64 32x64 64x64 64x64/2 104x64 112x64/2 128x64/2", 100: "104x64 112x64/2 128x64/2 192x64/2"}
PLANS = {
    ("gemm tn", "256x4096x4096"): "256x64/2 " + FEW_HUNDRED,
    ("gemm nn", "256x4096x4096"): "256x64/2 " + FEW_HUNDRED,
    ("gemm tn", "320x4096x8192"): "160x64 160x64c 160x128/2 112x128 " + FEW_HUNDRED,
    ("gemm nn", "320x4096x8192"): "160x64 160x64c 160x128/2 112x128 " + FEW_HUNDRED,
    ("gemm tn", "256x7168x8192"): "256x64 256x64c 256x128/2 128x112 128x112c 128x224/2 " + FEW_HUNDRED,
    ("gemm nn", "256x7168x8192"): "256x64 256x64c 256x128/2 128x112 128x112c 128x224/2 " + FEW_HUNDRED,
    ("gemm nn", "1040x1040x1024"): "64x128 64x160 64x176 64x192 128x80 128x96 128x160/2",
    ("gemm tn", "333x777x1111"): "64x64 64x64c 64x144/3 64x96 128x64",
    **{(f"{way} run-time M", f"{m}x4096x4096"): plans for way in ("tn", "nn") for m, plans in RUN_TIME.items()},
    ("gathered few", "8x8192x4096x4096"): "64x64 64x128 128x64 128x96 128x112 128x128 128x128c",
}


def lines(only):
    """Each row and its plans; the first one, without a name, is the compiler's choice."""
    for line in T.lines([p for p in T.PARTS if p != "ranks"]):
        if (line.work, line.shape) in PLANS and only in f"{line.work} {line.shape}":
            yield line, ["", *dict.fromkeys(PLANS[line.work, line.shape].split())]


def asked(plan):
    i, j, slices, pair = re.fullmatch(r"(\d+)x(\d+)(?:/(\d+))?(c?)", plan).groups()
    return int(i), int(j), int(slices or 1), 2 if pair else 1


def is_taken(plan, said):
    """explain's line of a kernel in roles."""
    i, j, slices, pair = asked(plan)
    found = re.search(r"tiles of (\d+) x (\d+),", said)
    return bool(found) and (int(found[1]), int(found[2])) == (i, j) and (f"a tile for a cluster of {slices}" in said) == (slices > 1) and ("clusters of 2" in said) == (pair > 1)


def folder_of(to, program, plan):
    return os.path.join(to, os.path.basename(program.folder("")) + (f"_{plan.replace('/', 's')}" if plan else ""))


# ---- building ----

def sizes_of(plan, kernel):
    i, j, slices, pair = asked(plan)
    return f"kernel {kernel} on sm_90a {{ i = {i}; j = {j}; slices = {slices};{'' if slices > 1 else f' clusters = {pair};'} }}\n"


def source_of(program, plan, folder):
    """Where only a run knows the rows, a copy in which they are bound by the plan's: more than a few are not exchanged in narrow tiles."""
    source = os.path.join(HERE, program.source)
    if not plan or not program.name.startswith("sized"):
        return source
    with open(source, encoding="utf-8") as file:
        text = file.read()
    assert "M <= 8192" in text
    with open(os.path.join(folder, program.source), "w", encoding="utf-8") as file:
        file.write(text.replace("M <= 8192", f"M <= {asked(plan)[0]}"))
    return os.path.join(folder, program.source)


def compile_one(tilec, program, plan, to):
    """What explain says of the kernel, and the microseconds that it counts; None: the compiler takes another plan."""
    folder, kernel = folder_of(to, program, plan), KERNEL[program.name]
    os.makedirs(folder, exist_ok=True)
    words = [source_of(program, plan, folder), f"--program={program.name}", "--target=sm_90a", *(w for n, v in program.sizes for w in ("-D", f"{n}={v}"))]
    if plan:
        with open(os.path.join(folder, "asked"), "w", encoding="utf-8") as file:
            file.write(sizes_of(plan, kernel))
        words.append(f"--tuned={folder}/asked")
    said = subprocess.run([tilec, "explain", *words], capture_output=True, text=True, check=True).stdout
    how = re.search(rf"pipe: '{kernel}': (.*?), predicted", said)
    if plan and not (how and is_taken(plan, how[1])):
        subprocess.run(["rm", "-r", folder], check=True)
        return None
    subprocess.run([tilec, "compile", *words, "--emit=lib", "-W", "no-performance", "-o", folder], check=True)
    subprocess.run(["strip", os.path.join(folder, f"lib{program.name}.so")], check=True)
    for file in os.listdir(folder):
        if not file.endswith(".so"):
            os.remove(os.path.join(folder, file))
    counted = re.search(rf"roles: '{kernel}': ([\d.e+]+) us by the clocks", said)
    return dict(how=how[1] if how else "", counted=float(counted[1]) if counted else None)


def build(o):
    tilec, rows = os.path.join(o.folder, "bin", "tilec"), list(lines(o.only))
    wanted = {(line.programs[0], plan) for line, plans in rows for plan in plans}
    wanted |= {(p, "") for line, _ in rows for p in line.programs[1:] if not p.before}
    wanted = sorted(wanted, key=lambda w: folder_of("", *w))
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        made = dict(zip((folder_of("", *w) for w in wanted), pool.map(lambda w: compile_one(tilec, *w, o.to), wanted)))
    print("\n".join(f"the compiler takes another plan than {name}" for name, about in made.items() if not about))
    subprocess.run(["cp", os.path.join(o.folder, "libtile.so"), o.to], check=True)
    commit = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    with open(os.path.join(o.to, "built.json"), "w", encoding="utf-8") as to:
        json.dump(dict(commit=commit, plans={name: about for name, about in made.items() if about}), to)
    print(f"{sum(map(bool, made.values()))} programs of {len(rows)} rows in {o.to}")


# ---- measuring ----

def product_in_turns(R, programs, peers, m, n, k, given, way):
    """Microseconds by name, and the largest error of ours."""
    nn, sets = way == "nn", 1 + int(4 * R.L2 / (2 * (m * k + n * k)))
    a, b = [R.normal(m, k) for _ in range(sets)], [R.normal(k, n) if nn else R.normal(n, k) for _ in range(sets)]
    want, errors, calls = a[0].float() @ (b[0].float() if nn else b[0].float().t()), [], {}
    for name, run in {**programs, **peers}.items():
        sizes, c = () if name in peers else given, R.torch.full((m, n), float("nan"), device="cuda", dtype=R.torch.bfloat16)
        run(a[0], b[0], c, *sizes)
        errors.append(R.error_of(c, want))
        calls[name] = lambda i, run=run, c=c, sizes=sizes: run(a[i % sets], b[i % sets], c, *sizes)
    d = R.torch.empty(m, n, device="cuda", dtype=R.torch.bfloat16)
    count = sets * max(1, min(round(200 / sets), round(8e-3 / (m * n * k * 3e-15) / sets)))
    cublas, others = R.side_by_side(lambda i: R.torch.mm(a[i % sets], b[i % sets] if nn else b[i % sets].t(), out=d), calls, count)
    return {name: others[name] for name in programs}, {"cublas": cublas, **{name: others[name] for name in peers}}, max(errors)


def one_after_the_other(R, programs, line):
    """By the row's own measure, each beside its peers: their slowest times."""
    import table_measure
    ours, peers, errors = {}, {}, []
    for name, run in programs.items():
        R.torch.manual_seed(0)
        ours[name], found, error = getattr(table_measure, line.measure)(run, *line.given)
        peers = {peer: max(us, peers.get(peer, 0)) for peer, us in found.items()}
        errors.append(error)
    return ours, peers, max(errors)


def measured(R, mesh, line, plans, folder, about):
    def opened(program, plan):
        return mesh.program(os.path.join(folder_of(folder, program, plan), f"lib{program.name}.so"), program.name)
    program = line.programs[0]
    programs = {plan or "own": opened(program, plan) for plan in plans if folder_of("", program, plan) in about}
    if line.measure == "groups":
        return one_after_the_other(R, programs, line)
    m, n, k, *given, way = line.given
    fixed = {"fixed": opened(line.programs[1], "")} if line.peer == "fixed" else {}
    return product_in_turns(R, programs, fixed, m, n, k, given[0] if given else (), way)


def run(o):
    import run as R
    R.torch.cuda.set_stream(R.torch.cuda.Stream())
    with open(os.path.join(o.folder, "built.json"), encoding="utf-8") as file:
        built = json.load(file)
    mesh = R.Mesh(o.folder)
    for line, plans in lines(o.only):
        R.torch.manual_seed(0)
        try:
            ours, peers, error = measured(R, mesh, line, plans, o.folder, built["plans"])
            if not error < line.error:
                raise ValueError(f"wrong values: error {error:.1e}")
        except Exception as wrong:  # the other rows go on
            print(f"{line.work} {line.shape}: {repr(wrong)[:200]}", flush=True)
            continue
        about = {plan: built["plans"][folder_of("", line.programs[0], "" if plan == "own" else plan)] for plan in ours}
        R.append(o.output, {**R.about(built["commit"], line.work, line.shape, ours["own"], peers, float(f"{error:.1e}")),
                            "plans": {plan: dict(us=round(us, 2), **({} if line.peer == "fixed" and plan == "own" else {"counted": about[plan]["counted"]})) for plan, us in ours.items()},
                            "own": about["own"]["how"], "must": line.must, "peer": line.peer})


# ---- the list ----

def said(row):
    plans = sorted(row["plans"].items(), key=lambda p: p[1]["us"])
    counted = lambda p: f" ({p['counted']:.1f})" if p.get("counted") else ""
    peer = row["peer"] if row["peer"] in row["peers"] else "cublas"
    us, best = row["peers"][peer], plans[0][1]["us"]
    must = f", at least {row['must']:g}" if peer == row["peer"] else ""
    return f"{row['work']:18} {row['shape']:18} of {peer} {us / row['us']:.3f}, by the best {us / best:.3f}{must}: " + ", ".join(
        f"{name} {p['us']:.1f}{counted(p)}" for name, p in plans)


def show(paths):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for row in file:
                print(said(json.loads(row)))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("words", nargs="+")
    p.add_argument("--only", default="")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("-o", dest="output")
    o = p.parse_args()
    if o.words[0] == "show":
        return show(o.words[1:])
    if o.words[0] == "build":
        o.folder, o.to = o.words[1:]
        return build(o)
    o.folder, = o.words
    o.output = o.output or os.path.join(o.folder, "plans.jsonl")
    run(o)
    return show([o.output])


if __name__ == "__main__":
    main()
