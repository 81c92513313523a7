#!/usr/bin/env python3
"""usage: table.py build BUILD FOLDER [--part=NAME,..] [--before=TILEC] [--jobs=N]
       table.py FOLDER [--part=NAME,..] [-o FILE]
       table.py show FILE ..

The table of products by pipelines: what each row takes, what its peer takes in the same run, and what it has to reach. `build` compiles the
programs into FOLDER: libraries that need no compiler. `--before` is a tilec that has the texts of products, in the folder bin of its build, whose
runtime its programs run on; by default that of BUILD, which is told to leave out roles. The second form measures on this GPU, checks values, and appends a JSON line a row to FILE (FOLDER/table.jsonl); the part
`ranks` needs two GPUs and is left out without. `show`, and the end of each run, prints the table: of a row measured several times the worst."""
import argparse
import concurrent.futures
import datetime
import json
import os
import resource
import subprocess
import sys
import time

import table_rows as T

HERE = os.path.dirname(os.path.abspath(__file__))


# ---- building ----

def compiled(tilec, p, kind, to):
    sizes = [w for name, value in p.sizes for w in ("-D", f"{name}={value}")]
    return subprocess.run([tilec, "compile", os.path.join(HERE, p.source), f"--program={p.name}", "--target=sm_90a", f"--emit={kind}", "-W", "no-performance", "-o", p.folder(to), *sizes,
                           *(["--off=roles"] if p.before else [])], capture_output=True, text=True)


def compile_one(tilec, p, to):
    done = compiled(tilec, p, "lib", to)
    if not done.returncode:
        subprocess.run(["strip", p.library(to)], check=True)
    return f"{p.folder(to)}: {done.stderr.strip()}" if done.returncode or "spill" in done.stderr else ""


def text_of(tilec, p, to):
    if compiled(tilec, p, "src", to).returncode:
        return None
    with open(os.path.join(p.folder(to), f"{p.name}_sm_90a.hip"), encoding="utf-8") as file:
        return file.read()


def same_text(tilec, line, to):
    """Of a row that compares roles with texts: one compiler writes the same with both."""
    texts = [text_of(tilec, p, to) for p in line.programs] if line.peer == "before" else [None]
    return texts[0] is not None and texts[0] == texts[-1]


def leave_libraries(to):
    for folder, _, files in os.walk(to):
        for file in files:
            if not file.endswith((".so", "built.json", ".jsonl")):
                os.remove(os.path.join(folder, file))


def seconds_of_nvcc(tilec, p):
    """Processor time of compiling to a library beyond that of emitting the text."""
    times = []
    for kind in ("src", "lib"):
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([tilec, "compile", os.path.join(HERE, p.source), f"--program={p.name}", "--target=sm_90a", f"--emit={kind}", "-o", "/dev/shm/table",
                        *(w for name, value in p.sizes for w in ("-D", f"{name}={value}"))], check=True, capture_output=True)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime)
    return round(times[1] - times[0], 2)


def build(o):
    now = os.path.join(o.folder, "bin", "tilec")
    before = o.before or now
    lines = T.lines(o.part)
    os.makedirs(o.to, exist_ok=True)
    nvcc = {line.shape: seconds_of_nvcc(now, line.programs[0]) for line in lines if not line.measure}
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        alike = list(pool.map(lambda line: not o.before and same_text(now, line, o.to), lines))
        programs = sorted({p for line, same in zip(lines, alike) for p in line.programs if not same}, key=lambda p: p.folder(""))
        for said in pool.map(lambda p: compile_one(before if p.before else now, p, o.to), programs):
            if said:
                print(said, flush=True)
    subprocess.run(["cp", os.path.join(o.folder, "libtile.so"), o.to], check=True)
    if o.before and any(p.before for p in programs):
        subprocess.run(["cp", os.path.join(os.path.dirname(o.before), "..", "libtile.so"), os.path.join(o.to, "before")], check=True)
    commit = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    with open(os.path.join(o.to, "built.json"), "w", encoding="utf-8") as to:
        json.dump(dict(commit=commit, nvcc=nvcc, same=[[line.work, line.shape] for line, same in zip(lines, alike) if same]), to)
    leave_libraries(o.to)
    print(f"{len(programs)} programs of {len(lines)} rows in {o.to}")


