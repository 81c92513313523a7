"""Mixture of experts; see library.py for the arguments."""
import numpy as np

from library import normal, random, run

N, D, E, F, P, Q = 45, 20, 6, 70, 90, 600  # Q: a block of pairs has three

many = random.choice([0, 1, 1, 1, 3, 5], Q).astype(np.int32)
order = np.argsort(many, kind="stable")
place = np.empty(Q, np.int32)
place[order] = np.arange(Q)
run("order", {"ids": many}, {"s": np.searchsorted(np.sort(many), np.arange(E + 1)).astype(np.int32), "p": place,
                             "r": (order // 2).astype(np.int32)})


def mixture(x, gate, w1, w2, k):
    x, gate, w1, w2 = (t.astype(np.float64) for t in (x, gate, w1, w2))
    logits = x @ gate.T
    y = np.zeros_like(x)
    for r in range(N):
        best = np.argsort(-logits[r], kind="stable")[:k]
        weight = np.exp(logits[r, best] - logits[r, best].max())
        for e, w in zip(best, weight / weight.sum()):
            h = w1[e] @ x[r]
            y[r] += w * (w2[e] @ (h / (1 + np.exp(-h))))
    return y


x, gate, w1, w2 = normal(N, D), normal(E, D), normal(E, F, D), normal(E, D, F)
gate[4] = -gate[2]
run("mixture", {"x": x, "gate": gate, "w1": w1, "w2": w2}, {"y": mixture(x, gate, w1, w2, 3)})

x, gate, w1, w2 = [(t.view(np.uint32) & 0xFFFF0000).view(np.float32) for t in (x, gate, w1, w2)]
run("half", {"x": x, "gate": gate, "w1": w1, "w2": w2}, {"y": mixture(x, gate, w1, w2, 1)}, 2.0**-6)

x, gate, up, down, across = normal(N, D), normal(E, F, D), normal(E, F, D), normal(E, D, F), normal(E, F, D)
weight, rows = normal(P), random.integers(0, N, P).astype(np.int32)
for cuts in [[0, 0, 33, 33, 89], [90, 90, 90, 90, 90], [1, 2, 3, 70, 71]]:
    start = np.array([0, *cuts, P], np.int32)
    group = np.searchsorted(start, np.arange(P), side="right") - 1
    a, b = (np.einsum("pd,pfd->pf", x[rows].astype(np.float64), w[group]) for w in (gate, up))
    h = a / (1 + np.exp(-a)) * b
    y = np.zeros((N, D))
    np.add.at(y, rows, weight[:, None] * np.einsum("pf,pdf->pd", h, down[group]))
    run("groups", {"x": x, "rows": rows, "start": start, "gate": gate, "up": up, "down": down, "across": across, "weight": weight},
        {"h": h, "y": y, "z": np.einsum("pf,pfd->pd", h, across[group])}, 1e-3)

x, w = normal(P, D), normal(E, F, D)
ids = many[:P]
run("starts", {"ids": ids, "x": x, "w": w}, {"y": np.einsum("pd,pfd->pf", x, w[np.sort(ids)])})
