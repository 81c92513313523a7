"""Trains the network of keyword.tile on synthetic words, and writes its weights.

usage: train.py WEIGHTS.safetensors [STEPS SOUNDS]

Latent weights are floats; each step computes with the codes -1, 0 and 1 that they round to, and gradients go to the
latent ones as they are (straight through). A code is 0 where its weight is below 0.7 of the mean magnitude (Li et al.,
arXiv 1605.04711). Behind the convolutions stands a Bonsai tree: soft paths in training, sharper with each step, the hard
path in use.
"""
import sys
import time

import numpy as np

import model
import sounds

BATCH, RATE = 64, 2e-3


def ternary(w):
    """Codes of the latent weights, and what they are multiplied by."""
    codes = np.sign(w) * (np.abs(w) > 0.7 * np.abs(w).mean())
    return codes, np.abs(w[codes != 0]).mean()


class Network:
    def __init__(self, random):
        self.latent = {}
        for name, shape in model.CODES.items():
            self.latent[name] = random.standard_normal(shape).astype(np.float32) * np.float32(0.5)
        for name, shape in model.SCALES.items():
            self.latent[name] = np.ones(shape, np.float32)
        for name, shape in model.BIASES.items():
            self.latent[name] = np.zeros(shape, np.float32)
        self.latent["theta"] = random.standard_normal(model.THETA).astype(np.float32) * np.float32(0.3)
        self.moment = {name: [np.zeros_like(w), np.zeros_like(w)] for name, w in self.latent.items()}
        self.steps = 0

    def weights(self):
        """What is computed with: codes times their scale."""
        w = dict(self.latent)
        for name in model.CODES:
            codes, scale = ternary(w[name])
            w[name] = (codes * scale).astype(np.float32)
        return w

    def update(self, gradient, rate):
        """Adam."""
        self.steps += 1
        for name, g in gradient.items():
            m, v = self.moment[name]
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            size = np.sqrt(v / (1 - 0.999 ** self.steps)) + 1e-8
            self.latent[name] -= (rate * m / (1 - 0.9 ** self.steps) / size).astype(np.float32)


# ---- layers: each gives its result and a function from the result's gradient to those of its operands ----


def patches(x):
    """Rows of what each place of the first convolution sees: [n * 125, 40]."""
    wide = np.pad(x, ((0, 0), (4, 5), (1, 1)))
    view = np.lib.stride_tricks.sliding_window_view(wide, (10, 4), axis=(1, 2))[:, ::2, ::2]
    return np.ascontiguousarray(view).reshape(-1, 40)


def product(x, w):
    return x @ w.T, lambda g: (g @ w, g.T @ x)


def scaled(x, a):
    return x * a, lambda g: (g * a, (g * x).sum(0))


def biased_relu(x, b):
    y = np.maximum(x + b, 0)
    return y, lambda g: (g * (y > 0), (g * (y > 0)).sum(0))


def depthwise(x, w):
    """x: [n * 125, channels]; w: [3, 3, channels]."""
    wide = np.pad(x.reshape(-1, 25, 5, x.shape[1]), ((0, 0), (1, 1), (1, 1), (0, 0)))
    y = sum(wide[:, u:u + 25, v:v + 5] * w[u, v] for u in range(3) for v in range(3))

    def back(g):
        g = g.reshape(y.shape)
        gx, gw = np.zeros_like(wide), np.empty_like(w)
        for u in range(3):
            for v in range(3):
                gx[:, u:u + 25, v:v + 5] += g * w[u, v]
                gw[u, v] = np.einsum("nijc,nijc->c", g, wide[:, u:u + 25, v:v + 5])
        return gx[:, 1:-1, 1:-1].reshape(x.shape), gw

    return y.reshape(x.shape), back


def tree(z, w, v, theta, sharp):
    """Soft paths of a Bonsai tree of depth 2; w, v: [7, classes, d]."""
    n, nodes = len(z), len(w)
    side = np.tanh(sharp * (z @ theta.T))
    share = np.ones((n, nodes), np.float32)
    for k in range(len(theta)):
        share[:, 2 * k + 1] = share[:, k] * (1 + side[:, k]) / 2
        share[:, 2 * k + 2] = share[:, k] * (1 - side[:, k]) / 2
    a = np.einsum("nd,kld->nkl", z, w, optimize=True)
    b = np.tanh(np.einsum("nd,kld->nkl", z, v, optimize=True))

    def back(g):
        ga, gb = g[:, None] * share[:, :, None] * b, g[:, None] * share[:, :, None] * a * (1 - b * b)
        gs = np.einsum("nl,nkl->nk", g, a * b)
        gt = np.zeros_like(side)
        for k in reversed(range(len(theta))):
            gs[:, k] += gs[:, 2 * k + 1] * (1 + side[:, k]) / 2 + gs[:, 2 * k + 2] * (1 - side[:, k]) / 2
            gt[:, k] = (gs[:, 2 * k + 1] - gs[:, 2 * k + 2]) * share[:, k] / 2
        gt *= sharp * (1 - side * side)
        gz = np.einsum("nkl,kld->nd", ga, w, optimize=True) + np.einsum("nkl,kld->nd", gb, v, optimize=True) + gt @ theta
        return (gz, np.einsum("nkl,nd->kld", ga, z, optimize=True), np.einsum("nkl,nd->kld", gb, z, optimize=True), gt.T @ z)

    return np.einsum("nk,nkl->nl", share, a * b), back


def forward(w, x, sharp):
    """Scores of each class, and a function from their gradient to those of all weights."""
    tape = []

    def add(layer, x, *names):
        y, back = layer(x, *(w[name] for name in names))
        tape.append((back, names))
        return y

    y = patches(x)
    y = y / np.float32(model.FIRST)
    for name in ("1", "2", "3"):
        if name != "1":
            y = add(biased_relu, add(scaled, add(depthwise, y, "D" + name), "d" + name), "e" + name)
        y = add(scaled, add(product, y, "B" + name), "a" + name)
        y = add(biased_relu, add(scaled, add(product, y, "C" + name), "c" + name), "b" + name)
    z = y.reshape(len(x), -1, y.shape[1]).mean(1)
    places = len(y) // len(x)
    score, back_tree = tree(z, w["W"], w["V"], w["theta"], sharp)

    def back(g):
        gz, gw, gv, gt = back_tree(g)
        gradient = {"W": gw, "V": gv, "theta": gt}
        g = np.repeat(gz / places, places, 0)
        for step, names in reversed(tape):
            g, gradient[names[0]] = step(g)
        return gradient

    return score, back


def loss(score, label):
    """Mean cross entropy's gradient, and how many are right."""
    p = np.exp(score - score.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    right = (p.argmax(1) == label).mean()
    p[np.arange(len(p)), label] -= 1
    return p / len(p), right


def train(steps, samples):
    random = np.random.default_rng(3)
    x, label = sounds.samples(samples, 1)
    network, seen, begin = Network(random), 0.0, time.time()
    for step in range(steps):
        pick = random.integers(0, samples, BATCH)
        score, back = forward(network.weights(), x[pick], 1 + 7 * step / steps)
        g, right = loss(score, label[pick])
        network.update(back(g), RATE * min(1, 3 * (1 - step / steps)))
        seen += 0.05 * (right - seen)
        if step % 200 == 199:
            print(f"step {step + 1}: {100 * seen:.1f} % right, {time.time() - begin:.0f} s", flush=True)
    return network


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[2:]] or [3000, 6000]
    model.save(sys.argv[1], model.stored(train(*numbers).latent, ternary))
