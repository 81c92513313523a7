"""The rows of table.py: the programs of each, what is measured (functions of table_measure.py), and what it has to reach."""
import dataclasses
import os

from shapes import BATCHED, DEALT, GEMM, GEMM8, GROUPED, IMAGES, SHORT, SIBLINGS, WEIGHTS


@dataclasses.dataclass(frozen=True)
class Program:
    source: str
    name: str
    sizes: tuple  # of names and numbers
    before: bool = False  # by the compiler that has the texts of products

    def folder(self, to):
        return os.path.join(to, *(["before"] if self.before else []), "_".join([self.name, *(f"{n}{v}" for n, v in self.sizes)]))

    def library(self, to):
        return os.path.join(self.folder(to), f"lib{self.name}.so")


@dataclasses.dataclass(frozen=True)
class Line:
    part: str
    work: str
    shape: str
    programs: tuple
    measure: str  # its name; empty: measured while compiling
    given: tuple  # what it is told
    peer: str  # "a or b": the slower one; empty: the time itself is judged
    must: float
    most: bool = False  # ours to the peer's time has to be at most that; else the peer's time to ours at least
    unit: str = "us"
    error: float = 2e-2  # the largest, relative to the norm: of bf16 results


# A few hundred rows, and odd sizes.
SOME_ROWS = [(128, 4096, 4096), (192, 4096, 4096), (256, 4096, 4096), (320, 4096, 8192), (400, 4096, 4096), (128, 8192, 8192), (256, 7168, 8192), (400, 8192, 8192)]
ODD = [(333, 777, 1111), (1000, 520, 328), (1999, 1333, 777)]
RUN_TIME = [("M", m, 4096, 4096) for m in (1, 16, 100, 512, 4096, 8192)] + [(w, 4096, 4096, 4096) for w in ("N", "K", "MNK")] + [("MNK", 8191, 8184, 8184)]
BATCHES = {BATCHED[0]: 0.98, BATCHED[2]: 1.0}
SCALED = {(4096, 4096, 4096): 1.0, (4096, 7168, 2048): 1.05, (128, 7168, 16384): 1.05}
GROUPS = {"grouped": ("torch._grouped_mm", 1.0), "gathered": ("torch, 5 calls", 1.2), "scattered": ("torch, 4 calls", 1.2)}
STEPS, PLACES, NVCC_SECONDS = {1: 4.10, 8: 4.75}, 2048, 5  # milliseconds by batch
# Columns and K of both ranks, of the product alone; by rows the largest part of the peer's time.
RANKS = {"ag_gemm": ((14336, 8192), (7168, 8192), "alone", {1024: 1.10, 4096: 1.06, 8192: 1.04}),
         "gemm_rs": ((8192, 4096), (8192, 2048), "alone or link", {1024: 1.35, 4096: 1.35, 8192: 1.35})}


def three(m, n, k):
    return ("M", m), ("N", n), ("K", k)


def text(shape):
    return "x".join(map(str, shape))


def twice(source, name, sizes):
    return Program(source, name, sizes), Program(source, name, sizes, True)


def products_before():
    for shape in GEMM:
        for way in ("tn", "nn"):
            yield Line("before", f"gemm {way}", text(shape), twice("gemm.tile", f"gemm_{way}", three(*shape)), "was", (*shape, way), "before", 0.98)
    for name, *shape in SIBLINGS:
        yield Line("before", name.replace("_", " "), text(shape), twice("siblings.tile", name, three(*shape)), "pair", (name, *shape), "before", 0.98)
    for shape in GEMM8:
        yield Line("before", "gemm f8e4m3", text(shape), twice("gemm8.tile", "gemm_f8", three(*shape)), "eight", shape, "before", 0.98)


def products_beside():
    for shapes, must in ((SOME_ROWS, 0.95), (ODD, 0.9)):
        for shape in shapes:
            for way in ("tn", "nn"):
                yield Line("rows", f"gemm {way}", text(shape), (Program("gemm.tile", f"gemm_{way}", three(*shape)),), "alone", (*shape, way), "cublas", must)


