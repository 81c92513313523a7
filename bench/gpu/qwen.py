#!/usr/bin/env python3
"""qwen.py build BUILD FOLDER; qwen.py FOLDER [-o FILE] [--commit C] [--seconds N] [--batches B,..]: examples/qwen at Qwen3-8B's shape with random
weights, beside transformers' model of the same weights: tokens a second of decoding steps at full contexts and of a prompt. Both run in
CUDA graphs. PyTorch's compiler gets 4 layers and the head, and is scaled to 36 (compiling all takes minutes); what does not begin within N
seconds is left out. Sums are of 16-bit operands, rounded at other places: over 36 layers logits differ by some percent of their norm."""
import argparse, datetime, json, os, statistics, struct, subprocess, sys, time

LAYERS, WIDTH, HIDDEN, HEADS, KEYS, HEAD, WORDS, PLACES = 36, 4096, 12288, 32, 8, 128, 151936, 2048
PAGE, MOST, EPS, BASE = 16, 32, 1e-6, 1e6
BATCHES, COMPILED = (1, 8, 32), 4  # COMPILED: layers that PyTorch compiles


def build(folder, to):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/qwen/qwen.tile")
    sizes = dict(L=LAYERS, D=WIDTH, F=HIDDEN, H=HEADS, G=KEYS, E=HEAD, V=WORDS, P=MOST * PLACES // PAGE, U=PAGE, W=PLACES // PAGE, NORMS=1)
    for program in "decode", "prefill":
        subprocess.run([f"{folder}/bin/tilec", "compile", source, f"--program={program}", "--target=sm_90a", "--emit=lib", "-o", f"{to}/qwen_{program}",
                        *(f"-D{name}={value}" for name, value in sizes.items())], check=True)
    subprocess.run(["cp", f"{folder}/libtile.so", to], check=True)


def weights(torch, device):
    """The record `weights` of qwen.tile, in its order."""
    def random(*shape):
        t = torch.empty(*shape, device=device, dtype=torch.bfloat16)
        for part in t if t.dim() == 3 else t[None]:
            part.normal_(0, shape[-1] ** -0.5)
        return t

    near_one = lambda *shape: (1 + 0.1 * torch.randn(*shape, device=device)).bfloat16()
    rows = (HEADS + 2 * KEYS) * HEAD
    return {"embed": random(WORDS, WIDTH), "norm1": near_one(LAYERS, WIDTH), "qkv": random(LAYERS, rows, WIDTH), "qkv_bias": torch.zeros(LAYERS, rows, device=device, dtype=torch.bfloat16),
            "norm_q": near_one(LAYERS, HEAD), "norm_k": near_one(LAYERS, HEAD), "out": random(LAYERS, WIDTH, HEADS * HEAD), "norm2": near_one(LAYERS, WIDTH),
            "gate": random(LAYERS, HIDDEN, WIDTH), "up": random(LAYERS, HIDDEN, WIDTH), "down": random(LAYERS, WIDTH, HIDDEN), "norm": near_one(WIDTH), "head": random(WORDS, WIDTH),
            "frequency": BASE ** (torch.arange(0, HEAD, 2, device=device, dtype=torch.float32) / -HEAD)}


# ---- transformers ----

def model_of(torch, w, device):
    """transformers' model, whose parameters are parts of ours."""
    from transformers import Qwen3Config, Qwen3ForCausalLM
    from transformers.models.qwen3.modeling_qwen3 import Qwen3RotaryEmbedding

    config = Qwen3Config(vocab_size=WORDS, hidden_size=WIDTH, intermediate_size=HIDDEN, num_hidden_layers=LAYERS, num_attention_heads=HEADS, num_key_value_heads=KEYS, head_dim=HEAD,
                         max_position_embeddings=40960, rms_norm_eps=EPS, rope_parameters={"rope_type": "default", "rope_theta": BASE}, tie_word_embeddings=False, attn_implementation="sdpa", dtype=torch.bfloat16)
    with torch.device("meta"):
        model = Qwen3ForCausalLM(config).eval()
    given = {"model.embed_tokens.weight": w["embed"], "model.norm.weight": w["norm"], "lm_head.weight": w["head"]}
    q, k = HEADS * HEAD, (HEADS + KEYS) * HEAD
    for l in range(LAYERS):
        at, qkv = f"model.layers.{l}.", w["qkv"][l]
        given.update({f"{at}self_attn.{part}_proj.weight": x for part, x in (("q", qkv[:q]), ("k", qkv[q:k]), ("v", qkv[k:]), ("o", w["out"][l]))})
        given.update({f"{at}self_attn.{part}_norm.weight": w["norm_" + part][l] for part in "qk"})
        given.update({f"{at}mlp.{part}_proj.weight": w[part][l] for part in ("gate", "up", "down")})
        given.update({f"{at}{name}_layernorm.weight": w[part][l] for name, part in (("input", "norm1"), ("post_attention", "norm2"))})
    model.load_state_dict(given, assign=True)
    with torch.device(device):
        model.model.rotary_emb = Qwen3RotaryEmbedding(config)
    return model


def cache_of(torch, model, b, device):
    from transformers import StaticCache

    cache = StaticCache(config=model.config, max_cache_len=PLACES)
    cache.early_initialization(batch_size=b, num_heads=KEYS, head_dim=HEAD, dtype=torch.bfloat16, device=device)
    return cache


def rewind(cache, at):
    for layer in cache.layers:
        layer.cumulative_length.fill_(at)


def forward(model, ids, at, cache):
    """Without a mask: at the last place of a cache every key counts, and in a prompt PyTorch's own causal attention does."""
    return model(input_ids=ids, position_ids=at, past_key_values=cache, use_cache=True, attention_mask={"full_attention": None}, logits_to_keep=1).logits[:, -1]


# ---- steps ----

class Step:
    """One new token of each of b sequences, whose caches are full but for its place; the pages of sequences are shuffled."""

    def __init__(self, torch, w, b, device):
        self.torch, self.b, wide = torch, b, PLACES // PAGE
        new = lambda *shape: torch.randn(*shape, device=device, dtype=torch.bfloat16)
        self.kp, self.vp = (new(LAYERS, MOST * PLACES, KEYS, HEAD) for _ in range(2))
        self.table = torch.randperm(MOST * wide, device=device)[:b * wide].view(b, wide).int()
        self.ids = torch.randint(WORDS, (b,), device=device, dtype=torch.int32)
        self.at = torch.full((b,), PLACES - 1, device=device, dtype=torch.int32)
        self.place = self.table[:, -1] * PAGE + PAGE - 1
        self.logits = torch.full((b, WORDS), float("nan"), device=device)
        self.words = [self.ids, self.at, self.place, self.table, *w.values(), struct.unpack("<I", struct.pack("<f", EPS))[0], self.kp, self.vp, self.logits, b]

    def fill(self, cache):
        """The peer's cache gets the same keys and values."""
        places = (self.table.long()[:, :, None] * PAGE + self.torch.arange(PAGE, device=self.table.device)).view(self.b, -1)
        for l, layer in enumerate(cache.layers):
            layer.keys.copy_(self.kp[l][places].transpose(1, 2))
            layer.values.copy_(self.vp[l][places].transpose(1, 2))

    def peer(self, model, cache, call):
        ids, at = self.ids.long()[:, None], self.at.long()[:, None]
        return lambda: call(model, ids, at, cache)


class Prompt:
    """2048 tokens of a new sequence."""

    def __init__(self, torch, w, device):
        self.torch, wide, n = torch, PLACES // PAGE, PLACES
        self.kp, self.vp = (torch.zeros(LAYERS, MOST * PLACES, KEYS, HEAD, device=device, dtype=torch.bfloat16) for _ in range(2))
        self.ids = torch.randint(WORDS, (n,), device=device, dtype=torch.int32)
        self.at = torch.arange(n, device=device, dtype=torch.int32)
        self.table = torch.randperm(MOST * wide, device=device)[:wide].view(1, wide).int()
        self.place = (self.table.long()[0, :, None] * PAGE + torch.arange(PAGE, device=device)).view(-1).int()
        self.start, self.past = torch.tensor([0, n], device=device, dtype=torch.int32), torch.zeros(1, device=device, dtype=torch.int32)
        self.logits = torch.full((1, WORDS), float("nan"), device=device)
        self.words = [self.ids, self.at, self.place, self.start, self.past, self.table, *w.values(), struct.unpack("<I", struct.pack("<f", EPS))[0], self.kp, self.vp, self.logits, 1, n]

    def peer(self, model, cache, call):
        ids, at = self.ids.long()[None], self.at.long()[None]

        def once():
            rewind(cache, 0)
            return call(model, ids, at, cache)
        return once


# ---- measuring ----

def replayed(bench, call, before=lambda: None, times=12):
    """Milliseconds of a call in a graph of its own."""
    before()
    graph, found = bench.graph(lambda i: call(), 1), []
    for _ in range(times):
        before()
        found.append(bench.microseconds(graph, 1) / 1e3)
    return statistics.median(found[times // 3:])


def compiled(bench, model, step, cache, begin):
    """Milliseconds of 36 layers by PyTorch's compiler, from 4 and 0."""
    call, ms = bench.torch.compile(forward, dynamic=False, fullgraph=True), {}
    for layers in COMPILED, 0:
        model.config.num_hidden_layers = layers
        ms[layers] = replayed(bench, step.peer(model, cache, call), begin)
    model.config.num_hidden_layers = LAYERS
    return ms[0] + (ms[COMPILED] - ms[0]) * LAYERS / COMPILED


class Bench:
    def __init__(self, options):
        import run as bench

        self.began, self.options, self.bench = time.monotonic(), options, bench
        bench.torch.manual_seed(0)
        bench.torch.cuda.set_stream(bench.torch.cuda.Stream())
        self.mesh, self.w = bench.Mesh(options.folder), weights(bench.torch, "cuda")
        self.model = model_of(bench.torch, self.w, "cuda")

    def told(self, shape, tokens, ms, name, peer, error):
        line = {"work": "examples/qwen at Qwen3-8B's shape", "shape": shape, "dtype": "bf16", "gpu": self.bench.torch.cuda.get_device_name(), "ours_us": round(1e3 * ms, 1),
                "tokens_per_s": round(tokens / ms * 1e3, 1), "peers": {name: round(1e3 * peer, 1)}, "peer_tokens_per_s": round(tokens / peer * 1e3, 1), "rel_err": error,
                "torch": self.bench.torch.__version__, "seconds": round(time.monotonic() - self.began, 1), "commit": self.options.commit, "date": str(datetime.date.today())}
        print(json.dumps(line), file=self.options.output, flush=True)

    def both(self, name, work, cache, begin, times):
        """Ours and transformers', and how far the scores of both are apart."""
        run = self.mesh.program(f"{self.options.folder}/qwen_{name}/lib{name}.so", name)
        call, torch = work.peer(self.model, cache, forward), self.bench.torch
        want = call().float()
        run(*work.words)
        torch.cuda.synchronize()
        error = round(self.bench.error_of(work.logits, want), 4)
        return replayed(self.bench, lambda: run(*work.words), times=times), replayed(self.bench, call, begin, times), error

    def decode(self, b):
        """A row for the model as it is; what makes one for PyTorch's compiler."""
        step, cache = Step(self.bench.torch, self.w, b, "cuda"), cache_of(self.bench.torch, self.model, b, "cuda")
        step.fill(cache)
        rewind(cache, PLACES - 1)
        begin, shape = lambda: rewind(cache, PLACES - 8), f"decode, batch {b}, {PLACES} places"  # a graph's three calls before it, and each replay, end a place further
        ours, peer, error = self.both("decode", step, cache, begin, 12)
        self.told(shape, b, ours, "transformers", peer, error)
        return lambda: self.told(shape, b, ours, f"torch.compile of {COMPILED} layers, times {LAYERS // COMPILED}", compiled(self.bench, self.model, step, cache, begin), error)

    def prompt(self):
        ours, peer, error = self.both("prefill", Prompt(self.bench.torch, self.w, "cuda"), cache_of(self.bench.torch, self.model, 1, "cuda"), lambda: None, 6)
        self.told(f"prompt of {PLACES} tokens", PLACES, ours, "transformers", peer, error)


def measure(options):
    bench = Bench(options)
    with bench.bench.torch.no_grad():
        for compile_too in [bench.decode(b) for b in options.batches]:
            if time.monotonic() - bench.began < options.seconds:
                compile_too()
        bench.prompt()


if __name__ == "__main__":
    if sys.argv[1:2] == ["build"]:
        build(*sys.argv[2:4])
    else:
        parser = argparse.ArgumentParser()
        parser.add_argument("folder")
        parser.add_argument("-o", dest="output", type=argparse.FileType("a"), default=sys.stdout)
        parser.add_argument("--commit", default="")
        parser.add_argument("--seconds", type=float, default=600)
        parser.add_argument("--batches", type=lambda words: [int(b) for b in words.split(",")], default=BATCHES)
        measure(parser.parse_args())
