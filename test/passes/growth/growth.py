"""Compiles programs of n and 4n ranks, iterations and kernels: processor time and peak memory grow no faster than n log n, and
none takes more than 5 s and 300 MB. usage: growth.py TILEC SOURCE FOLDER"""
import math
import os
import resource
import subprocess
import sys

TILEC, SOURCE, FOLDER = sys.argv[1:4]
SECONDS, MEGABYTES = 5.0, 300.0
NOISE = 1.7  # of 4 n over n: what is quadratic would be 16 / 5 = 3.2 times as much as n log n
BASE_SECONDS, BASE_MEGABYTES = 0.25, 20.0  # what starting costs

JACOBI = """dim N = 128, M = 128, T = 5;
mesh py = 2, px = 2;
kernel step(own: U[n, m], u: U[a, b], f: U[n, m]) -> (v: U[n, m]) {
  each i: 8 of n, j: 8 of m {
    v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) + f[i, j] + 0.0 * own[i, j];
  }
}
program jacobi(u0: f32[N @ py, M @ px], f: f32[N @ py, M @ px]) -> (v: f32[N @ py, M @ px]) {
  u = u0;
  repeat t of T {
    w: f32[N @ py, M @ px] = step(u, all_gather(all_gather(u, py), px), f);
    u = w;
  }
  v = u;
}
"""
UPDATE = """dim N = 64, T = 5;
program update(state x: f32[N], y: f32[N]) -> (z: f32[N]) {
  repeat t of T { x = x * y + y; }
  z = x;
}
"""
CHAIN = """dim N = 64, T = 5;
kernel turned(x: f32[n], y: f32[n]) -> (z: f32[n]) { each i: 16 of n { z[i] = x[i] * y[n - 1 - i]; } }
program chain(x: f32[N], y: f32[N]) -> (z: f32[N]) {
  a = x;
  repeat t of T {
    b: f32[N] = turned(a, y);
    a = b;
  }
  z = a;
}
"""
MESH = """dim M = 8192, N = 8192, K = 8192;
mesh px = 4, py = 64;
program gathered(A: f32[M @ (px, py), K], B: f32[K, N]) -> (C: f32[M, N]) { C = matmul(all_gather(A), B); }
program scattered(A: f32[M, K @ (px, py)], B: f32[K @ (px, py), N]) -> (C: f32[M @ (px, py), N]) {
  C = reduce_scatter(matmul(A, B));
}
program reduced(A: f32[M @ px, K @ py], B: f32[K @ py, N]) -> (C: f32[M @ px, N]) { C = all_reduce(matmul(A, B), py); }
"""


def written(name, text):
    path = os.path.join(FOLDER, name + ".tile")
    with open(path, "w") as f:
        f.write(text)
    return path


def kernels(n):
    made = subprocess.run([sys.executable, SOURCE + "/bench/compile/generate.py", str(n)], check=True, capture_output=True, text=True)
    return [written("kernels%d" % n, made.stdout)]


def example(name):
    return lambda n: ["%s/examples/%s.tile" % (SOURCE, name), "--ranks=%d" % n]


def program(name, text, dim):
    return lambda n: [written(name, text), "-D", "%s=%d" % (dim, n)]


def mesh(n):
    return [written("mesh", MESH), "-D", "px=%d" % (n // 64)]


def packets(n):
    return example("flash_decode")(n) + ["--target=sm_90a"]


FAMILIES = [("ranks of " + name, example(name), 256) for name in ("ag_gemm", "gemm_rs", "gemm_ar", "mlp_tp", "flash_decode")]
FAMILIES += [("ranks of two axes", mesh, 1024), ("ranks that send packets", packets, 64),
             ("iterations of jacobi", program("jacobi", JACOBI, "T"), 100),
             ("iterations of an update", program("update", UPDATE, "T"), 100),
             ("iterations of a chain", program("chain", CHAIN, "T"), 200), ("kernels", kernels, 250)]


def measured(arguments):
    """Processor seconds and peak megabytes; a compilation that takes far too long is ended."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (4 * int(SECONDS), 4 * int(SECONDS)))
    process = subprocess.Popen([TILEC, "compile", "-o", os.path.join(FOLDER, "out")] + arguments, preexec_fn=limit)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit("failed or took too long: " + " ".join(arguments))
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def too_much(small, large, n):
    grows = 4 * math.log2(4 * n) / math.log2(n) * NOISE
    if max(small[0], large[0]) > SECONDS or max(small[1], large[1]) > MEGABYTES:
        return True
    return large[0] > small[0] * grows + BASE_SECONDS or large[1] > small[1] * grows + BASE_MEGABYTES


def judge(name, make, n):
    small, large = measured(make(n)), measured(make(4 * n))
    if too_much(small, large, n):  # the machine may be busy
        small, large = (tuple(map(min, a, measured(make(k)))) for a, k in ((small, n), (large, 4 * n)))
    bad = too_much(small, large, n)
    print("%s: %d: %.2f s, %.0f MB; %d: %.2f s, %.0f MB%s" % (name, n, *small, 4 * n, *large, ": too much" if bad else ""))
    return bad


os.makedirs(FOLDER, exist_ok=True)
wrong = [name for name, make, n in FAMILIES if judge(name, make, n)]
print("%d families, %d too much" % (len(FAMILIES), len(wrong)))
sys.exit(1 if wrong else 0)
