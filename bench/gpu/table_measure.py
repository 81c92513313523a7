"""What table.py measures: each function takes the programs of a row, opened, and what the row says; it gives our time, those of peers by name, and
the error of our results. Times of ranks are those of the slower one."""
import statistics

import torch
import torch.distributed as dist

import convolution
import decode_step
import grouped
import run as R

WEIGHTS = {}  # of decode_step: made once


def triple(row):
    return row.ours, {name: t for name, t in row.peers.items() if t}, row.error


def product(now, fixed, m, n, k, given, way):
    return triple(R.sized(now, fixed, m, n, k, given, way == "nn"))


def alone(now, m, n, k, way):
    return triple(R.sized(now, None, m, n, k, (), way == "nn"))


def was(now, before, m, n, k, way):
    ours, peers, error = product(now, before, m, n, k, (), way)
    return ours, {"before" if name == "fixed" else name: t for name, t in peers.items()}, error


def batch(now, *rest):
    (*fixed, shape, given) = rest
    return triple(R.batched(now, given, *shape, fixed=fixed[0] if fixed else None))


def blocks(now, m, n, k):
    return triple(R.gemm8_blocks(now, m, n, k))


def groups(now, name, shape, how):
    return grouped.WORKS[name][0](now, *shape, grouped.dealt(*shape[:2], how))


def beside_before(now, before, given, want, operations):
    """Both programs in turns, over sets of arguments."""
    ours, theirs = ([torch.full(y.shape, float("nan"), device="cuda", dtype=torch.bfloat16) for y in want] for _ in range(2))
    now(*given[0], *ours)
    error = max(R.error_of(got, y) for got, y in zip(ours, want))
    sets = len(given)
    calls = sets * max(1, min(round(400 / sets), round(20e-3 / (operations * 1.5e-15) / sets)))
    return *R.side_by_side(lambda i: now(*given[i % sets], *ours), {"before": lambda i: before(*given[i % sets], *theirs)}, calls), error


def pair(now, before, name, m, n, k):
    f = {"gate_up": R.gate_up, "keys_values": R.keys_values}[name]
    given = [[R.normal(m, k) * 4 / k**0.5, R.normal(n, k), R.normal(n, k)] for _ in range(1 + int(4 * R.L2 / (2 * (m * k + 2 * n * k))))]
    return beside_before(now, before, given, R.results(f, [t.float() for t in given[0]]), 4 * m * n * k)


def eight(now, before, m, n, k):
    given = [[R.normal(*shape).to(torch.float8_e4m3fn) for shape in ((m, k), (n, k))] for _ in range(1 + int(4 * R.L2 / (m * k + n * k)))]
    return beside_before(now, before, given, [given[0][0].float() @ given[0][1].float().t()], 2 * m * n * k)


def step(now, sequences):
    WEIGHTS.update(WEIGHTS or decode_step.weights(torch))
    ms, error = decode_step.step_time(R, now, WEIGHTS, sequences)
    return ms, {}, error


def images(now, name, shape):
    return convolution.measure(now, name, shape)[:3]


def short(now, name, r, c):
    return triple(R.bound_by_memory(now, name, r, c))


# ---- two ranks, a process each ----

CALLS, ROUNDS = 10, 9  # calls of a graph; times of which the median is taken, after one that does not count


def captured(call):
    for i in range(3):
        call(i)
    torch.cuda.synchronize()
    dist.barrier()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
        for i in range(CALLS):
            call(i)
    torch.cuda.synchronize()
    dist.barrier()
    return graph


def slower(microseconds):
    t = torch.tensor([microseconds], device="cuda")
    dist.all_reduce(t, dist.ReduceOp.MAX)
    return t.item()


def in_turns(calls):
    graphs, times = {name: captured(call) for name, call in calls.items()}, {name: [] for name in calls}
    for turn in range(ROUNDS + 1):
        for name, graph in graphs.items():
            dist.barrier()
            torch.cuda.synchronize()
            us = slower(R.microseconds(graph, CALLS))
            if turn:
                times[name].append(us)
    return {name: statistics.median(us) for name, us in times.items()}


def link(there, here):
    """Both ranks copy to the other at once, by the copy engines: no graph takes copies between two devices."""
    times = []
    for _ in range(ROUNDS + 1):
        dist.barrier()
        torch.cuda.synchronize()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(CALLS):
            there.copy_(here, non_blocking=True)
        end.record()
        end.synchronize()
        times.append(slower(begin.elapsed_time(end) * 1e3 / CALLS))
    return statistics.median(times[1:])


def checked(call, made, want):
    """The error behind several runs, of the last one, of the worse rank."""
    for i in range(5):
        made.fill_(float("nan"))
        call(4 - i)
    torch.cuda.synchronize()
    return slower(R.error_of(made, want.float()))


def of_both(calls, ours, made, want):
    error = checked(ours, made, want)
    times = in_turns({"ours": ours, **calls})
    return times.pop("ours"), times, error


def ag_gemm(now, one, m, n, k):
    rank = dist.get_rank()
    full = R.normal(m, k)
    dist.broadcast(full, 0)
    own = full[rank * m // 2:(rank + 1) * m // 2].contiguous()
    b, c, d, gathered = [R.normal(k, n) for _ in range(2)], *(torch.empty(m, n, device="cuda", dtype=torch.bfloat16) for _ in range(2)), torch.empty_like(full)

    def nccl(i):
        dist.all_gather_into_tensor(gathered, own)
        torch.mm(gathered, b[i % 2], out=d)

    return of_both({"alone": lambda i: one(full, b[i % 2], d), "NCCL and cuBLAS": nccl}, lambda i: now(own, b[i % 2], c), c, full.float() @ b[0].float())


def gemm_rs(now, one, m, n, k):
    rank = dist.get_rank()
    a, b = R.normal(m, k), [R.normal(k, n) for _ in range(4)]
    part, (c, d) = torch.empty(m, n, device="cuda", dtype=torch.bfloat16), (torch.empty(m // 2, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    there = torch.empty(m // 2, n, device=torch.device("cuda", 1 - rank), dtype=torch.bfloat16)
    whole = a.float() @ b[0].float()
    dist.all_reduce(whole)

    def nccl(i):
        torch.mm(a, b[i % 4], out=part)
        dist.reduce_scatter_tensor(d, part)

    calls = {"alone": lambda i: one(a, b[i % 4], part), "NCCL and cuBLAS": nccl}
    ours, times, error = of_both(calls, lambda i: now(a, b[i % 4], c), c, whole[rank * m // 2:(rank + 1) * m // 2])
    return ours, {**times, "link": link(there, c)}, error
