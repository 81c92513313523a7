#!/usr/bin/env python3
"""usage: cache.py build BUILD FOLDER [ROW ..]: compiles cache.tile and decode.tile for the rows below.
cache.py FOLDER [-o FILE] [--commit=NAME]: attention of new tokens against caches, beside PyTorch's attention over the same keys in one piece, and a
Triton kernel for latent caches; values against f32. Microseconds of a call in a CUDA graph, medians, in turns (run.py). One JSON line a row."""
import os
import shutil
import subprocess
import sys

LATENT, ROTARY, SCALE = 512, 64, 0.07216878
# name: file, program, sizes
ROWS = {
    "text": ("decode", "decode", dict(B=8, H=32, G=8, S=8192)),
    "text_pages16": ("decode", "decode_paged", dict(B=8, H=32, G=8, S=8192)),
    "queries1": ("cache", "few", dict(B=16, N=1, R=4)),
    "queries4": ("cache", "few", dict(B=16, N=4, R=16)),
    "queries8": ("cache", "few", dict(B=16, N=8, R=32)),
    "pages1": ("cache", "pages", dict(B=16, N=1, R=4, U=1)),
    "pages16": ("cache", "pages", dict(B=16, N=1, R=4, U=16)),
    "pages64": ("cache", "pages", dict(B=16, N=1, R=4, U=64)),
    "pages64_queries8": ("cache", "pages", dict(B=16, N=8, R=32, U=64)),
    "latent": ("cache", "latent", dict(B=132, S=4096)),
    "latent_few": ("cache", "latent", dict(B=16, S=8192)),
    "latent_16heads": ("cache", "latent", dict(B=132, S=4096, H=16)),
    "latent_pages64": ("cache", "latent_pages", dict(B=132, S=4096, U=64)),
    "prompt": ("cache", "prompt", dict(B=1, S=4096)),
}
DEFAULT = dict(B=16, G=8, R=4, H=128, N=1, S=8192, D=128, U=64)


def build(folder, into, names):
    here = os.path.dirname(os.path.abspath(__file__))
    os.makedirs(into, exist_ok=True)
    shutil.copy(f"{folder}/libtile.so", into)
    for name in names or ROWS:
        file, program, sizes = ROWS[name]
        defines = [x for k, v in sizes.items() for x in ("-D", f"{k}={v}")]
        subprocess.run([f"{folder}/bin/tilec", "compile", f"{here}/{file}.tile", f"--program={program}", "--target=sm_90a", "--emit=lib", *defines, "-o", f"{into}/{name}"], check=True)


