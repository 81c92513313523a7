"""What the tests of the standard library share: run a program on given inputs, compare its results with numpy.

A test's script is called with the command, the file of programs and a folder for its files. Inputs are float32 unless
they are integers; each program runs compiled, compared with the interpreter as well, and interpreted.
"""
import os
import subprocess
import sys

import numpy as np

TILEC, SOURCE, FOLDER = sys.argv[1:4]
random = np.random.default_rng(1)


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def run(program, inputs, want, tolerance=1e-5, options=()):
    """Every result of `want` is off by at most `tolerance` times the largest value expected; integers are equal."""
    os.makedirs(FOLDER, exist_ok=True)
    words = [f"--program={program}", *options]
    for name, value in inputs.items():
        np.save(f"{FOLDER}/{name}.npy", value)
        words += ["--in", f"{name}={FOLDER}/{name}.npy"]
    for target in (["--check"], ["--target=interp"]):
        outs = [word for name in want for word in ("--out", f"{name}={FOLDER}/out-{name}.npy")]
        done = subprocess.run([TILEC, "run", SOURCE, *words, *target, *outs], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{program} {target}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        for name, value in want.items():
            compare(f"{program} {target} {name}", np.load(f"{FOLDER}/out-{name}.npy"), np.asarray(value), tolerance)


def compare(what, got, want, tolerance):
    if got.shape != want.shape:
        sys.exit(f"{what}: shape {got.shape}, expected {want.shape}")
    if want.dtype.kind in "iu":
        if not np.array_equal(got, want):
            sys.exit(f"{what}: {np.count_nonzero(got != want)} of {want.size} differ")
        return
    error = np.abs(got - want).max()
    bound = tolerance * np.abs(want).max()
    if not error <= bound:
        sys.exit(f"{what}: largest error {error:.3g}, bound {bound:.3g}")
