#!/usr/bin/env python3
"""usage: attention_variants.py build BUILD FOLDER [SxD ..]: compiles attention_variants.tile and attention.tile, S keys of D elements, and a window of S / 4.
attention_variants.py FOLDER [-o FILE] [--commit=NAME]: these beside PyTorch's FlexAttention; values against f32 on sampled rows. A process for each
program, as FlexAttention compiles for seconds; one at a time measures: microseconds of a call in a CUDA graph, medians, in turns (run.py),
the plain attention of these sizes among them. `tile`: its time for a tile of 128 queries and keys, by the variant's. One JSON line a row."""
import argparse
import fcntl
import os
import re
import shutil
import subprocess
import sys

if sys.argv[1:2] != ["build"]:
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    import run as R

B, H, TILE = 1, 32, 128
WIDEST = 128  # elements of a row, for which two levels' steps of TILE keys have room in registers
SHORT = 16  # keys of a short loop's step
CAP, SINKS = 30.0, 4
MOST_SECONDS = 60  # of all processes
SIZES = [*(f"4096x{d}" for d in (64, 96, 128, 192, 256)), "16384x128"]


def causal(b, h, q, k):
    return q >= k


def capped(x, b, h, q, k):
    return CAP * torch.tanh(x / CAP)


def two_levels(x):
    """Each TILE keys have a softmax of their own, and share it by a softmax of their largest scores."""
    own = x.unflatten(-1, (-1, TILE))
    return (own.softmax(-1).nan_to_num() * own.amax(-1).softmax(-1)[..., None]).flatten(-2)


