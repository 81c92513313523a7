"""The rows of bench/multi: works of R ranks, and the sizes that programs.tile takes for them."""
COLLECTIVES = {"8 KB": (8, 512), "64 KB": (8, 4096), "1 MB": (128, 4096), "16 MB": (2048, 4096)}  # of the whole
ROWS = (16, 64, 256, 1024, 4096, 8192)
DECODING = ((1, 8192), (4, 8192), (16, 8192), (1, 65536), (4, 65536))  # sequences, keys a rank

TOKENS = (1, 64, 4096)  # of a rank; 64 experts of width 1024, 8 for a token


def rows(ranks):
    """Work, shape as it is named, program, sizes; N 7168 a rank and K 8192 of AG+GEMM, K 2048 a rank and N 8192 of the others."""
    for m in ROWS:
        yield "AG+GEMM", f"M {m}", "ag_gemm", {"M": m, "N": 7168 * ranks, "K": 8192}
    for work, program in (("GEMM+RS", "gemm_rs"), ("GEMM+AR", "gemm_ar")):
        for m in ROWS:
            yield work, f"M {m}", program, {"M": m, "N": 8192, "K": 2048 * ranks}
    for batch, keys in DECODING:
        yield "flash decode", f"batch {batch} x {keys}", "flash_decode", {"B": batch, "S": keys * ranks}
    for tokens in TOKENS:
        yield "MoE", f"{tokens} tokens a rank", "moe", {"M": tokens * ranks, "D": 2048}
    for work in ("gather", "scatter", "reduce"):
        for name, (m, n) in COLLECTIVES.items():
            yield work, name, work, {"M": m, "N": n}


def options(sizes, ranks):
    return [f"--ranks={ranks}", *(w for name, n in {**sizes, "R": ranks}.items() for w in ("-D", f"{name}={n}"))]
