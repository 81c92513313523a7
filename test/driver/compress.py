"""usage: compress.py TILEC: in an empty folder. Errors of tilec compress beside those of numpy's singular values and of a search over scales; the
tensors in products of programs; files, types and texts that it refuses."""
import json
import re
import subprocess
import sys

import numpy as np

TILEC = sys.argv[1]
random = np.random.default_rng(1)
M, K = 60, 48
w = random.normal(size=(M, K)).astype(np.float32)
np.save("W.npy", w)


def run(*args):
    return subprocess.run([TILEC, *args], capture_output=True, text=True, check=False)


def compressed(form, *parts, file="W.npy", name="W"):
    """What it says of the error, and the tensors."""
    done = run("compress", file, f"--as={form}", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "trained in this structure are better" in done.stdout
    return float(re.search(r"error (\S+) of", done.stdout)[1]), [np.load(f"out/{name}.{p}.npy") for p in parts]


def check(form, parts, dense, best=None):
    """dense: of the tensors; best: the least error there is, or one that is reached."""
    told, tensors = compressed(form, *parts)
    error = np.linalg.norm(w - dense(*(t.astype(np.float64) for t in tensors))) / np.linalg.norm(w)
    assert abs(told - error) < 1e-3 * error + 1e-7, (form, told, error)
    assert best is None or error <= best * (1 + 1e-5) + 1e-7, (form, error, best)
    program = f'program p(x: f32[5, {K}], W: f32[{M}, {K}] as {form}) -> (y: f32[5, {M}]) {{ y = linear(x, W); }}\n'
    with open("p.tile", "w", encoding="utf-8") as to:
        to.write(program)
    done = run("run", "p.tile", "--check", *(f"--in=W.{p}=out/W.{p}.npy" for p in parts))
    assert done.returncode == 0 and "agrees" in done.stdout, done.stdout + done.stderr


def tail(a, rank):
    """What a matrix of that rank misses, squared."""
    return (np.linalg.svd(a.astype(np.float64), compute_uv=False)[rank:] ** 2).sum()


def places(a, r, s):
    p, q = a.shape[0] // r, a.shape[1] // s
    return a.reshape(p, r, q, s).transpose(0, 2, 1, 3).reshape(p * q, r * s)


norm = np.linalg.norm(w)
check(f"lowrank([{M}, 7], [7, {K}])", "UV", lambda u, v: u @ v, np.sqrt(tail(w, 7)) / norm)
check(f"lowrank([{M}, 50], [50, {K}])", "UV", lambda u, v: u @ v, 1e-6)
check(f"lowrank([{M}, 0], [0, {K}])", "UV", lambda u, v: u @ v, 1)
check("kron([15, 4], [4, 12])", "AB", np.kron, np.sqrt(tail(places(w, 4, 12), 1)) / norm)
check(f"hkron([12, {K}], [8, 6], [6, 8])", "ABC", lambda a, b, c: np.vstack([a, np.kron(b, c)]), np.sqrt(tail(places(w[12:], 6, 8), 1)) / norm)
blocks = sum(tail(w[40:, j:j + 16], 1) for j in (0, 16, 32))
check(f"hmd([40, {K}], [3, 20], [3, 16])", "ACD", lambda a, c, d: np.vstack([a, np.hstack([np.outer(x, y) for x, y in zip(c, d)])]), np.sqrt(blocks) / norm)
check(f"hmf([40, {K}], [20], [{K}])", "Acd", lambda a, c, d: np.vstack([a, np.outer(c, d)]), np.sqrt(tail(w[40:], 1)) / norm)
check(f"hmf([{M}, {K}], [0], [{K}])", "Acd", lambda a, c, d: a, 0)


def scaled(least, most, groups):
    """The error with the scale for which the largest number has the last code."""
    x = np.concatenate([w, np.zeros((M, -K % groups), np.float32)], 1).reshape(M, groups, -1).astype(np.float64)
    s = np.abs(x).max(2, keepdims=True) / most
    return np.linalg.norm(x - np.clip(np.rint(x / s), least, most) * s) / norm


def ternary(row):
    """All numbers of codes are tried."""
    size = np.sort(np.abs(row.astype(np.float64)))[::-1]
    return (size ** 2).sum() - max(size[:t].sum() ** 2 / t for t in range(1, len(size) + 1))


spread = lambda q, s: q * np.repeat(s, -(-K // s.shape[1]), axis=1)[:, :K]
check(f"int8([{M}, {K}], [{M}])", ["q", "scale"], lambda q, s: q * s[:, None], scaled(-128, 127, 1))
check(f"int8_groups([{M}, {K}], [{M}, 5])", ["q", "scale"], spread, scaled(-128, 127, 5))
check(f"int4_groups([{M}, {K}], [{M}, 3])", ["q", "scale"], spread, 0.97 * scaled(-8, 7, 3))
check(f"int4_groups([{M}, {K}], [{M}, {K}])", ["q", "scale"], spread, 1e-6)
check(f"ternary([{M}, {K}], [{M}])", ["q", "scale"], lambda q, s: q * s[:, None], np.sqrt(sum(map(ternary, w))) / norm)

# Rows of zeros, and a matrix of nothing else; no rows.
w[3] = 0
np.save("W.npy", w)
check(f"ternary([{M}, {K}], [{M}])", ["q", "scale"], lambda q, s: q * s[:, None])
check(f"int4_groups([{M}, {K}], [{M}, 1])", ["q", "scale"], spread)
np.save("zero.npy", np.zeros((4, 4), np.float32))
for form in ("int8([4, 4], [4])", "lowrank([4, 2], [2, 4])", "ternary([4, 4], [4])"):
    assert compressed(form, file="zero.npy")[0] == 0
np.save("none.npy", np.zeros((0, 4), np.float32))
for form in ("int8([0, 4], [0])", "lowrank([0, 2], [2, 4])", "int4_groups([0, 4], [0, 2])"):
    assert compressed(form, file="none.npy")[0] == 0


# A file of tensors in the place of .npy; two bytes an element.
def stored(path, tensors):
    header, data = {}, b""
    for name, (kind, a) in tensors.items():
        header[name] = {"dtype": kind, "shape": list(a.shape), "data_offsets": [len(data), len(data) + a.nbytes]}
        data += a.tobytes()
    text = json.dumps(header).encode()
    with open(path, "wb") as to:
        to.write(len(text).to_bytes(8, "little") + text + data)


half = (w.view(np.uint32) >> 16).astype(np.uint16)
stored("all.safetensors", {"layer.w": ("BF16", half), "b": ("F32", w[0])})
done = run("compress", "all.safetensors:layer.w", f"--as=lowrank([{M}, 48], [48, {K}])", "-o", "out")
assert done.returncode == 0 and f"layer.w: bf16[{M}, {K}], {2 * M * K} bytes" in done.stdout, done.stdout + done.stderr
with open("out/layer.w.safetensors", "rb") as file:
    size = int.from_bytes(file.read(8), "little")
    header = json.loads(file.read(size))
assert size % 8 == 0 and header["layer.w.U"] == {"dtype": "BF16", "shape": [M, 48], "data_offsets": [0, 2 * M * 48]}
with open("p.tile", "w", encoding="utf-8") as to:
    to.write(f"program p(x: bf16[5, {K}], W: bf16[{M}, {K}] as lowrank([{M}, 48], [48, {K}])) -> (y: bf16[5, {M}]) {{ y = linear(x, W); }}\n")
done = run("run", "p.tile", "--check", "--in=W=out/layer.w.safetensors:layer.w")
assert done.returncode == 0, done.stderr
done = run("compress", "all.safetensors:layer.w", f"--as=int4_groups([{M}, {K}], [{M}, 2])", "-o", "out")
assert done.returncode == 0, done.stderr


def refused(words, *args, code=1):
    done = run("compress", *args)
    assert done.returncode == code and words in done.stderr and not done.stdout, (args, done.returncode, done.stdout, done.stderr)


np.save("line.npy", w[0])
np.save("whole.npy", np.arange(16).reshape(4, 4))
w[7, 5] = np.nan
np.save("nan.npy", w)
refused("wants a format", "W.npy", code=2)
refused("W.npy2: No such file", "W.npy2", "--as=int8([1, 1], [1])")
refused("this is f32[48]", "line.npy", "--as=int8([1, 1], [1])")
refused("this is i64[4, 4]", "whole.npy", "--as=int8([4, 4], [4])")
refused("nan.npy: element [7, 5] is nan", "nan.npy", f"--as=int8([{M}, {K}], [{M}])")
refused("name a tensor", "all.safetensors", "--as=int8([1, 1], [1])")
refused("no tensor 'layer.v'; did you mean 'layer.w'?", "all.safetensors:layer.v", "--as=int8([1, 1], [1])")
refused("did you mean 'lowrank'?", "W.npy", "--as=lowrnk([1, 1], [1, 1])")
refused("come from training alone", "W.npy", "--as=strassen([1, 1], [1], [1, 1])")
refused("write it with numbers: hmf([m, n], [k], [k])", "W.npy", "--as=hmf([1, 1], [1])")
refused("write it with numbers", "W.npy", "--as=int8([60, 48], [60]) more")
refused("write it with numbers", "W.npy", "--as=int8([99999999999999999999, 48], [60])")
refused("do not fit each other", "W.npy", f"--as=lowrank([{M}, 7], [6, {K}])")
refused("do not fit each other", "W.npy", f"--as=hkron([12, 40], [8, 6], [6, 8])")
refused("stands for [60, 47], and the weights are [60, 48]", "W.npy", f"--as=lowrank([{M}, 7], [7, 47])")
