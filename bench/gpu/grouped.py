#!/usr/bin/env python3
"""usage: grouped.py FOLDER [-o FILE] [--commit=NAME]: programs of grouped.tile, compiled into FOLDER/ExMxNxK (--emit=lib), beside
torch._grouped_mm on this GPU: rows dealt out evenly, unevenly, and to a few groups alone; values against f32 on sampled rows.
Microseconds of a call in a CUDA graph, medians, in turns (run.py). One JSON line a row."""
import os

import torch
import torch.nn.functional as F

import run as R
from shapes import DEALT, GROUPED

TOKENS, EXPERTS = 1024, 8  # that rows are gathered of; of a token, where its rows are summed


def dealt(e, m, how):
    """Where groups end."""
    share = {"even": torch.ones(e), "uneven": torch.rand(e) ** 3, "few": (torch.rand(e) < 0.25).float() + (torch.arange(e) == 0)}[how]
    ends = (share.cumsum(0) / share.sum() * m).round().int()
    ends[-1] = m
    return ends.cuda()


def groups_of(ends, rows):
    return torch.searchsorted(ends.long(), rows, right=True)


def plain(run, e, m, n, k, ends):
    x, w = R.normal(m, k), R.normal(e, n, k)
    start = torch.cat([torch.zeros(1, dtype=torch.int32, device="cuda"), ends])
    y, z = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16), None
    run(x, w, start, y)
    rows = torch.randint(m, (64,), device="cuda")
    rows[0], rows[1] = 0, m - 1
    want = torch.einsum("rk,rnk->rn", x[rows].float(), w[groups_of(ends, rows)].float())
    peer = lambda i: torch._grouped_mm(x, w.transpose(-2, -1), offs=ends)
    ours, peers = R.side_by_side(lambda i: run(x, w, start, y), {"torch._grouped_mm": peer}, 4)
    return ours, peers, R.error_of(y[rows], want)


def fused(run, e, m, n, k, ends):
    x, gate, up = R.normal(TOKENS, k), R.normal(e, n, k), R.normal(e, n, k)
    start = torch.cat([torch.zeros(1, dtype=torch.int32, device="cuda"), ends])
    at = torch.randint(TOKENS, (m,), device="cuda", dtype=torch.int32)
    y = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
    run(x, at, gate, up, start, y)
    rows = torch.randint(m, (64,), device="cuda")
    rows[0], rows[1] = 0, m - 1
    g, v = groups_of(ends, rows), x[at[rows].long()].float()
    want = F.silu(torch.einsum("rk,rnk->rn", v, gate[g].float())) * torch.einsum("rk,rnk->rn", v, up[g].float())

    def peer(i):
        v = x.index_select(0, at)
        return F.silu(torch._grouped_mm(v, gate.transpose(-2, -1), offs=ends)) * torch._grouped_mm(v, up.transpose(-2, -1), offs=ends)

    ours, peers = R.side_by_side(lambda i: run(x, at, gate, up, start, y), {"torch, 5 calls": peer}, 4)
    return ours, peers, R.error_of(y[rows], want)


def scattered(run, e, m, n, k, ends):
    """Each token's sum of the weighted rows at its eight places, in the order of its experts; the peer adds in any order."""
    x, w, weight, tokens = R.normal(m, k), R.normal(e, n, k), torch.rand(m // EXPERTS, EXPERTS, device="cuda"), m // EXPERTS
    start = torch.cat([torch.zeros(1, dtype=torch.int32, device="cuda"), ends])
    at = torch.randperm(m, device="cuda") % tokens # the token of each row
    place = at.argsort(stable=True).int().view(tokens, EXPERTS)
    flat = torch.empty(m, device="cuda").scatter_(0, place.view(-1).long(), weight.view(-1))
    y, z = torch.full((tokens, n), float("nan"), device="cuda"), torch.zeros(tokens, n, device="cuda")
    run(x, w, place, weight, start, y)
    peer = lambda i: z.zero_().index_add_(0, at, torch._grouped_mm(x, w.transpose(-2, -1), offs=ends).float() * flat[:, None])
    want = torch.zeros(tokens, n, device="cuda")
    for g, rows in enumerate(torch.arange(m, device="cuda").tensor_split(ends[:-1].cpu().long())):
        want.index_add_(0, at[rows], (x[rows].float() @ w[g].float().t()) * flat[rows, None])
    ours, peers = R.side_by_side(lambda i: run(x, w, place, weight, start, y), {"torch, 4 calls": peer}, 4)
    return ours, peers, R.error_of(y, want)


WORKS = {"grouped": (plain, 1), "gathered": (fused, 2), "scattered": (scattered, 1)}


def main():
    o, mesh = R.begin()
    for e, m, n, k in GROUPED:
        for name, (measure, products) in WORKS.items():
            path = f"{o.folder}/{e}x{m}x{n}x{k}/lib{name}.so"
            for how in DEALT if os.path.exists(path) else ():
                try:
                    ours, peers, error = measure(mesh.program(path, name), e, m, n, k, dealt(e, m, how))
                except Exception as x: # the other rows go on
                    print(f"{name} {e}x{m}x{n}x{k} {how}: {repr(x)[:150]}", flush=True)
                    continue
                R.append(o.o, R.about(o.commit, f"{name} {how}", f"{e}x{m}x{n}x{k}", ours, peers, error))
                peer = next(iter(peers.values()))
                print(f"{name:9} {e:4}x{m}x{n}x{k} {how:7} {ours:8.1f} us {2e-6 * products * m * n * k / ours:6.0f} TF, peer {peer:8.1f} ({peer / ours:.2f}), error {error:.0e}", flush=True)


if __name__ == "__main__":
    main()
