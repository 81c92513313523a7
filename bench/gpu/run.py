#!/usr/bin/env python3
"""run.py FOLDER [-o FILE] [--only=WORD] [--triton]: programs compiled into FOLDER (build.sh) beside cuBLAS, cuDNN, PyTorch's own
compiler and Triton on this GPU.

Each row: a CUDA graph of several calls that rotate over input sets larger than the L2, ours and the peers' in turns
(there and back) on the same random data, medians; values against f32 arithmetic on sampled rows. The floor is the larger of
the operations at the machine's nominal rate and of the bytes at the rate measured in this run. One JSON line a row and peer."""
import argparse, ctypes, dataclasses, datetime, json, os, statistics, torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from shapes import ATTENTION, BATCHED, DECODE, GEMM, GEMM8, GEMM8_BLOCKS, ROWS, SIBLINGS, SIZED

L2 = 60e6
triton_peers = None
PEAK = {"bf16": 989e6, "f8e4m3": 1979e6}  # operations a microsecond, NVIDIA's data sheet of the H200, dense


def stream():
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


def normal(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def graph(call, calls):
    for i in range(3):
        call(i)
    torch.cuda.synchronize()
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        for i in range(calls):
            call(i)
    return g


def microseconds(g, calls):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    g.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3 / calls


def side_by_side(ours, peers, calls):
    """Microseconds of a call of ours, and of each peer by its name. A peer that is None does not take these shapes."""
    peers = {name: f for name, f in peers.items() if f}
    graphs = [graph(f, calls) for f in [ours, *peers.values()]]
    for g in graphs * 3:
        microseconds(g, calls)
    times = [[] for _ in graphs]
    for turn in [*range(len(graphs)), *reversed(range(len(graphs)))] * 8:
        times[turn].append(microseconds(graphs[turn], calls))
    first, *rest = map(statistics.median, times)
    return first, dict(zip(peers, rest))


@dataclasses.dataclass
class Row:
    """What a program took, and what it had to do; one that only reads is judged by the rate of reading."""
    ours: float
    peers: dict
    error: float
    operations: int
    moved: int
    reads: bool = False


def error_of(got, want):
    return ((got.float() - want).norm() / want.norm()).item()


def append(path, row):
    """A JSON line; no path: nothing."""
    if path:
        with open(path, "a", encoding="utf-8") as to:
            to.write(json.dumps(row) + "\n")


def about(commit, work, shape, ours, peers, error):
    return dict(date=str(datetime.date.today()), gpu=torch.cuda.get_device_name(), commit=commit, work=work, shape=shape, us=round(ours, 2),
                peers={name: round(us, 2) for name, us in peers.items()}, error=error)


class Config(ctypes.Structure):
    """tile_mesh_config of runtime/include/tile.h"""
    _fields_ = [("size", ctypes.c_size_t), ("rank", ctypes.c_int), ("nranks", ctypes.c_int), ("device", ctypes.c_int), 
                ("allgather", ctypes.c_void_p), ("ctx", ctypes.c_void_p), ("workers", ctypes.c_int), ("timeout_ms", ctypes.c_int),
                ("group", ctypes.c_char_p), ("target", ctypes.c_char_p)]


class Mesh:
    def __init__(self, folder, ranks=1, group=None, older=False):
        """Of one rank; of several: a process each, by the launcher's variables. `older`: by the runtime of another version, which is opened before that of today:
        the loader gives programs the first library of a name, and then their own names before everybody's."""
        torch.empty(1, device="cuda")
        self.mode = ctypes.RTLD_LOCAL | os.RTLD_DEEPBIND if older else ctypes.DEFAULT_MODE
        self.tile = ctypes.CDLL(os.path.join(folder, "libtile.so"), mode=self.mode if older else ctypes.RTLD_GLOBAL)
        self.tile.tile_last_error.restype = ctypes.c_char_p
        self.mesh = ctypes.c_void_p()
        config = Config(size=ctypes.sizeof(Config), nranks=1 if ranks == 1 else 0, device=torch.cuda.current_device(), timeout_ms=3000 if ranks > 1 else 0, group=group, target=b"gpu")
        self.check(self.tile.tile_mesh_open(ctypes.byref(config), ctypes.byref(self.mesh)))

    def check(self, code):
        if code:
            raise SystemExit(self.tile.tile_last_error().decode())

    def program(self, path, name):
        """A function that enqueues a run on the current stream."""
        library, instance = ctypes.CDLL(path, mode=self.mode), ctypes.c_void_p()
        self.check(getattr(library, name + "_open")(self.mesh, None, ctypes.byref(instance)))
        run = getattr(library, name + "_run")
        words = lambda given: (ctypes.c_void_p * len(given))(*(x if isinstance(x, int) else x.data_ptr() for x in given))
        return lambda *given: self.check(run(instance, words(given), stream()))  # tensors, and behind them sizes


def begin():
    """Of a bench that is called with a FOLDER of libraries: its options (-o, --commit), and the mesh that runs them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder"), parser.add_argument("-o"), parser.add_argument("--commit", default="")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.cuda.set_stream(torch.cuda.Stream())
    return options, Mesh(options.folder)


def agree(peer, got, want):
    """A peer computes the same."""
    if peer:
        peer(0)
        assert error_of(got, want.float()) < 1e-2, "a peer computes something else"
    return peer


def gemm(run, m, n, k, nn):
    sets = 1 + int(4 * L2 / (2 * (m * k + n * k)))
    a, b = [normal(m, k) for _ in range(sets)], [normal(k, n) if nn else normal(n, k) for _ in range(sets)]
    c, d = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16), torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    ours = lambda i: run(a[i % sets], b[i % sets], c)
    peer = lambda i: torch.mm(a[i % sets], b[i % sets] if nn else b[i % sets].t(), out=d)
    ours(0)
    rows = torch.randint(m, (256,), device="cuda")
    rows[0], rows[1] = 0, m - 1
    error = error_of(c[rows], a[0][rows].float() @ (b[0].float() if nn else b[0].float().t()))
    calls = sets * max(1, min(round(400 / sets), round(20e-3 / (m * n * k * 3e-15) / sets)))
    peers = {"cublas": peer, "triton": triton_peers and agree(triton_peers.product(list(zip(a, b)), d, nn), d, c)}
    return Row(*side_by_side(ours, peers, calls), error, 2 * m * n * k, bytes_of((a[0], b[0], c)))


def sized(run, fixed, m, n, k, given, nn):
    """`given`: the sizes that the program takes. Peers: cuBLAS, and the program that has them as numbers."""
    sets = 1 + int(4 * L2 / (2 * (m * k + n * k)))
    a, b = [normal(m, k) for _ in range(sets)], [normal(k, n) if nn else normal(n, k) for _ in range(sets)]
    c, d = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16), torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    ours = lambda i: run(a[i % sets], b[i % sets], c, *given)
    ours(0)
    rows = torch.randint(m, (256,), device="cuda")
    rows[0], rows[1] = 0, m - 1
    error = error_of(c[rows], a[0][rows].float() @ (b[0].float() if nn else b[0].float().t()))
    calls = sets * max(1, min(round(400 / sets), round(20e-3 / (m * n * k * 3e-15) / sets)))
    peers = {"cublas": lambda i: torch.mm(a[i % sets], b[i % sets] if nn else b[i % sets].t(), out=d),
             "fixed": fixed and (lambda i: fixed(a[i % sets], b[i % sets], d))}
    return Row(*side_by_side(ours, peers, calls), error, 2 * m * n * k, bytes_of((a[0], b[0], c)))


def batched(run, given, x, m, n, k, fixed=None):
    sets = 1 + int(4 * L2 / (2 * x * (m * k + n * k)))
    a, b = [normal(x, m, k) for _ in range(sets)], [normal(x, k, n) for _ in range(sets)]
    c, d = torch.full((x, m, n), float("nan"), device="cuda", dtype=torch.bfloat16), torch.empty(x, m, n, device="cuda", dtype=torch.bfloat16)
    ours = lambda i: run(a[i % sets], b[i % sets], c, *given)
    ours(0)
    some = torch.tensor([0, x // 2, x - 1], device="cuda")
    error = error_of(c[some], a[0][some].float() @ b[0][some].float())
    calls = sets * max(1, round(20e-3 / (x * m * n * k * 3e-15) / sets))
    peers = {"cublas": lambda i: torch.bmm(a[i % sets], b[i % sets], out=d), "fixed": fixed and (lambda i: fixed(a[i % sets], b[i % sets], d))}
    return Row(*side_by_side(ours, peers, calls), error, 2 * x * m * n * k, bytes_of((a[0], b[0], c)))


def gemm8(run, m, n, k):
    sets, one = 1 + int(4 * L2 / (m * k + n * k)), torch.ones((), device="cuda")
    a, b = ([normal(*shape).to(torch.float8_e4m3fn) for _ in range(sets)] for shape in ((m, k), (n, k)))
    c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
    ours = lambda i: run(a[i % sets], b[i % sets], c)
    peer = lambda i: torch._scaled_mm(a[i % sets], b[i % sets].t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=False)
    ours(0)
    rows = torch.randint(m, (256,), device="cuda")
    error = error_of(c[rows], a[0][rows].float() @ b[0].float().t())
    calls = sets * max(1, round(10e-3 / (m * n * k * 3e-15) / sets))
    return Row(*side_by_side(ours, {"cublaslt": peer}, calls), error, 2 * m * n * k, bytes_of((a[0], b[0], c)))


def blocks(x, rows):
    """8-bit floats and the scales of their blocks, `rows` by 128 elements."""
    tiles = x.float().view(x.shape[0] // rows, rows, x.shape[1] // 128, 128)
    scale = tiles.abs().amax((1, 3)) / 448
    return (tiles / scale[:, None, :, None]).view(x.shape).to(torch.float8_e4m3fn), scale


def widened(x, scale, rows):
    return (x.float().view(scale.shape[0], rows, scale.shape[1], 128) * scale[:, None, :, None]).view(x.shape)


def one_of(calls, want):
    """The first of the ways to call a peer that this PyTorch takes, and that computes the same; None: there is none."""
    for call in calls:
        try:
            if error_of(call(0), want) < 1e-2:
                return call
        except (RuntimeError, TypeError, ValueError):
            pass
    return None


def gemm8_blocks(run, m, n, k):
    """Scales of 1 x 128 elements of A and of 128 x 128 of B; peers: cuBLASLt with these (where this PyTorch has it), and with one scale."""
    sets, one = 1 + int(4 * L2 / (m * k + n * k)), torch.ones((), device="cuda")
    given = [(*blocks(normal(m, k), 1), *blocks(normal(n, k), 128)) for _ in range(sets)]
    c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
    tall = [sa.t().contiguous().t() for _, sa, _, _ in given] # scales of a column lie together: so cuBLASLt wants them
    ours = lambda i: run(given[i % sets][0], given[i % sets][2], tall[i % sets], given[i % sets][3], c)
    ours(0)
    a, sa, b, sb = given[0]
    want = widened(a, sa, 1) @ widened(b, sb, 128).t()
    error = error_of(c, want)
    peer = lambda turn: lambda i: torch._scaled_mm(given[i % sets][0], given[i % sets][2].t(), tall[i % sets], turn(given[i % sets][3]), out_dtype=torch.bfloat16)
    plain = lambda i: torch._scaled_mm(given[i % sets][0], given[i % sets][2].t(), one, one, out_dtype=torch.bfloat16, use_fast_accum=False)
    peers = {"cublaslt": plain, "cublaslt blocks": one_of([peer(lambda s: s.t()), peer(lambda s: s.t().contiguous()), peer(lambda s: s.contiguous())], want)}
    calls = sets * max(1, round(10e-3 / (m * n * k * 3e-15) / sets))
    return Row(*side_by_side(ours, peers, calls), error, 2 * m * n * k, bytes_of((a, b, sa, sb, c)))


def gate_up(x, gate, up):
    return F.silu(F.linear(x, gate)) * F.linear(x, up)


def keys_values(x, k, v):
    return F.linear(x, k), F.linear(x, v)


def siblings(run, name, m, n, k):
    """Two products of one matrix, rows of the others along k; the peer is PyTorch's compiler."""
    f, sets = {"gate_up": gate_up, "keys_values": keys_values}[name], 1 + int(4 * L2 / (2 * (m * k + 2 * n * k)))
    given = [[normal(m, k) * 4 / k**0.5, normal(n, k), normal(n, k)] for _ in range(sets)]
    want = results(f, [t.float() for t in given[0]])
    made = [torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16) for _ in want]
    peer = torch.compile(f, dynamic=False)
    ours = lambda i: run(*given[i % sets], *made)
    ours(0)
    error = max(error_of(got, y) for got, y in zip(made, want))
    calls = sets * max(1, min(round(400 / sets), round(20e-3 / (2 * m * n * k * 3e-15) / sets)))
    return Row(*side_by_side(ours, {"torch.compile": lambda i: peer(*given[i % sets])}, calls), error, 4 * m * n * k, bytes_of(given[0] + made))


