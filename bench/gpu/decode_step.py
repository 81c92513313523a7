#!/usr/bin/env python3
"""decode_step.py build BUILD FOLDER; decode_step.py FOLDER [-o FILE] [--commit C]: a decoding step of Qwen3-8B (decode_step.tile) at
batch 1 and 8, with random weights: its time in a CUDA graph, and its logits against the same step in PyTorch. The sums of both are of
16-bit operands, rounded at other places: over 36 layers logits differ by some percent of their norm."""
import argparse, datetime, json, os, statistics, subprocess, sys

LAYERS, WIDTH, HIDDEN, HEADS, KEYS, HEAD, WORDS, PLACES = 36, 4096, 12288, 32, 8, 128, 151936, 2048
BATCHES = (1, 8)


def build(folder, to):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "decode_step.tile")
    for b in BATCHES:
        subprocess.run([f"{folder}/bin/tilec", "compile", source, "--target=sm_90a", "--emit=lib", "-o", f"{to}/decode_step_{b}", "-D", f"B={b}", "-D", f"S={PLACES}"], check=True)
    subprocess.run(["cp", f"{folder}/libtile.so", to], check=True)


def weights(torch):
    def random(*shape):
        t = torch.empty(*shape, device="cuda", dtype=torch.bfloat16)
        for part in t if t.dim() == 3 else t[None]:
            part.normal_(0, shape[-1] ** -0.5)
        return t

    near_one = lambda *shape: (1 + 0.1 * torch.randn(*shape, device="cuda")).bfloat16()
    return {"emb": random(WORDS, WIDTH), "norm1": near_one(LAYERS, WIDTH), "wqkv": random(LAYERS, (HEADS + 2 * KEYS) * HEAD, WIDTH), "nq": near_one(LAYERS, HEAD), "nk": near_one(LAYERS, HEAD),
            "wo": random(LAYERS, WIDTH, HEADS * HEAD), "norm2": near_one(LAYERS, WIDTH), "wg": random(LAYERS, HIDDEN, WIDTH), "wu": random(LAYERS, HIDDEN, WIDTH), "wd": random(LAYERS, WIDTH, HIDDEN),
            "norm": near_one(WIDTH), "head": random(WORDS, WIDTH)}


def reference(torch, w, ids, at, kc, vc):
    """The same step, layer by layer."""
    b, x, half = ids.numel(), w["emb"][ids.long()], HEAD // 2
    angle = at[:, None, None] * 1e6 ** (torch.arange(half, device="cuda") / -half)
    scaled = lambda y, eps: y.float() * torch.rsqrt(y.float().square().mean(-1, keepdim=True) + eps)
    turned = lambda y: torch.cat((y[..., :half] * angle.cos() - y[..., half:] * angle.sin(), y[..., :half] * angle.sin() + y[..., half:] * angle.cos()), -1).bfloat16()
    norm = lambda y, g: (scaled(y, 1e-5) * g.float()).bfloat16()
    for l in range(LAYERS):
        qkv = (norm(x, w["norm1"][l]) @ w["wqkv"][l].t()).view(b, HEADS + 2 * KEYS, HEAD)
        q = turned(scaled(qkv[:, :HEADS], 1e-6) * w["nq"][l].float())
        k, v, rows = kc[l].clone(), vc[l].clone(), torch.arange(b)
        k[rows, at.long()] = turned(scaled(qkv[:, HEADS:HEADS + KEYS], 1e-6) * w["nk"][l].float())
        v[rows, at.long()] = qkv[:, HEADS + KEYS:]
        scores = torch.einsum("bgrd,bsgd->bgrs", q.float().view(b, KEYS, -1, HEAD), k.float()) / HEAD**0.5
        o = torch.einsum("bgrs,bsgd->bgrd", scores.softmax(-1), v.float()).bfloat16().view(b, -1)
        x = ((o @ w["wo"][l].t()).float() + x.float()).bfloat16()
        n = norm(x, w["norm2"][l])
        h = (torch.nn.functional.silu((n @ w["wg"][l].t()).float()) * (n @ w["wu"][l].t()).float()).bfloat16()
        x = ((h @ w["wd"][l].t()).float() + x.float()).bfloat16()
    return (norm(x, w["norm"]) @ w["head"].t()).float()


def step_time(bench, step, w, b):
    """Milliseconds of a step, and how far its logits are from PyTorch's."""
    torch = bench.torch
    kc, vc = (torch.randn(LAYERS, b, PLACES, KEYS, HEAD, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    ids = torch.randint(WORDS, (b,), device="cuda", dtype=torch.int32)
    at = torch.full((b,), PLACES - 1, device="cuda", dtype=torch.int32)
    want, logits = reference(torch, w, ids, at, kc, vc), torch.full((b, WORDS), float("nan"), device="cuda", dtype=torch.bfloat16)
    graph = bench.graph(lambda i: step(ids, at, *w.values(), kc, vc, logits), 1)
    return statistics.median([bench.microseconds(graph, 1) for _ in range(30)][5:]) / 1e3, bench.error_of(logits, want)


def measure(options):
    import torch
    import run as bench

    torch.manual_seed(0)
    torch.cuda.set_stream(torch.cuda.Stream())
    mesh, w = bench.Mesh(options.folder), weights(torch)
    for b in BATCHES:
        ms, error = step_time(bench, mesh.program(f"{options.folder}/decode_step_{b}/libdecode_step.so", "decode_step"), w, b)
        row = {"work": "decode step of Qwen3-8B", "shape": f"batch {b}, {PLACES} places", "dtype": "bf16", "gpu": torch.cuda.get_device_name(), "ours_us": round(1e3 * ms, 1),
               "rel_err": round(error, 4), "commit": options.commit, "date": str(datetime.date.today())}
        print(json.dumps(row), file=options.output, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["build"]:
        build(*sys.argv[2:4])
    else:
        parser = argparse.ArgumentParser()
        parser.add_argument("folder")
        parser.add_argument("-o", dest="output", type=argparse.FileType("a"), default=sys.stdout)
        parser.add_argument("--commit", default="")
        measure(parser.parse_args())
