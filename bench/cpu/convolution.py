"""Convolutions of five networks by our algorithms, in turns with im2col and OpenBLAS (depthwise ones with a plain loop), on one core.

usage: bench/cpu/convolution.py [--build=DIR] [--results=FILE] [--work=DIR] [--networks=A,B] [--arms=PATTERN]

Every layer is compiled for the host and measured once; a network's sum counts it as often as it occurs. Prints a line a layer: times
as fast as the peer, and the largest error by the root of the mean square. JSON lines are added to --results. In the
environment: CORE, the number of the core; TURNS.
"""
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import networks

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NAMES = ("H", "W", "C", "O", "KH", "KW", "S", "PH", "PW")


def option(name, default):
    return next((a.split("=", 1)[1] for a in sys.argv[1:] if a.startswith(f"--{name}=")), default)


BUILD, ARMS = os.path.abspath(option("build", os.path.join(ROOT, "build"))), re.compile(option("arms", "."))


def command(*words, **more):
    return subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE, cwd=ROOT, **more).stdout


def tilec(*words):
    return command(os.path.join(BUILD, "bin", "tilec"), *words)


def sizes_of(rows, columns):
    """Results of a tile: weights of r places and m results need r + m - 1 <= 8."""
    most = {1: (1,), 3: (2, 4, 6), 5: (2, 4), 7: (2,)}
    if (rows == columns and rows in (3, 5)) or 1 in (rows, columns):
        return [(a, b) for a in most.get(rows, ()) for b in most.get(columns, ()) if a == b or 1 in (rows, columns)]
    return []


def arms_of(layer):
    """Folder's name, program, and its constants."""
    _, _, _, outputs, rows, columns, step, _, _ = layer
    if not outputs:
        return [("depthwise", "depthwise", {})]
    arms = [("runs", "runs", {}), ("chosen", "chosen", {})]
    if step == 1 and rows * columns > 1:
        arms += [(f"F({a}x{b})", "filtered", {"M1": a, "M2": b}) for a, b in sizes_of(rows, columns)]
    return [arm for arm in arms if ARMS.search(arm[0])]


def library(flags, folder, source, program, defines):
    """Compiles what is not yet there."""
    out = os.path.join(folder, program + ".so")
    if not os.path.exists(out):
        tilec("compile", source, f"--program={program}", "-o", folder, *(w for k, v in defines.items() for w in ("-D", f"{k}={v}")))
        command("cc", *flags, "-fPIC", "-shared", os.path.join(folder, program + ".c"), "-o", out + ".new", "-lm")
        os.rename(out + ".new", out)
    return out


def build_runner(flags, work):
    peer, runner = os.path.join(work, "plain.o"), os.path.join(work, "convolution")
    command("cc", "-Ofast", "-march=native", "-c", "bench/cpu/plain_convolution.c", "-o", peer)
    command("cc", *flags, "-rdynamic", "bench/cpu/convolution.c", peer, "-o", runner, "-Wl,--whole-archive",
            os.path.join(BUILD, "libtile.a"), "-Wl,--no-whole-archive", "-lopenblas", "-lm", "-ldl", "-lpthread")
    return runner


def measure(runner, flags, work, layer):
    """Lines of the peer and of each arm."""
    defines = {name: n for name, n in zip(NAMES, layer) if n or name in ("PH", "PW")}
    libraries, names = [], ["peer"]
    for name, program, more in arms_of(layer):
        folder = os.path.join(work, "_".join(map(str, layer)), name)
        os.makedirs(folder, exist_ok=True)
        if program in ("filtered", "chosen"):
            library(flags, folder, "bench/cpu/convolution.tile", program + "_weights", {**defines, **more})
        libraries.append(library(flags, folder, "bench/cpu/convolution.tile", program, {**defines, **more}))
        names.append(name)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS")} | {"OPENBLAS_NUM_THREADS": "1"}
    if "avx512f" in open("/proc/cpuinfo", encoding="utf-8").read():
        environment["OPENBLAS_CORETYPE"] = "SkylakeX"
    lines = command("taskset", "-c", os.environ.get("CORE", "0"), runner, *map(str, layer), *libraries, env=environment).splitlines()
    return {name: json.loads(line) for name, line in zip(names, lines)}


def summary(name, counts, measured, record):
    """Sums over the network: a fixed algorithm where it applies, and the fastest of each layer."""
    peer = sum(n * measured[layer]["peer"]["us"] for layer, n in counts.items())
    fastest = sum(n * min(line["us"] for arm, line in measured[layer].items() if arm != "peer") for layer, n in counts.items())
    plain = sum(n * measured[layer].get("runs", measured[layer].get("depthwise"))["us"] for layer, n in counts.items())
    chosen = sum(n * next(measured[layer][arm]["us"] for arm in ("chosen", "runs", "depthwise") if arm in measured[layer]) for layer, n in counts.items())
    print(f"{name}: peer {peer / 1e3:.2f} ms; times as fast: runs {peer / plain:.2f}, chosen {peer / chosen:.2f}, the fastest of each layer {peer / fastest:.2f}")
    record({"network": name, "peer_us": round(peer, 1), "runs": round(peer / plain, 3), "chosen": round(peer / chosen, 3), "fastest": round(peer / fastest, 3)})


def main():
    keep = option("work", None)
    work = keep or tempfile.mkdtemp()
    os.makedirs(work, exist_ok=True)
    flags = tilec("targets", "host", "--flags").split() + ["-I", "runtime", "-I", "runtime/include", "-I", "bench/cpu"]
    runner = build_runner(flags, work)
    machine = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo", encoding="utf-8").read()).group(1)
    about = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%FT%TZ"), "machine": machine + ", one core",
             "load": open("/proc/loadavg", encoding="utf-8").read().split()[0], "commit": command("git", "rev-parse", "--short", "HEAD").strip(),
             "command": "bench/cpu/convolution.py", "bench": "convolution"}
    results = open(os.path.join(ROOT, option("results", "bench/results/cpu.jsonl")), "a", encoding="utf-8")

    def record(facts):
        print(json.dumps({**about, **facts}), file=results, flush=True)

    measured = {}
    for name in option("networks", ",".join(networks.NETWORKS)).split(","):
        counts = networks.layers_of(name)
        print(f"\n{name}\n" + " ".join(f"{word:>5}" for word in NAMES) + "  peer us  times as fast (error)")
        for layer, count in counts.items():
            if layer not in measured:
                measured[layer] = measure(runner, flags, work, layer)
                record({"layer": layer, "arms": {arm: {k: line[k] for k in ("us", "ratio", "error")} for arm, line in measured[layer].items()}})
            arms = [f"{arm} {line['ratio']:.2f} ({line['error']:.1e})" for arm, line in measured[layer].items() if arm != "peer"]
            print(" ".join(f"{n:5}" for n in layer) + f"{measured[layer]['peer']['us']:9.0f}  " + "  ".join(arms) + f"  x{count}", flush=True)
        summary(name, counts, measured, record)
    results.close()
    if not keep:
        shutil.rmtree(work)


main()