def attention(run, b, h, g, s, d, causal):
    q, k, v = normal(b, h, s, d), normal(b, g, s, d), normal(b, g, s, d)
    o = torch.full_like(q, float("nan"))
    ours = lambda i: run(q, k, v, o)
    peer = lambda i: F.scaled_dot_product_attention(q, k, v, is_causal=bool(causal), enable_gqa=h != g)
    ours(0)
    rows = torch.randint(s, (64,), device="cuda")
    rows[0], rows[1] = 0, s - 1
    wide = lambda x: x.float().repeat_interleave(h // g, 1)
    x = q[:, :, rows].float() @ wide(k).transpose(-1, -2) / d**0.5
    if causal:
        x = x.masked_fill(torch.arange(s, device="cuda") > rows[:, None], float("-inf"))
    error = error_of(o[:, :, rows], x.softmax(-1) @ wide(v))
    flops = 4 * b * h * s * s * d // (1 + causal)
    theirs = torch.empty_like(q)
    peers = {"cudnn": peer, "triton": triton_peers and agree(triton_peers.attention(q, k, v, theirs, causal), theirs, o)}
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return Row(*side_by_side(ours, peers, max(2, round(10e-3 / (flops * 2e-15)))), error, flops, bytes_of((q, k, v, o)))


def decode(run, b, h, g, s, d, paged=False):
    """Every place of the cache counts, for the peer too, which is given the same memory, of pages as if they were in order."""
    moved = 4 * b * s * g * d
    sets = 1 + int(4 * L2 / moved)
    q, at = normal(b, h, d), torch.full((b,), s - 1, device="cuda", dtype=torch.int32)
    k, v = ([normal(b, s, g, d) for _ in range(sets)] for _ in range(2))
    o = torch.full_like(q, float("nan"))
    table = torch.randperm(b * s // 16, device="cuda", dtype=torch.int32).view(b, -1) if paged else None
    seen = lambda x: (x.view(-1, 16, g, d)[table.long()].view(b, s, g, d) if paged else x).float()
    ours = lambda i: run(q, k[i % sets], v[i % sets], *([table] if paged else []), at, o)
    peer = lambda i: F.scaled_dot_product_attention(q[:, :, None], k[i % sets].transpose(1, 2), v[i % sets].transpose(1, 2), enable_gqa=h != g)
    ours(0)
    scores = torch.einsum("bgrd,bsgd->bgrs", q.float().view(b, g, h // g, d), seen(k[0])) / d**0.5
    error = error_of(o.view(b, g, h // g, d), torch.einsum("bgrs,bsgd->bgrd", scores.softmax(-1), seen(v[0])))
    with sdpa_kernel([SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION], set_priority=True):
        return Row(*side_by_side(ours, {"cudnn": peer}, sets * max(1, round(2e9 / moved / sets))), error, 0, moved, True)


def pairs(x, at):
    half = x.shape[-1] // 2
    angle = at[:, None, None] * 10000.0 ** (torch.arange(half, device="cuda") / -half)
    a, b = x[..., :half].float(), x[..., half:].float()
    return torch.cat((a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()), -1).bfloat16()


def residual_norm(x, r, w):
    s = x + r
    return s, rms_norm(s, w)


def rms_norm(x, w):
    v = x.float()
    return (v * torch.rsqrt((v * v).mean(-1, keepdim=True) + 1e-5) * w.float()).bfloat16()


# What a program of rows.tile computes, and the shapes of its arguments; results come behind them.
BOUND_BY_MEMORY = {
    "rms_norm": (rms_norm, lambda r, c: [(r, c), (c,)]),
    "row_softmax": (lambda x: x.float().softmax(-1).bfloat16(), lambda r, c: [(r, c)]),
    "gated": (lambda g, u: (F.silu(g.float()) * u.float()).bfloat16(), lambda r, c: [(r, c), (r, c)]),
    "turned": (lambda x: x.t().contiguous(), lambda r, c: [(r, c)]),
    "turned_pairs": (pairs, lambda r, c: [(r, c // 128, 128), r]),
    "residual_norm": (residual_norm, lambda r, c: [(r, c), (r, c), (c,)]),
}


def argument(shape):
    return torch.randint(1 << 13, (shape,), device="cuda", dtype=torch.int32) if isinstance(shape, int) else normal(*shape)


def results(f, arguments):
    y = f(*arguments)
    return y if isinstance(y, tuple) else (y,)


def bytes_of(tensors):
    return sum(t.nbytes for t in tensors)


def bound_by_memory(run, name, r, c):
    f, shapes = BOUND_BY_MEMORY[name]
    first = [argument(s) for s in shapes(r, c)]
    want = results(f, first)
    moved = bytes_of(first) + bytes_of(want)
    sets = min(64, 1 + int(4 * L2 / moved))
    given = [first] + [[argument(s) for s in shapes(r, c)] for _ in range(sets - 1)]
    made = [[torch.full_like(y, float("nan")) for y in want] for _ in range(sets)]
    peer = torch.compile(f, dynamic=False)
    ours = lambda i: run(*given[i % sets], *made[i % sets])
    ours(0)
    error = max(error_of(got, y.float()) for got, y in zip(made[0], want))
    calls = sets * max(1, round(2e9 / moved / sets))
    peers = {"torch.compile": lambda i: peer(*given[i % sets])}
    if name == "row_softmax" and triton_peers:
        theirs = torch.empty_like(first[0])
        peers["triton"] = agree(triton_peers.softmax([(g[0], theirs) for g in given]), theirs, made[0][0])
    return Row(*side_by_side(ours, peers, min(calls, 512)), error, 0, moved)


def rows(folder):
    mesh = Mesh(folder)
    for m, n, k in GEMM:
        for name in ("gemm_tn", "gemm_nn"):
            path = f"{folder}/{m}x{n}x{k}/lib{name}.so"
            if os.path.exists(path):
                yield name.replace("_", " "), f"{m}x{n}x{k}", lambda: gemm(mesh.program(path, name), m, n, k, name == "gemm_nn")
    for free, m, n, k in SIZED:
        for name in ("sized_nn", "sized_tn"):
            at = {"M": m, "N": n, "K": k}
            path = f"{folder}/sized_{free}/lib{name}.so"
            numbers = f"{folder}/{m}x{n}x{k}/lib{name.replace('sized', 'gemm')}.so"
            if os.path.exists(path):
                fixed = mesh.program(numbers, os.path.basename(numbers)[3:-3]) if os.path.exists(numbers) else None
                yield f"{name.replace('_', ' ')} run-time {free}", f"{m}x{n}x{k}", lambda: sized(mesh.program(path, name), fixed, m, n, k, [at[w] for w in free], name == "sized_nn")
    for x, m, n, k in BATCHED:
        for free, given in (("", []), ("MNKB", [m, n, k, x])):
            path = f"{folder}/batched_{free or f'{x}x{m}x{n}x{k}'}/libbatched_nn.so"
            if os.path.exists(path):
                yield "batched nn" + (" run-time sizes" if free else ""), f"{x}x{m}x{n}x{k}", lambda: batched(mesh.program(path, "batched_nn"), given, x, m, n, k)
    for m, n, k in GEMM8:
        path = f"{folder}/{m}x{n}x{k}/libgemm_f8.so"
        if os.path.exists(path):
            yield "gemm f8e4m3", f"{m}x{n}x{k}", lambda: gemm8(mesh.program(path, "gemm_f8"), m, n, k)
    for m, n, k in GEMM8_BLOCKS:
        path = f"{folder}/{m}x{n}x{k}/libgemm_f8_blocks.so"
        if os.path.exists(path):
            yield "gemm f8e4m3 blocks of 128", f"{m}x{n}x{k}", lambda: gemm8_blocks(mesh.program(path, "gemm_f8_blocks"), m, n, k)
    for name, m, n, k in SIBLINGS:
        path = f"{folder}/{m}x{n}x{k}/lib{name}.so"
        if os.path.exists(path):
            yield name.replace("_", " "), f"{m}x{n}x{k}", lambda: siblings(mesh.program(path, name), name, m, n, k)
    for shape in ATTENTION:
        b, h, g, s, d, causal = shape
        name = "attention_causal" if causal else "attention_full"
        path = f"{folder}/B{b}_H{h}_{g}_S{s}_D{d}/lib{name}.so"
        if os.path.exists(path):
            yield name.replace("_", " "), f"B{b} H{h}/{g} S{s} D{d}", lambda: attention(mesh.program(path, name), *shape)
    for shape in DECODE:
        for name, work in (("decode", "decode attention"), ("decode_paged", "decode paged")):
            path = "{}/B{}_H{}_{}_S{}_D{}/lib{}.so".format(folder, *shape, name)
            if os.path.exists(path) and (name == "decode" or shape[3] % 16 == 0):
                yield work, "B{} H{}/{} S{} D{}".format(*shape), lambda: decode(mesh.program(path, name), *shape, "paged" in name)
    for r, c in ROWS:
        for name in BOUND_BY_MEMORY:
            path = f"{folder}/{r}x{c}/lib{name}.so"
            if os.path.exists(path):
                yield name.replace("_", " "), f"{r}x{c}", lambda: bound_by_memory(mesh.program(path, name), name, r, c)


def bandwidth(f, moved):
    """Bytes a microsecond that f moves."""
    g = graph(lambda i: f(), 8)
    return moved / statistics.median(microseconds(g, 8) for _ in range(20))


def bandwidths():
    """That of reading and writing alike, and that of reading alone, by the library's own kernels, on 512 MB."""
    x = torch.empty(1 << 27, device="cuda", dtype=torch.float32).normal_()
    y = torch.empty_like(x)
    both = bandwidth(lambda: torch.neg(x, out=y), 2 * x.nbytes)  # a copy would take the copy engine
    return both, max(bandwidth(x.sum, x.nbytes), bandwidth(lambda: x.view(-1, 8192).amax(1), x.nbytes))


def floor(row, dtype, both, read):
    reads = row.reads or row.operations and row.operations < 256 * row.moved  # few rows: one operand is streamed
    return max(row.operations / PEAK[dtype], row.moved / (read if reads else both))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("-o", default=os.devnull)
    parser.add_argument("--only", default="")
    parser.add_argument("--commit", default="")
    parser.add_argument("--triton", action="store_true")
    options = parser.parse_args()
    if options.triton:
        global triton_peers
        import triton_peers
    torch.manual_seed(0)
    torch.cuda.set_stream(torch.cuda.Stream())  # a program's own stream stands for NULL, and does not follow torch's
    both, read = bandwidths()
    print(f"HBM: read and written {both * 1e-6:.2f} TB/s, read {read * 1e-6:.2f} TB/s")
    with open(options.o, "a") as out:
        for work, shape, measure in rows(os.path.abspath(options.folder)):
            if options.only not in work:
                continue
            row, dtype = measure(), "f8e4m3" if "f8" in work else "bf16"
            least = floor(row, dtype, both, read)
            rate = {"tflops": round(row.operations / row.ours * 1e-6, 1)} if row.operations else {"bandwidth": round(row.moved / row.ours * 1e-6, 2)}
            for peer, theirs in row.peers.items():
                line = dict(work=work, shape=shape, dtype=dtype, gpu=torch.cuda.get_device_name(), ours_us=round(row.ours, 2), peer=peer, peer_us=round(theirs, 2), ratio=round(theirs / row.ours, 3),
                            **rate, floor_us=round(least, 2), rel_err=float(f"{row.error:.2e}"), commit=options.commit, date=datetime.date.today().isoformat())
                print(f"{work:16} {shape:24} {row.ours:8.1f} us, {least / row.ours:4.0%} of the limit  {peer:13} {theirs:8.1f} us  ratio {theirs / row.ours:.3f}  error {row.error:.1e}", flush=True)
                out.write(json.dumps(line) + "\n")
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