def grouped(R, torch, F, run, at, program, n):
    """Queries of groups of heads; a cache in pages is given to the peer as if they were in order."""
    b, g, r, s, d, u = (n[x] for x in "BGRSDU")
    paged, text = program in ("pages", "decode_paged"), program.startswith("decode")
    u = 16 if text else u
    r = n["H"] // g if text else r
    moved = 4 * b * s * g * d
    sets = 1 + int(4 * R.L2 / moved)
    heads = text or paged  # [.., place, head, width]
    shape = (b, s, g, d) if heads else (b, g, s, d)
    q, at = R.normal(b, g, r, d), torch.full((b,), s - n["N"], device="cuda", dtype=torch.int32)
    k, v = ([R.normal(*shape) for _ in range(sets)] for _ in range(2))
    table = torch.randperm(b * s // u, device="cuda", dtype=torch.int32).view(b, -1)
    seen = lambda x: x.view(-1, u, g, d)[table.long()].view(b, s, g, d) if paged else x
    order = lambda x: x.transpose(1, 2) if heads else x
    o = torch.full_like(q, float("nan"))
    ours = lambda i: run(q, k[i % sets], v[i % sets], *([table] if paged else []), at, o)
    ours(0)
    rows = torch.arange(r, device="cuda") // (r // n["N"])
    mask = torch.arange(s, device="cuda") <= s - n["N"] + rows[:, None]
    x = (q.float() @ order(seen(k[0])).float().transpose(-1, -2) / d**0.5).masked_fill(~mask, float("-inf"))
    error = R.error_of(o, x.softmax(-1) @ order(seen(v[0])).float())
    peer = lambda i: F.scaled_dot_product_attention(q, order(k[i % sets]), order(v[i % sets]))
    return ours, {"sdpa": peer}, error, sets * max(1, round(2e9 / moved / sets)), moved, 4 * b * g * r * s * d


def latent(R, torch, triton_peers, run, program, n):
    b, h, s, u = (n[x] for x in "BHSU")
    d, paged = LATENT + ROTARY, program == "latent_pages"
    moved = 2 * b * s * d
    sets = 1 + int(4 * R.L2 / moved)
    q, at = R.normal(b, h, d), torch.full((b,), s - 1, device="cuda", dtype=torch.int32)
    c = [R.normal(b, s, d) for _ in range(sets)]
    table = torch.randperm(b * s // u, device="cuda", dtype=torch.int32).view(b, -1)
    seen = (c[0].view(-1, u, d)[table.long()].view(b, s, d) if paged else c[0])
    o, theirs = (torch.full((b, h, LATENT), float("nan"), device="cuda", dtype=torch.bfloat16) for _ in range(2))
    ours = lambda i: run(q, c[i % sets], *([table] if paged else []), at, o)
    ours(0)
    some = torch.tensor([0, b // 2, b - 1], device="cuda")
    x = q[some].float() @ seen[some].float().transpose(-1, -2) * SCALE
    want = x.softmax(-1) @ seen[some, :, :LATENT].float()
    error = R.error_of(o[some], want)
    peer = triton_peers and triton_peers.latent(q, c, theirs, SCALE, LATENT)
    if peer:
        peer(0)
        print("  triton error", R.error_of(theirs[some], (q[some].float() @ c[0][some].float().transpose(-1, -2) * SCALE).softmax(-1) @ c[0][some, :, :LATENT].float()))
    flop = 2 * b * h * s * (d + LATENT)
    return ours, {"triton": peer}, error, sets * max(1, round(2e9 / max(moved, flop / 250) / sets)), moved, flop


def prompt(R, torch, F, run, n):
    b, h, s = (n[x] for x in "BHS")
    q, k, v = R.normal(b, h, s, 192), R.normal(b, h, s, 192), R.normal(b, h, s, 128)
    o = torch.full_like(v, float("nan"))
    ours = lambda i: run(q, k, v, o)
    ours(0)
    rows = torch.randint(s, (16,), device="cuda")
    x = (q[:, :, rows].float() @ k.float().transpose(-1, -2) / 192**0.5).masked_fill(torch.arange(s, device="cuda") > rows[:, None], float("-inf"))
    error = R.error_of(o[:, :, rows], x.softmax(-1) @ v.float())
    peer = lambda i: F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return ours, {"sdpa": peer}, error, 2, 0, b * h * s * s * (192 + 128)


def main():
    if sys.argv[1:2] == ["build"]:
        return build(sys.argv[2], sys.argv[3], sys.argv[4:])
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel

    import run as R

    try:
        import triton_peers
    except ImportError:
        triton_peers = None
    o, mesh = R.begin()
    for name, (_, program, sizes) in ROWS.items():
        path = f"{o.folder}/{name}/lib{program}.so"
        if not os.path.exists(path):
            continue
        n = DEFAULT | sizes
        run = mesh.program(path, program)
        made = latent(R, torch, triton_peers, run, program, n) if program.startswith("latent") else prompt(R, torch, F, run, n) if program == "prompt" else grouped(R, torch, F, run, None, program, n)
        ours, peers, error, calls, moved, flop = made
        with sdpa_kernel([SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION], set_priority=True):
            us, theirs = R.side_by_side(ours, peers, calls)
        shape = " ".join(f"{k}{v}" for k, v in sizes.items())
        R.append(o.o, R.about(o.commit, "cache " + name, shape, us, theirs, error) | dict(command="bench/gpu/cache.py FOLDER"))
        more = "  ".join(f"{k} {v:.1f} ({v / us:.2f})" for k, v in theirs.items())
        print(f"{name:18} {shape:28} {us:8.1f} us  {moved / us * 1e-6:5.2f} TB/s {flop / us * 1e-6:6.1f} TFLOP/s  {more}  error {error:.0e}", flush=True)
        del made, ours, peers, run
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