# ---- measuring ----

def about_row(gpu, commit, line):
    return dict(date=datetime.date.today().isoformat(), gpu=gpu, commit=commit, command="bench/gpu/table.py", part=line.part, work=line.work, shape=line.shape, peer=line.peer, must=line.must,
                most=line.most, unit=line.unit)


def record(line, ours, peers, error):
    if not error < line.error:
        raise ValueError(f"wrong values: error {error:.1e}")
    peer = max(peers[p] for p in line.peer.split(" or ")) if line.peer else None
    value = round(ours if peer is None else ours / peer if line.most else peer / ours, 3)
    return dict(ours=round(ours, 3), peers={p: round(t, 3) for p, t in peers.items()}, value=value, error=float(f"{error:.1e}"), reached=value <= line.must if line.most else value >= line.must)


def measured(line, o, built, meshes):
    import table_measure
    if not line.measure:
        return record(line, built["nvcc"][line.shape], {}, 0)
    if [line.work, line.shape] in built["same"] and line.peer == "before":
        return dict(record(line, 1, {"before": 1}, 0), same_text=True)
    programs = [(meshes["before"] if p.before else mesh).program(p.library(o.folder), p.name) for mesh, p in zip(meshes["now"], line.programs)]
    return record(line, *getattr(table_measure, line.measure)(*programs, *line.given))


def open_meshes(o):
    """Those of a row's programs now: both of this GPU, or the first of two ranks, each of them a process. And that of programs by the compiler before."""
    import run as R
    import torch.distributed as dist
    rank = int(os.environ.get("RANK", -1))
    R.torch.cuda.set_device(max(rank, 0))
    R.torch.manual_seed(0)
    R.torch.cuda.set_stream(R.torch.cuda.Stream())
    if rank < 0:
        older = os.path.join(o.folder, "before")
        before = R.Mesh(older, older=True) if os.path.exists(os.path.join(older, "libtile.so")) else None
        now = R.Mesh(o.folder)
        return {"now": [now] * 2, "before": before or now}
    dist.init_process_group("nccl", device_id=R.torch.device("cuda", rank))
    return {"now": [R.Mesh(o.folder, 2, b"table"), R.Mesh(o.folder, 1, b"table%d" % rank)]}


def measure(o):
    """Rows from number o.skip on. A failure of several ranks, or of the GPU, ends the process: the next one goes on behind that row."""
    import torch
    meshes, alone = open_meshes(o), "RANK" not in os.environ
    with open(os.path.join(o.folder, "built.json"), encoding="utf-8") as file:
        built = json.load(file)
    for line in T.lines(o.part)[o.skip:]:
        begin, healthy = time.time(), True
        try:
            made = measured(line, o, built, meshes)
        except (Exception, SystemExit) as error:
            made, healthy = dict(failed=repr(error)[:200], reached=False), alone
        row = dict(**about_row(torch.cuda.get_device_name(), built["commit"], line), **made, seconds=round(time.time() - begin, 1))
        if os.environ.get("RANK", "0") == "0":
            append(o.output, row)
        try:
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
        except RuntimeError:
            healthy = False
        if not healthy:
            os._exit(1)
    os._exit(0)


def append(path, row):
    with open(path, "a", encoding="utf-8") as to:
        to.write(json.dumps(row) + "\n")


def rows_in(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(row) for row in file]


GRACE = 3  # seconds that a rank has to write down its row when the other one has failed


def processes(o, part, skip, end):
    """Runs rows of a part; returns when they are done, when a process has failed, or when a row takes too long."""
    ranks = 2 if part == "ranks" else 1
    command = [sys.executable, os.path.abspath(__file__), o.folder, f"--part={part}", f"--skip={skip}", "-o", o.output]
    several = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29631", "NCCL_NVLS_ENABLE": "0"}
    children = [subprocess.Popen(command, env=dict(os.environ, **(dict(several, RANK=str(r), LOCAL_RANK=str(r)) if ranks > 1 else {}))) for r in range(ranks)]
    rows, until = -1, end
    while any(c.poll() is None for c in children) and time.time() < until:
        if rows != len(rows_in(o.output)):
            rows, until = len(rows_in(o.output)), min(end, time.time() + o.row)
        if any(c.poll() for c in children):
            until = min(until, time.time() + GRACE)
        time.sleep(0.1)
    for c in children:
        c.kill()
        c.wait()


