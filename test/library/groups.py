"""Groups of calls of library kernels, each one program, run and compared with numpy; see constants.py for the arguments."""
import os
import re
import subprocess
import sys

import numpy as np

TILEC, LIBRARY, FOLDER = sys.argv[1:4]
random = np.random.default_rng(7)
covered = set()


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def integers(low, high, *shape, dtype=np.int32):
    return random.integers(low, high, shape).astype(dtype)


NAMES = {np.dtype(np.float32): "f32", np.dtype(np.int64): "i64", np.dtype(np.int32): "i32", np.dtype(np.int16): "i16", np.dtype(np.int8): "i8"}


def type_of(value, element=None):
    return f"{element or NAMES[value.dtype]}[{', '.join(map(str, value.shape))}]"


def source_of(name, inputs, calls, codes):
    """The text of a program `name` with a result r<i> for each call."""
    head = ", ".join(f"{key}: {type_of(value, 't2' if key in codes else None)}" for key, value in inputs.items())
    results = ", ".join(f"r{i}: {type_of(want)}" for i, (_, want) in enumerate(calls))
    body = "".join(f"  r{i} = {call};\n" for i, (call, _) in enumerate(calls))
    return f"program {name}({head}) -> ({results}) {{\n{body}}}\n"


def compare(what, got, want, tolerance):
    if want.dtype.kind in "iu":
        assert np.array_equal(got, want), f"{what}: {np.count_nonzero(got != want)} of {want.size} differ"
    elif want.size:
        finite = np.isfinite(want)
        assert np.array_equal(got[~finite], want[~finite]), f"{what}: infinite elements differ"
        error, bound = np.abs(got[finite] - want[finite]).max(initial=0), tolerance * np.abs(want[finite]).max(initial=1e-30)
        assert error <= bound, f"{what}: largest error {error:.3g}, bound {bound:.3g}"


def path_of(name):
    return os.path.join(FOLDER, name)


def group(name, inputs, calls, tolerance=1e-5, results=None, codes=()):
    """Runs all calls; calls: [(text, expected)]. `results` is the program's text where calls give several results; `codes`
    names the inputs of two bits."""
    with open(path_of(f"{name}.tile"), "w") as f:
        f.write(source_of(name, inputs, calls, codes) if results is None else results)
    words = []
    for key, value in inputs.items():
        np.save(path_of(f"{name}.{key}.npy"), value)
        words += ["--in", f"{key}={path_of(f'{name}.{key}.npy')}"]
    for i in range(len(calls)):
        words += ["--out", f"r{i}={path_of(f'{name}.r{i}.npy')}"]
    for target in "host", "interp":
        done = subprocess.run([TILEC, "run", path_of(f"{name}.tile"), f"--target={target}", *words], capture_output=True, text=True)
        assert done.returncode == 0, f"{name} on {target}: {done.stdout}{done.stderr}"
        for i, (call, want) in enumerate(calls):
            compare(f"{target}: {call}", np.load(path_of(f"{name}.r{i}.npy")), want, tolerance)
    covered.update(re.findall(r"\w+(?=\()", " ".join(call for call, _ in calls)))


def refused(call, result, inputs="", error="assertion"):
    """The call is a compile error, that of its assertion if no other is named."""
    with open(path_of("refused.tile"), "w") as f:
        f.write(f"program p({inputs}) -> (r: {result}) {{ r = {call}; }}\n")
    done = subprocess.run([TILEC, "compile", path_of("refused.tile"), "--emit=ir"], capture_output=True, text=True)
    assert done.returncode == 1 and f"[{error}]" in done.stderr, f"{call}: not refused by [{error}]\n{done.stderr}"


def single(x):
    return np.asarray(x).astype(np.float32)
