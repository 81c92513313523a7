"""Sequences of tokens through qwen.tile: pages of the cache, batches, and the choice of the next token."""
import os

import numpy as np
import tilec
import tokens
import weights

HERE = os.path.dirname(os.path.abspath(__file__))
PLACES = 16  # of a page
MOST_SEQUENCES, MOST_TOKENS = 64, 4096  # of a call: B and N of qwen.tile


class OutOfPages(Exception):
    """No page is free: a sequence has to end before another can go on."""


class Sequence:
    """Tokens, of which the first `done` are in the cache, and the pages that hold them."""

    def __init__(self, ids):
        self.ids, self.done, self.pages = list(ids), 0, []

    def place(self, i):
        return self.pages[i // PLACES] * PLACES + i % PLACES


class Model:
    """A model in a folder, on this machine's processor. `pages` hold 16 tokens each, of all sequences; `context` is the most of
    one; `kind` is the type of weights and cache: f32, f16 or bf16, or None for the files' own."""

    def __init__(self, folder, pages=512, context=2048, kind="f32", workers=0):
        c = weights.read_config(folder)
        self.name = os.path.basename(os.path.abspath(folder))
        self.context = min(context, c.get("max_position_embeddings", context), pages * PLACES)
        self.weights, self.kind, normed = weights.load(folder, c, kind)
        self.eps, self.vocabulary = c.get("rms_norm_eps", 1e-6), c["vocab_size"]
        ends = c.get("eos_token_id")
        self.ends = set(ends if isinstance(ends, list) else [] if ends is None else [ends])
        tokenizer = os.path.join(folder, "tokenizer.json")
        self.tokens = tokens.Tokenizer(tokenizer) if os.path.exists(tokenizer) else None
        self.free, self.wide = list(range(pages)), -(-self.context // PLACES)
        with open(os.path.join(HERE, "qwen.tile"), encoding="utf-8") as f:
            source = f.read().replace("bf16", self.kind)
        n = {**weights.sizes(c), "P": pages, "U": PLACES, "W": self.wide, "NORMS": int(normed)}
        self.prefill, self.decode = (tilec.load(source, name, workers=workers, **n) for name in ("prefill", "decode"))
        shape = (n["L"], pages * PLACES, n["G"], n["E"])
        zeros = np.zeros(shape, {"f32": "f4", "f16": "f2", "bf16": "V2"}[self.kind])
        self.cache = {"kp": zeros, "vp": zeros.copy()}

    # ---- pages ----

    def reserve(self, s, count):
        """Pages for the first `count` tokens of a sequence: all of them, or none and OutOfPages."""
        more = -(-count // PLACES) - len(s.pages)
        if more > len(self.free):
            raise OutOfPages(f"{more} pages are needed, {len(self.free)} are free")
        s.pages += [self.free.pop() for _ in range(more)]

    def release(self, s):
        self.free += s.pages
        s.pages, s.done = [], 0

    # ---- steps ----

    def step(self, sequences):
        """Brings all tokens of each sequence into the cache; the scores of what follows the last, a row for each sequence."""
        rows = {}
        for s in sequences:
            if not 0 < len(s.ids) <= self.context or not all(0 <= i < self.vocabulary for i in s.ids[s.done:]):
                raise ValueError(f"a sequence has 1 to {self.context} tokens, 0 to {self.vocabulary - 1}")
            self.reserve(s, len(s.ids))
        todo = [s for s in sequences if s.done < len(s.ids)]
        if len(todo) < len(sequences):
            raise ValueError("a sequence without a new token")
        while todo:
            batch, counts, room = [], [], MOST_TOKENS
            for s in todo[:MOST_SEQUENCES]:
                if room:
                    batch.append(s)
                    counts.append(min(room, len(s.ids) - s.done))
                    room -= counts[-1]
            y = self.call(batch, counts)
            for s, n, row in zip(batch, counts, y):
                s.done += n
                rows[id(s)] = row
            todo = [s for s in todo if s.done < len(s.ids)]
        return np.stack([rows[id(s)] for s in sequences])

    def call(self, batch, counts):
        """One run of `counts` new tokens of each sequence."""
        at = [range(s.done, s.done + n) for s, n in zip(batch, counts)]
        table = np.zeros((len(batch), self.wide), "i4")
        for row, s in zip(table, batch):
            row[:len(s.pages)] = s.pages
        common = {"ids": np.array([s.ids[i] for s, r in zip(batch, at) for i in r], "i4"),
                  "at": np.array([i for r in at for i in r], "i4"),
                  "place": np.array([s.place(i) for s, r in zip(batch, at) for i in r], "i4"),
                  "table": table, "w": self.weights, "eps": self.eps, **self.cache}
        if max(counts) == 1:
            return self.decode(**common)
        return self.prefill(**common, start=np.cumsum([0, *counts], dtype="i4"), past=np.array([s.done for s in batch], "i4"))


class Choice:
    """How the next token is chosen: the likeliest at temperature 0, else drawn."""

    def __init__(self, temperature=0.0, top_k=0, top_p=1.0, seed=None):
        if not temperature >= 0 or top_k < 0 or not 0 < top_p <= 1:
            raise ValueError("temperature and top_k are not negative, top_p is above 0 and at most 1")
        self.temperature, self.top_k, self.top_p = temperature, top_k, top_p
        self.random = np.random.default_rng(seed)

    def __call__(self, scores):
        if self.temperature == 0:
            return int(np.argmax(scores))
        p = self.likelihoods(scores.astype("f8") / self.temperature)
        return int(self.random.choice(len(p), p=p))

    def likelihoods(self, scores):
        """Of the top_k likeliest, the fewest that are top_p likely together; the others' are 0."""
        order = np.argsort(-scores, kind="stable")
        p = np.exp(scores[order] - scores[order[0]])
        if self.top_k:
            p[self.top_k:] = 0
        p /= p.sum()
        p[np.cumsum(p) - p >= self.top_p] = 0  # what the likelier ones cover already
        out = np.zeros(len(p))
        out[order] = p / p.sum()
        return out


class Work:
    """A prompt to continue by at most `most` tokens; `reason` says why it ended: stop or length."""

    def __init__(self, prompt, most=32, choice=None, stop=()):
        self.prompt, self.most, self.choice, self.stop = list(prompt), most, choice or Choice(), set(stop)
        self.new, self.reason = [], None


class Batch:
    """Works that are continued together, a token of each a step. They join and leave as they come, and as pages allow."""

    def __init__(self, model):
        self.model, self.waiting, self.running = model, [], {}  # running: work to sequence, the oldest first

    def add(self, work):
        if not 0 < len(work.prompt) <= self.model.context:
            raise ValueError(f"a prompt has 1 to {self.model.context} tokens, this one {len(work.prompt)}")
        if not all(0 <= i < self.model.vocabulary for i in work.prompt):
            raise ValueError(f"tokens are 0 to {self.model.vocabulary - 1}")
        self.waiting.append(work)

    def remove(self, work):
        if work in self.running:
            self.model.release(self.running.pop(work))
        elif work in self.waiting:
            self.waiting.remove(work)

    def admit(self):
        while self.waiting and len(self.running) < MOST_SEQUENCES:
            s = Sequence([*self.waiting[0].prompt, *self.waiting[0].new])
            try:
                self.model.reserve(s, len(s.ids))
            except OutOfPages:
                return
            self.running[self.waiting.pop(0)] = s

    def make_room(self):
        """Pages for what each has: the youngest gives its own up, and begins again later."""
        for work in list(self.running):
            while work in self.running:
                try:
                    self.model.reserve(self.running[work], len(self.running[work].ids))
                    break
                except OutOfPages:
                    youngest = list(self.running)[-1]
                    self.remove(youngest)
                    self.waiting.insert(0, youngest)

    def take(self, work, scores):
        token = work.choice(scores)
        if token in self.model.ends or token in work.stop:
            work.reason = "stop"
        else:
            work.new.append(token)
            self.running[work].ids.append(token)
            if len(work.new) >= work.most or len(self.running[work].ids) > self.model.context:
                work.reason = "length"
        if work.reason:
            self.remove(work)

    def step(self):
        """Gives each running work a token or an end; the works. None are left when there are none."""
        self.make_room()
        self.admit()
        works = list(self.running)
        if works:
            for work, scores in zip(works, self.model.step([self.running[w] for w in works])):
                self.take(work, scores)
        return works

    def clear(self):
        for work in [*self.running, *self.waiting]:
            self.remove(work)


def generate(model, prompts, most=32, choices=None, stop=()):
    """Continues each list of tokens by at most so many; a list for each."""
    batch, works = Batch(model), [Work(p, most, c, stop) for p, c in zip(prompts, choices or [None] * len(prompts))]
    try:
        for work in works:
            batch.add(work)
        while most > 0 and batch.step():
            pass
    finally:
        batch.clear()
    return [work.new for work in works]
