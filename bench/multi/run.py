#!/usr/bin/env python3
"""usage: run.py build BUILD FOLDER [--ranks=2,4,8] [--work=NAME,..]
       run.py FOLDER [--ranks=R] [--work=NAME,..] [--seconds=N] [-o FILE]

Programs of several ranks on as many GPUs of one host, beside their peers: NCCL with cuBLAS, with the attention of PyTorch, or alone. `build` compiles the rows of
works.py into FOLDER: libraries that need no compiler. The second form starts a process for each rank; all calls are captured in graphs of 10, timed in turns, and a
time is the median of 9 on the slowest rank. Values are checked. A JSON line a row goes to FILE (FOLDER/multi.jsonl); where bench/results/predicted.jsonl has the row,
the prediction is printed beside it."""
import argparse
import datetime
import json
import os
import subprocess
import sys
import time

import works

HERE = os.path.dirname(os.path.abspath(__file__))
GPU = os.path.join(HERE, "..", "gpu")


# ---- building ----

def compile_to(tilec, source, program, folder, *options):
    done = subprocess.run([tilec, "compile", source, f"--program={program}", "--target=sm_90a", "--emit=lib", "-W", "no-performance", "-o", folder, *options], capture_output=True, text=True)
    if done.returncode or "spill" in done.stderr:
        print(f"{folder}: {done.stderr.strip()[-300:]}", flush=True)
    for file in os.listdir(folder) if os.path.isdir(folder) else []:
        if not file.endswith(".so"):
            os.remove(os.path.join(folder, file))


def name_of(work, shape, ranks):
    return f"{work} {shape} {ranks}".replace(" ", "_").replace("+", "_")