def run_time():
    for free, *shape in RUN_TIME:
        sizes = three(*shape)
        numbers, given = tuple(s for s in sizes if s[0] not in free), tuple(v for s, v in sizes if s in free)
        for way in ("tn", "nn"):
            programs = Program("sizes.tile", f"sized_{way}", numbers), Program("gemm.tile", f"gemm_{way}", sizes)
            yield Line("sized", f"{way} run-time {free}", text(shape), programs, "product", (*shape, given, way), "fixed", 0.97)
    for shape in BATCHES:
        programs = tuple(Program("sizes.tile", "batched_nn", tuple(zip("BMNK", shape))[first:]) for first in (1, 0))
        yield Line("sized", "batched run-time B", text(shape), programs, "batch", (shape, shape[:1]), "fixed", 0.97)


def batches():
    for shape, must in BATCHES.items():
        yield Line("batched", "batched nn", text(shape), (Program("sizes.tile", "batched_nn", tuple(zip("BMNK", shape))),), "batch", (shape, ()), "cublas", must)


def groups():
    for shape in GROUPED:
        for name, (peer, must) in GROUPS.items():
            for how in DEALT:
                yield Line("grouped", f"{name} {how}", text(shape), (Program("grouped.tile", name, tuple(zip("EMNK", shape))),), "groups", (name, shape, how), peer, must)


def scaled():
    for shape, must in SCALED.items():
        yield Line("scaled", "f8e4m3, blocks of 128", text(shape), (Program("gemm8.tile", "gemm_f8_blocks", three(*shape)),), "blocks", shape, "cublaslt blocks", must)


def decoding():
    for batch, must in STEPS.items():
        step = (Program("decode_step.tile", "decode_step", (("B", batch), ("S", PLACES))),)
        yield Line("decode", "Qwen3-8B step", f"batch {batch}", step, "step", (batch,), "", must, True, "ms", 0.1)
        yield Line("decode", "nvcc of that step", f"batch {batch}", step, "", (), "", NVCC_SECONDS, True, "s")


def convolutions():
    """Depthwise weights are 3 x 3; those of 7 x 7 have to be as fast as cuDNN's, as those have."""
    for name, layout in (("convolution", "channels last"), ("block", "residual block"), ("first", "channels in front"), ("depthwise", "depthwise, last"), ("depthwise_first", "depthwise, in front")):
        for h, w, c in IMAGES:
            for r, s, stride, pad in WEIGHTS[:1] if name.startswith("depthwise") else WEIGHTS:
                shape = 32, h, w, c, c, r, s, stride, pad, 1
                sizes = tuple(zip(("N", "H", "W", "C", "O", "R", "S", "STRIDE", "PAD"), shape))
                must = 1.0 if r == 7 or name.startswith("depthwise") else 0.95
                yield Line("images", layout, f"{h}x{w}x{c}, {r}x{s} / {stride}", (Program("convolution.tile", name, sizes),), "images", (name, shape), "cuDNN", must)


def short_rows():
    for r, c in SHORT:
        for name in ("rms_norm", "residual_norm", "row_softmax", "gated", "turned"):
            yield Line("short", name.replace("_", " "), f"{r}x{c}", (Program("rows.tile", name, (("R", r), ("C", c))),), "short", (name, r, c), "torch.compile", 1.0)


def of_ranks():
    for name, (both, alone, peer, most) in RANKS.items():
        for m, must in most.items():
            programs = Program("ranks.tile", name, three(m, *both)), Program("gemm.tile", "gemm_nn", three(m, *alone))
            yield Line("ranks", name, f"M {m}", programs, name, (m, *alone), peer, must, True)


PARTS = {"before": products_before, "rows": products_beside, "sized": run_time, "batched": batches, "grouped": groups, "scaled": scaled, "decode": decoding, "images": convolutions, "short": short_rows, "ranks": of_ranks}


def lines(parts):
    return [line for part in parts for line in PARTS[part]()]