def gpus():
    return len(subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False).stdout.splitlines())


def run(o):
    end = time.time() + o.seconds
    if "ranks" in o.part and gpus() < 2:
        print("one GPU: the rows of two ranks are left out")
        o.part = [p for p in o.part if p != "ranks"]
    for part in filter(None, [",".join(p for p in o.part if p != "ranks"), "ranks" if "ranks" in o.part else ""]):
        lines, first = T.lines(part.split(",")), len(rows_in(o.output))
        while (done := len(rows_in(o.output)) - first) < len(lines) and time.time() < end:
            processes(o, part, done, end)
            if len(rows_in(o.output)) - first == done and time.time() < end:  # it ended without a word: so does this row
                append(o.output, dict(**about_row("?", "?", lines[done]), failed="no result", reached=False))


# ---- the table ----

def said(row):
    head = f"{row['part']:8} {row['work']:22} {row['shape']:20}"
    must = f"at {'most' if row['most'] else 'least'} {row['must']:g}"
    verdict = "reached" if row["reached"] else "missed"
    if "failed" in row:
        return f"{head} {'':34} {must:14} {verdict}: {row['failed']}"
    peers = ", ".join(f"{p} {t:.1f}" for p, t in sorted(row["peers"].items(), key=lambda p: p[0] not in row["peer"].split(" or ")))
    what = "the same text" if row.get("same_text") else f"{row['ours']:.{1 if row['unit'] == 'us' else 2}f} {row['unit']}; {peers}" if peers else f"{row['ours']:.2f} {row['unit']}"
    return f"{head} {row['value']:6.3f} {must:14} {verdict:8} {what}; error {row['error']:.0e}"


def worst(rows):
    failed = [r for r in rows if "failed" in r]
    return failed[0] if failed else (max if rows[0]["most"] else min)(rows, key=lambda r: r["value"])


def show(paths):
    found = {}
    for row in (row for path in paths for row in rows_in(path)):
        found.setdefault((row["part"], row["work"], row["shape"]), []).append(row)
    print("machine, commit: " + ", ".join(sorted({f"{r['gpu']} at {r['commit']}" for rows in found.values() for r in rows})))
    reached = lines = 0
    for line in T.lines(T.PARTS):
        rows = found.get((line.part, line.work, line.shape))
        if rows:
            print(f"{said(worst(rows))}" + (f"; {len(rows)} runs {min(r.get('value', 0) for r in rows):.3f} to {max(r.get('value', 0) for r in rows):.3f}" if len(rows) > 1 else ""))
            reached, lines = reached + all(r["reached"] for r in rows), lines + 1
    print(f"{reached} of {lines} rows reached; {len(T.lines(T.PARTS)) - lines} not measured")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("words", nargs="+")
    p.add_argument("--part", type=lambda w: w.split(","), default=list(T.PARTS))
    p.add_argument("--before")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("-o", dest="output")
    p.add_argument("--skip", type=int, help=argparse.SUPPRESS)
    p.add_argument("--seconds", type=float, default=450, help="after which no more rows are measured")
    p.add_argument("--row", type=float, default=60, help="seconds after which a row is given up")
    o = p.parse_args()
    if unknown := [w for w in o.part if w not in T.PARTS]:
        p.error(f"no part '{unknown[0]}': there are {', '.join(T.PARTS)}")
    if o.words[0] == "show":
        return show(o.words[1:])
    if o.words[0] == "build":
        o.folder, o.to = o.words[1:]
        return build(o)
    o.folder = os.path.abspath(o.words[0])
    o.output = o.output or os.path.join(o.folder, "table.jsonl")
    if o.skip is not None:
        return measure(o)
    run(o)
    show([o.output])


if __name__ == "__main__":
    main()