def alone_of(program, sizes, ranks):
    """The product of one rank: rows, columns, summed; None: there is none."""
    if program == "ag_gemm":
        return sizes["M"], sizes["N"] // ranks, sizes["K"]
    return (sizes["M"], sizes["N"], sizes["K"] // ranks) if "gemm" in program else None


def alone_folder(folder, shape):
    return os.path.join(folder, "alone_" + "x".join(map(str, shape)))


def build(o):
    tilec = os.path.join(o.folder, "bin", "tilec")
    os.makedirs(o.to, exist_ok=True)
    for ranks in o.ranks:
        for work, shape, program, sizes in works.rows(ranks):
            if o.work and work not in o.work:
                continue
            compile_to(tilec, os.path.join(HERE, "programs.tile"), program, os.path.join(o.to, name_of(work, shape, ranks)), *works.options(sizes, ranks))
            alone = alone_of(program, sizes, ranks)
            if alone and not os.path.isdir(alone_folder(o.to, alone)):
                compile_to(tilec, os.path.join(GPU, "gemm.tile"), "gemm_nn", alone_folder(o.to, alone), *(w for x, n in zip("MNK", alone) for w in ("-D", f"{x}={n}")))
    subprocess.run(["cp", os.path.join(o.folder, "libtile.so"), o.to], check=True)
    commit = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    with open(os.path.join(o.to, "built.json"), "w", encoding="utf-8") as to:
        json.dump({"commit": commit}, to)


# ---- a rank: each function gives our call of a program, peers, the product alone, the result and what it has to be ----

def tools():
    """Modules that need a GPU."""
    sys.path.insert(0, GPU)
    import run
    import table_measure
    import torch
    import torch.distributed
    return torch, torch.distributed, run, table_measure


class Works:
    def __init__(self, rank, ranks):
        self.torch, self.dist, self.R, self.measure = tools()
        self.rank, self.ranks = rank, ranks

    def empty(self, *shape):
        return self.torch.empty(*shape, device="cuda", dtype=self.torch.bfloat16)

    def part(self, x, dim=0):
        return x.chunk(self.ranks, dim)[self.rank].contiguous()

    def whole(self, *shape):
        x = self.R.normal(*shape)
        self.dist.broadcast(x, 0)
        return x

    def ag_gemm(self, M, N, K):
        full, n = self.whole(M, K), N // self.ranks
        own, b = self.part(full), [self.R.normal(K, n) for _ in range(2)]
        c, d, g = self.empty(M, n), self.empty(M, n), self.torch.empty_like(full)

        def nccl(i):
            self.dist.all_gather_into_tensor(g, own)
            self.torch.mm(g, b[i % 2], out=d)
        return lambda f: lambda i: f(own, b[i % 2], c), {"NCCL and cuBLAS": nccl}, lambda f: lambda i: f(full, b[i % 2], d), c, full.float() @ b[0].float()

    def summed(self, M, N, K, every):
        k = K // self.ranks
        a, b = self.R.normal(M, k), [self.R.normal(k, N) for _ in range(4)]
        part, c, d = self.empty(M, N), self.empty(M if every else M // self.ranks, N), self.empty(M // self.ranks, N)
        whole = a.float() @ b[0].float()
        self.dist.all_reduce(whole)

        def nccl(i):
            self.torch.mm(a, b[i % 4], out=part)
            self.dist.all_reduce(part) if every else self.dist.reduce_scatter_tensor(d, part)
        return lambda f: lambda i: f(a, b[i % 4], c), {"NCCL and cuBLAS": nccl}, lambda f: lambda i: f(a, b[i % 4], part), c, whole if every else self.part(whole)

    def gemm_rs(self, M, N, K):
        return self.summed(M, N, K, False)

    def gemm_ar(self, M, N, K):
        return self.summed(M, N, K, True)

    def flash_decode(self, B, S, H=96, G=12, D=128):
        torch, dist, s = self.torch, self.dist, S // self.ranks
        q, k, v, o = self.whole(B, H, D), self.R.normal(B, G, s, D), self.R.normal(B, G, s, D), self.empty(B, H, D)
        x = torch.einsum("bgrd,bgsd->bgrs", q.view(B, G, H // G, D).float(), k.float()) / D**0.5
        most = x.amax(-1)
        dist.all_reduce(most, dist.ReduceOp.MAX)
        e = (x - most[..., None]).exp()
        total, a = e.sum(-1), torch.einsum("bgrs,bgsd->bgrd", e, v.float())
        dist.all_reduce(total)
        dist.all_reduce(a)
        part, all_parts = self.empty(B, H, D), self.empty(self.ranks, B, H, D)

        def nccl(_):
            torch.nn.functional.scaled_dot_product_attention(q[:, :, None], k, v, enable_gqa=True)
            dist.all_gather_into_tensor(all_parts, part)
        return lambda f: lambda i: f(q, k, v, o), {"NCCL and attention": nccl}, None, o, (a / total[..., None]).view(B, H, D)

    def moe(self, M, D, E=64, F=1024, T=8):
        """The peer gathers the tokens, sorts them by expert, and multiplies by groups, each rank a share of the hidden width."""
        torch, dist, m, f = self.torch, self.dist, M // self.ranks, F // self.ranks
        x, gate, w1, w2 = self.R.normal(m, D), self.whole(E, D), self.R.normal(E, f, D) / D**0.5, self.R.normal(E, D, f) / F**0.5
        all_x, y, d = self.empty(M, D), self.empty(m, D), self.empty(m, D)
        expert = torch.arange(1, E + 1, device="cuda")

        def routed():
            top, ids = (all_x @ gate.T).float().topk(T)
            order = ids.flatten().argsort(stable=True)
            ends = torch.searchsorted(ids.flatten()[order], expert)
            return top.softmax(-1).flatten()[order], order // T, ends.int()

        def layer(multiply, elem):
            weight, rows, ends = routed()
            h = multiply(all_x[rows].to(elem), w1.transpose(1, 2), ends)
            z = multiply((h * torch.sigmoid(h)).to(elem), w2.transpose(1, 2), ends)
            return torch.zeros(M, D, device="cuda").index_add(0, rows, weight[:, None] * z.float())

        def nccl(_):
            dist.all_gather_into_tensor(all_x, x)
            dist.reduce_scatter_tensor(d, layer(lambda a, b, ends: torch._grouped_mm(a, b, offs=ends), torch.bfloat16).bfloat16())

        def by_group(a, b, ends):
            at = [0, *ends.tolist()]
            return torch.cat([a[s:e] @ b[g].float() for g, (s, e) in enumerate(zip(at, at[1:]))])

        dist.all_gather_into_tensor(all_x, x)
        want = layer(by_group, torch.float32)
        dist.all_reduce(want)
        return lambda f: lambda i: f(x, gate, w1, w2, y), {"NCCL and _grouped_mm": nccl}, None, y, self.part(want)

    def gather(self, M, N):
        own, c, g = self.R.normal(M // self.ranks, N), self.empty(M, N), self.empty(M, N)
        self.dist.all_gather_into_tensor(g, own)
        return lambda f: lambda i: f(own, c), {"NCCL": lambda i: self.dist.all_gather_into_tensor(g, own)}, None, c, g.float()

    def partial(self, M, N):
        own = self.R.normal(1, M, N)
        whole = own[0].float()
        self.dist.all_reduce(whole)
        return own, whole

    def scatter(self, M, N):
        own, whole = self.partial(M, N)
        c, d = self.empty(M // self.ranks, N), self.empty(M // self.ranks, N)
        return lambda f: lambda i: f(own, c), {"NCCL": lambda i: self.dist.reduce_scatter_tensor(d, own[0])}, None, c, self.part(whole)

    def reduce(self, M, N):
        own, whole = self.partial(M, N)
        c, d = self.empty(M, N), own[0].clone()
        return lambda f: lambda i: f(own, c), {"NCCL": lambda i: self.dist.all_reduce(d)}, None, c, whole


def measure_row(w, o, meshes, row):
    work, shape, program, sizes = row
    library = os.path.join(o.folder, name_of(work, shape, o.ranks[0]), f"lib{program}.so")
    call, calls, alone, made, want = getattr(w, program)(**sizes)
    ours = call(meshes[0].program(library, program))
    error = w.measure.checked(ours, made, want)
    if not error < 1e-2:
        raise ValueError(f"wrong values: error {error:.1e}")
    if alone:
        calls["alone"] = alone(meshes[1].program(os.path.join(alone_folder(o.folder, alone_of(program, sizes, o.ranks[0])), "libgemm_nn.so"), "gemm_nn"))
    times = w.measure.in_turns({"ours": ours, **calls})
    return dict(ours_us=round(times.pop("ours"), 2), peers_us={n: round(t, 2) for n, t in times.items()}, rel_err=float(f"{error:.1e}"))


def rank_main(o):
    torch, dist, R, _ = tools()
    rank, ranks, end = int(os.environ["RANK"]), o.ranks[0], time.time() + o.seconds
    torch.cuda.set_device(rank)
    torch.manual_seed(rank)
    torch.cuda.set_stream(torch.cuda.Stream())
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    meshes = R.Mesh(o.folder, ranks, b"multi"), R.Mesh(o.folder, 1, b"multi%d" % rank)
    w = Works(rank, ranks)
    with open(os.path.join(o.folder, "built.json"), encoding="utf-8") as file:
        commit = json.load(file)["commit"]
    for row in works.rows(ranks):
        late = torch.tensor([time.time() > end], device="cuda", dtype=torch.int32)
        dist.all_reduce(late)  # all ranks end at the same row
        if late.item() or (o.work and row[0] not in o.work):
            continue
        made = measure_row(w, o, meshes, row)
        if rank == 0:
            say(o, dict(date=datetime.date.today().isoformat(), gpu=f"{ranks} x {torch.cuda.get_device_name()}", commit=commit, command="bench/multi/run.py", ranks=ranks, work=row[0], shape=row[1], **made))
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
    os._exit(0)


def prediction(row):
    path = os.path.join(HERE, "..", "results", "predicted.jsonl")
    found = [p for p in map(json.loads, open(path, encoding="utf-8")) if all(p[k] == row[k] for k in ("ranks", "work", "shape"))] if os.path.exists(path) else []
    return f"; predicted {found[-1]['us']}" if found else ""


def say(o, row):
    best = min(t for n, t in row["peers_us"].items() if n != "alone")
    print(f"{row['work']:12} {row['shape']:16} {row['ours_us']:8.1f} us, best peer / ours {best / row['ours_us']:.3f}{prediction(row)}; {row['peers_us']}; error {row['rel_err']:.0e}", flush=True)
    with open(o.output, "a", encoding="utf-8") as to:
        to.write(json.dumps(row) + "\n")


def start(o):
    """A failure of one rank ends all."""
    ranks = o.ranks[0]
    several = {"WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29635", "NCCL_NVLS_ENABLE": "0"}
    children = [subprocess.Popen([sys.executable, *sys.argv], env=dict(os.environ, **several, RANK=str(r), LOCAL_RANK=str(r))) for r in range(ranks)]
    while any(c.poll() is None for c in children) and not any(c.poll() for c in children):
        time.sleep(0.1)
    failed = any(c.poll() for c in children)
    for c in children:
        c.kill()
        c.wait()
    return failed


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("words", nargs="+")
    p.add_argument("--ranks", type=lambda w: [int(x) for x in w.split(",")], default=[2])
    p.add_argument("--work", type=lambda w: w.split(","), default=[])
    p.add_argument("--seconds", type=float, default=500, help="after which no more rows are measured")
    p.add_argument("-o", dest="output")
    o = p.parse_args()
    if o.words[0] == "build":
        o.folder, o.to = o.words[1:]
        return build(o)
    o.folder = os.path.abspath(o.words[0])
    o.output = o.output or os.path.join(o.folder, "multi.jsonl")
    return rank_main(o) if "RANK" in os.environ else start(o)


if __name__ == "__main__":
    sys.exit(main())
