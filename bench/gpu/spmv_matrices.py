"""Sparse matrices for spmv.py, made on a device: CSR with places of int32 and values of float32, and the same in sliced ELL."""
import torch

WINDOW, SLICE, PIECE = 1024, 32, 512  # rows that are sorted together; rows of a slice; entries of a piece of a long row


def prefix(counts):
    return torch.cat([counts.new_zeros(1), counts.cumsum(0)])


def spread(counts):
    """Which of the counts each position belongs to, and its number there."""
    of = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
    return of, torch.arange(len(of), device=counts.device) - prefix(counts)[of]


def csr(lengths, place):
    """Rows of these lengths; place(row, number) says the columns of entries."""
    n = len(lengths)
    row, number = spread(lengths)
    key = (row * n + place(row, number) % n).sort().values
    return prefix(lengths).int(), (key % n).int(), torch.randn(len(key), device=lengths.device)


def full(n, width, device):
    return torch.full((n,), width, dtype=torch.int64, device=device)


def anywhere(n):
    return lambda row, number: torch.randint(n, (len(row),), device=row.device)


def banded(n, width, device):
    return csr(full(n, width, device), lambda row, number: row + number - width // 2)


def stencil(side, dims, reach, device):
    """A point and its neighbours on a grid."""
    steps = [s for s in torch.cartesian_prod(*[torch.arange(-1, 2)] * dims).tolist() if sum(map(abs, s)) <= reach]
    shift = torch.tensor(sorted(sum(s * side**d for d, s in enumerate(step)) for step in steps), device=device)
    return csr(full(side**dims, len(steps), device), lambda row, number: row + shift[number])


def random(n, width, differ, device):
    return csr(torch.randint(max(0, width - differ), width + differ + 1, (n,), device=device), anywhere(n))


def power(n, entries, longest, device):
    """Degrees of a graph by a power law; columns anywhere."""
    u = torch.rand(n, device=device, dtype=torch.float64)
    low, high = 1.0, 1e6
    for _ in range(60):  # the scale that gives about so many entries
        scale = (low * high) ** 0.5
        low, high = (scale, high) if (scale * u**-0.6).clamp(max=longest).sum() < entries else (low, scale)
    return csr((low * u**-0.6).clamp(max=longest).long(), anywhere(n))


def arrow(n, device):
    lengths = full(n, 2, device)
    lengths[0] = n
    return csr(lengths, lambda row, number: torch.where((row == 0) | (number == 0), number, row))


def blocks(n, size, device):
    return csr(full(n, size, device), lambda row, number: row // size * size + number)


# Those that figures are given of.
MATRICES = {
    "banded 2M x 9": lambda d: banded(2_000_000, 9, d),
    "power law 1M, 19M": lambda d: power(1_000_000, 19_000_000, 2875, d),
    "stencil 5, 1000^2": lambda d: stencil(1000, 2, 1, d),
    "stencil 27, 64^3": lambda d: stencil(64, 3, 3, d),
    "stencil 7, 40^3": lambda d: stencil(40, 3, 1, d),
    "random 200k x 5": lambda d: random(200_000, 5, 3, d),
    "random 100k x 64": lambda d: random(100_000, 64, 20, d),
    "random 20k x 400": lambda d: random(20_000, 400, 100, d),
    "power law 200k, 3M": lambda d: power(200_000, 3_000_000, 20_000, d),
    "power law 50k, 300k": lambda d: power(50_000, 300_000, 5_000, d),
    "arrow 500k": lambda d: arrow(500_000, d),
    "blocks of 128, 64k": lambda d: blocks(65_536, 128, d),
}

# Others, from which the tree is trained: none of those above is among them.
TRAINING = {
    **{f"banded {n} x {w}": lambda d, n=n, w=w: banded(n, w, d) for n, w in ((50_000, 3), (300_000, 7), (1_000_000, 11), (200_000, 33), (60_000, 101), (30_000, 257))},
    **{f"stencil {side}^{dims} {reach}": lambda d, s=side, i=dims, r=reach: stencil(s, i, r, d) for side, dims, reach in ((300, 2, 1), (1500, 2, 2), (100, 3, 1), (50, 3, 3), (80, 3, 3), (2000, 2, 1), (64, 3, 1))},
    **{f"random {n} x {w}": lambda d, n=n, w=w: random(n, w, w // 2, d) for n, w in ((50_000, 4), (500_000, 8), (1_000_000, 3), (100_000, 16), (300_000, 24), (50_000, 40), (40_000, 100), (10_000, 200), (5_000, 800), (6_000, 1_500), (150_000, 50), (80_000, 80), (200_000, 32), (120_000, 60), (60_000, 64), (400_000, 12), (30_000, 16), (70_000, 6), (1_500_000, 6), (300_000, 5))},
    **{f"power law {n}, {z}": lambda d, n=n, z=z, m=m: power(n, z, m, d) for n, z, m in ((500_000, 8_000_000, 4_000), (100_000, 600_000, 2_000), (300_000, 1_500_000, 50_000), (20_000, 400_000, 3_000), (800_000, 12_000_000, 500), (100_000, 4_000_000, 60_000), (400_000, 6_000_000, 1_000), (60_000, 500_000, 600), (1_200_000, 15_000_000, 3_000), (250_000, 2_500_000, 10_000), (40_000, 200_000, 300))},
    "arrow 100k": lambda d: arrow(100_000, d),
    "blocks of 32": lambda d: blocks(160_000, 32, d),
    "blocks of 64": lambda d: blocks(65_536, 64, d),
    "blocks of 512": lambda d: blocks(16_384, 512, d),
}


def sliced(ptr, col, val):
    """The tensors of the program `sliced`: rows in slices, the longer ones first within a window; those that are much longer than the mean
    in pieces."""
    ptr = ptr.long()
    length = ptr[1:] - ptr[:-1]
    longest = 2 * (len(col) // len(length)) + 8
    row, far = (length <= longest).nonzero().flatten(), (length > longest).nonzero().flatten()
    row = row[(torch.arange(len(row), device=row.device) // WINDOW * 10**7 - length[row]).sort(stable=True).indices]
    most = torch.cat([length[row], length.new_zeros(-len(row) % SLICE)]).view(-1, SLICE).amax(1)
    start = prefix(most * SLICE)
    scol, sval = col.new_full((int(start[-1]),), -1), val.new_zeros(int(start[-1]))
    of, k = spread(length[row])
    to, entry = start[of // SLICE] + SLICE * k + of % SLICE, ptr[row][of] + k
    scol[to], sval[to] = col[entry], val[entry]
    of, k = spread(length[far])
    entry, pieces = ptr[far][of] + k, (length[far] + PIECE - 1) // PIECE
    of, number = spread(pieces)
    sizes = (length[far][of] - number * PIECE).clamp(max=PIECE)
    ints = lambda *given: [t.int() for t in given]
    return [*ints(start, row), scol, sval, *ints(prefix(pieces), far, prefix(sizes)), col[entry], val[entry]]
