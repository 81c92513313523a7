"""usage: qwen.py EXAMPLES WORK: examples/qwen on small random models, against numpy in f64. Prints a line for each."""
import importlib.util
import json
import os
import subprocess
import sys

import numpy as np

sys.path[0] = os.path.join(sys.argv[1], "qwen")
import model
import tokens
import weights

WORK = sys.argv[2]
helper = importlib.util.spec_from_file_location("random_model", os.path.join(os.path.dirname(os.path.abspath(__file__)), "qwen_random.py"))
random_model = importlib.util.module_from_spec(helper)
helper.loader.exec_module(random_model)
rng = np.random.default_rng(11)


class Reference:
    """All tokens of a sequence at once, in f64, from the files' own tensors."""

    def __init__(self, folder):
        with open(os.path.join(folder, "config.json")) as f:
            self.c = json.load(f)
        self.w = random_model.read(folder)

    def scores(self, ids):
        c, w = self.c, self.w
        h, g, e, eps = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"], c["rms_norm_eps"]

        def norm(x, gain):
            return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * gain

        def linear(x, name):
            return x @ w[name + ".weight"].T + w.get(name + ".bias", 0)
        half = e // 2
        angle = np.arange(len(ids))[:, None] * c["rope_theta"] ** (-np.arange(half) * 2.0 / e)
        cos, sin = (np.concatenate([f(angle)] * 2, axis=1)[:, None] for f in (np.cos, np.sin))

        def turn(x):
            return x * cos + np.concatenate([-x[..., half:], x[..., :half]], axis=-1) * sin
        x = w["model.embed_tokens.weight"][ids]
        seen = np.tril(np.ones((len(ids), len(ids)), bool))
        for i in range(c["num_hidden_layers"]):
            at = f"model.layers.{i}."
            n = norm(x, w[at + "input_layernorm.weight"])
            q, k, v = (linear(n, f"{at}self_attn.{p}_proj").reshape(len(ids), m, e) for p, m in (("q", h), ("k", g), ("v", g)))
            if at + "self_attn.q_norm.weight" in w:
                q, k = norm(q, w[at + "self_attn.q_norm.weight"]), norm(k, w[at + "self_attn.k_norm.weight"])
            q, k = turn(q), turn(k)
            s = np.einsum("ihe,jhe->hij", q, np.repeat(k, h // g, axis=1)) / np.sqrt(e)
            s = np.where(seen, s, -np.inf)
            p = np.exp(s - s.max(axis=2, keepdims=True))
            o = np.einsum("hij,jhe->ihe", p / p.sum(axis=2, keepdims=True), np.repeat(v, h // g, axis=1))
            x = x + linear(o.reshape(len(ids), h * e), at + "self_attn.o_proj")
            n = norm(x, w[at + "post_attention_layernorm.weight"])
            gate = linear(n, at + "mlp.gate_proj")
            x = x + linear(gate / (1 + np.exp(-gate)) * linear(n, at + "mlp.up_proj"), at + "mlp.down_proj")
        return norm(x, w["model.norm.weight"]) @ w.get("lm_head.weight", w["model.embed_tokens.weight"]).T

    def greedy(self, ids, most, ends=()):
        ids, new = list(ids), []
        while len(new) < most:
            token = int(np.argmax(self.scores(ids)[-1]))
            if token in ends:
                break
            new.append(token)
            ids.append(token)
        return new


def close(a, b, tolerance=2e-4):
    return np.abs(a - b).max() < tolerance * max(1, np.abs(b).max())


def steps(name, folder, kind, tolerance):
    """Prompts of several lengths, some in two parts, then single tokens, in batches of both."""
    m, r = model.Model(folder, pages=40, context=200, kind=kind), Reference(folder)
    some = [model.Sequence(rng.integers(0, m.vocabulary, n)) for n in (1, 5, 16, 17, 40, 130)]
    good = close(m.step(some), np.array([r.scores(s.ids)[-1] for s in some]), tolerance)
    for turn in range(3):
        for k, s in enumerate(some):
            s.ids += rng.integers(0, m.vocabulary, 1 if turn < 2 else (1, 3, 33)[k % 3]).tolist()
        good = good and close(m.step(some), np.array([r.scores(s.ids)[-1] for s in some]), tolerance)
    for s in some:
        m.release(s)
    print(f"{name}: {'agrees' if good else 'differs'}, pages free: {len(m.free)}")
    return m, r


def wrong(what, call):
    try:
        call()
        print(what, "taken")
    except (ValueError, model.OutOfPages) as e:
        print(f"{what}: {str(e).replace(WORK, '.')}")


qwen = random_model.make(os.path.join(WORK, "qwen"), model_type="qwen3", norms=True)
m, r = steps("qwen3, f32", qwen, "f32", 2e-4)
steps("qwen3, files' own type", random_model.make(os.path.join(WORK, "half"), model_type="qwen3", norms=True, kind="BF16", shards=2), None, 0.1)
steps("llama, tied, no norms", random_model.make(os.path.join(WORK, "llama"), model_type="llama", tied=True, groups=4), "f32", 2e-4)
steps("qwen2, bf16 files, biases", random_model.make(os.path.join(WORK, "two"), model_type="qwen2", bias=True, kind="BF16"), "f32", 2e-4)

prompts = [rng.integers(0, m.vocabulary, n).tolist() for n in (3, 20, 50, 1)]
expected = [r.greedy(p, 20, m.ends) for p in prompts]
print("greedy batch:", "agrees" if model.generate(m, prompts, 20) == expected else "differs")
few = model.Model(qwen, pages=8, context=100)
print("few pages:", "agrees" if model.generate(few, prompts, 20) == expected else "differs", len(few.free))
print("a stop:", [len(x) for x in model.generate(m, prompts, 20, stop=[expected[0][4]])][0] == expected[0].index(expected[0][4]))


def drawn(seed, **how):
    return model.generate(m, [prompts[0]], 30, [model.Choice(1.0, seed=seed, **how)])[0]


print("drawn:", drawn(1) == drawn(1), drawn(1) != drawn(2), drawn(5, top_k=1) == r.greedy(prompts[0], 30, m.ends) == drawn(6, top_p=1e-9))
scores = np.log([0.5, 0.3, 0.15, 0.05])
print("likelihoods:", [model.Choice(1, **how).likelihoods(scores).round(3).tolist() for how in ({}, {"top_k": 2}, {"top_p": 0.6}, {"top_p": 0.5})])
counts = np.bincount([model.Choice(1.0, seed=s)(scores) for s in range(2000)], minlength=4) / 2000
print("frequencies:", "agree" if np.abs(counts - [0.5, 0.3, 0.15, 0.05]).max() < 0.04 else counts)
wrong("a long prompt", lambda: model.generate(few, [[1] * 101], 2))
wrong("no prompt", lambda: model.generate(few, [[]], 2))
wrong("a token", lambda: model.generate(few, [[m.vocabulary]], 2))
crowd = [model.Sequence([1] * 60) for _ in range(3)]
wrong("pages", lambda: few.step(crowd))

t = m.tokens
text = "Hello, na\u00efve  w\u00f6rld's 123456\n\n  \u5317\u4eac \U0001f600<|im_start|>x<|im_end|>"
print("text:", t.decode(t.encode(text)) == text, t.encode("hello")[0] == t.ids["hello"], t.encode("<|im_end|>"), len(t.encode("")))
print("pieces:", [t.decode([i]) for i in t.encode("hello hell he  12 it's")])
for what, change in (("another model", {"model_type": "gpt2"}), ("a window", {"use_sliding_window": True}), ("a rope", {"rope_scaling": {"rope_type": "yarn"}})):
    wrong(what, lambda: model.Model(random_model.make(os.path.join(WORK, "bad"), norms=True, **{"model_type": "qwen3", **change})))
extra = random_model.make(os.path.join(WORK, "extra"), model_type="llama", more={"model.layers.0.mlp.gate_proj.bias": 96})
wrong("a tensor more", lambda: model.Model(extra))
for what, text in ("no JSON", "{"), ("no sizes", "{}"):
    with open(os.path.join(WORK, "bad", "config.json"), "w") as f:
        f.write(text)
    wrong(what, lambda: weights.read_config(os.path.join(WORK, "bad")))
for flags, words in (["-I", "-S"], ["--help"]), ([], [os.path.join(WORK, "none"), "x"]):  # help without any package
    done = subprocess.run([sys.executable, *flags, os.path.join(sys.path[0], "qwen.py"), *words], capture_output=True, text=True)
    print("command:", done.returncode, done.stderr.strip().replace(WORK, "."))
wrong("no files", lambda: weights.load(WORK, weights.read_config(qwen)))
with open(os.path.join(WORK, "t.json"), "w") as f:
    json.dump({"model": {"type": "Unigram"}}, f)
wrong("another tokenizer", lambda: tokens.Tokenizer(os.path.join(WORK, "t.json")))