class Case:
    """What a program computes: a function of scores, a mask, the first and past key that rows from i on see; `more`: arguments."""

    def __init__(self, s, d, name):
        self.s, self.scale, self.more, self.score, self.mask = s, d**-0.5, [], None, None
        self.soft = None  # in place of a softmax: FlexAttention has none such
        self.causal = not name.endswith("_full")
        if self.causal:
            self.mask = causal
        self.spans = lambda i: [(0, i + TILE if self.causal else s)]
        getattr(self, name.split("_")[0], lambda: None)()

    def cap(self):
        self.score = capped

    def alibi(self):
        slope = 2 ** (-8 * torch.arange(1, H + 1, device="cuda") / H)
        self.more, self.score = [slope], lambda x, b, h, q, k: x - slope[h] * (q - k).abs()

    def t5(self):
        far, s = torch.randn(H, 2 * self.s, device="cuda"), self.s
        self.scale, self.more, self.score = 1.0, [far], lambda x, b, h, q, k: x + far[h, s + q - k]

    def window(self):
        w = self.s // 4
        self.mask = lambda b, h, q, k: (q >= k) & ((q - k < w) | (k < SINKS))
        self.spans = lambda i: [(0, min(SINKS, i - w + 1)), (max(0, i - w + 1), i + TILE)]

    def documents(self):
        g = torch.Generator().manual_seed(1)
        cuts = [0, *sorted(torch.randperm(self.s - 1, generator=g)[:11].add(1).tolist()), self.s]
        length = torch.tensor([b - a for a, b in zip(cuts, cuts[1:])])
        first, past = (torch.tensor(x, dtype=torch.int32).repeat_interleave(length).cuda() for x in (cuts[:-1], cuts[1:]))
        self.more, lo, hi = [first, past], first.tolist(), past.tolist()
        own = lambda b, h, q, k: first[q] == first[k]
        self.mask = (lambda b, h, q, k: own(b, h, q, k) & (q >= k)) if self.causal else own
        self.spans = lambda i: [(lo[i], i + TILE if self.causal else hi[i + TILE - 1])]

    def prefix(self):
        n = self.s // 3
        prefix = torch.full((B,), n, device="cuda", dtype=torch.int32)
        self.more, self.mask = [prefix], lambda b, h, q, k: (q >= k) | (k < prefix[b])
        self.spans = lambda i: [(0, max(i + TILE, n))]

    def levels(self):
        self.soft = two_levels

    def tiles(self):
        """Of TILE keys; short loops have parts of one."""
        lengths = [hi - lo for i in range(0, self.s, TILE) for lo, hi in self.spans(i)]
        return sum(-(-n // TILE) if n > SHORT else SHORT / TILE for n in lengths if n > 0)


def want(case, q, k, v, rows):
    x = q[:, :, rows].float() @ k.float().transpose(-1, -2) * case.scale
    at = (torch.zeros((), dtype=torch.long, device="cuda"), torch.arange(H, device="cuda")[:, None, None], rows[:, None], torch.arange(case.s, device="cuda"))
    x = case.score(x, *at) if case.score else x
    x = x.masked_fill(~case.mask(*at), float("-inf")) if case.mask else x
    return (case.soft or (lambda x: x.softmax(-1)))(x) @ v.float()


def measure(folder, shape, name):
    s, d = (int(x[1:]) for x in shape.split("_")[:2])
    case, mesh = Case(s, d, name), R.Mesh(folder)
    program = lambda n: mesh.program(f"{folder}/{shape}/lib{n}.so", n)
    q, k, v = (R.normal(B, H, s, d) for _ in range(3))
    q = q * d**-0.5 if case.scale == 1 else q
    o, plain = torch.full_like(q, float("nan")), torch.empty_like(q)
    base = "attention_causal" if case.causal else "attention_full"
    ours, usual = program(name), program(base)
    mask = create_block_mask(case.mask, None, None, s, s, device="cuda") if case.mask else None
    flex = torch.compile(flex_attention, dynamic=False)
    peer = lambda i: flex(q, k, v, score_mod=case.score, block_mask=mask, scale=case.scale)
    rows = torch.randint(s, (64,), device="cuda")
    rows[0], rows[1] = 0, s - 1
    right = want(case, q, k, v, rows)
    theirs = float("nan")
    try:
        theirs = 0.0 if case.soft else R.error_of(peer(0)[:, :, rows], right)
    except Exception as refused:  # widths that FlexAttention has no kernel for: our row stays
        print(f"{shape} {name}: FlexAttention: {str(refused).strip().splitlines()[-1][:160]}", flush=True)
    with open(f"{folder}/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ours(q, k, v, *case.more, o)
        error = R.error_of(o[:, :, rows], right)
        us, peers = R.side_by_side(lambda i: ours(q, k, v, *case.more, o), {"flex": peer if theirs > 0 else None, "plain": lambda i: usual(q, k, v, plain)}, 4)
    rel = peers["plain"] / (Case(s, d, base).tiles() if base != name else case.tiles()) / (us / case.tiles())
    return us, peers, error, theirs, rel


def one(o):
    torch.manual_seed(0)
    torch.cuda.set_stream(torch.cuda.Stream())
    shape, name = o.one.split("/")
    us, peers, error, theirs, rel = measure(o.folder, shape, name)
    line = R.about(o.commit, name, shape, us, peers, error) | dict(command="bench/gpu/attention_variants.py FOLDER", tile=round(rel, 3))
    R.append(o.o, line)
    print(f"{shape:14} {name:18} {us:7.1f} us, FlexAttention {peers.get('flex', 0):7.1f} ({peers.get('flex', 0) / us:.2f}), plain {peers['plain']:7.1f}, tile {rel:.3f}, error {error:.0e} ({theirs:.0e})", flush=True)


def build(folder, into, sizes):
    here = os.path.dirname(os.path.abspath(__file__))
    os.makedirs(into, exist_ok=True)
    shutil.copy(f"{folder}/libtile.so", into)
    for s, d in (map(int, size.split("x")) for size in sizes or SIZES):
        for file, more in (("attention", []), ("attention_variants", ["-D", f"W={s // 4}"])):
            for name in re.findall(r"^program (\w+)", open(f"{here}/{file}.tile", encoding="utf-8").read(), re.MULTILINE):
                if name.startswith("levels") and d > WIDEST:
                    continue
                command = [f"{folder}/bin/tilec", "compile", f"{here}/{file}.tile", f"--program={name}", "--target=sm_90a", "--emit=lib", "-D", f"S={s}", "-D", f"D={d}", *more]
                subprocess.run([*command, "-o", f"{into}/S{s}_D{d}"], check=True)


def main():
    if sys.argv[1:2] == ["build"]:
        return build(sys.argv[2], sys.argv[3], sys.argv[4:])
    p = argparse.ArgumentParser()
    p.add_argument("folder"), p.add_argument("-o"), p.add_argument("--commit", default=""), p.add_argument("--one")
    o = p.parse_args()
    if o.one:
        return one(o)
    found = sorted(f"{s}/{f[3:-3]}" for s in os.listdir(o.folder) if s.count("_D") for f in os.listdir(f"{o.folder}/{s}") if f.endswith(".so"))
    wanted = [x for x in found if not x.split("/")[1].startswith("attention_")]
    us = os.environ | {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
    running = [subprocess.Popen([sys.executable, __file__, *sys.argv[1:], f"--one={x}"], env=us) for x in wanted]
    try:
        for x in running:
            x.wait(MOST_SECONDS)
    finally:
        for x in running:
            x.kill()


if __name__ == "__main__":
    main()
