"""usage: table.py TILEC [--target=gfx942] [-D NAME=N ..] [FILE.hip ..]: for each kernel of kernels.tile, or of HIP files, simulated
hits and bytes in row-major order and in the order that tilec chooses, and how much longer row-major takes to move them."""
import concurrent.futures
import pathlib
import re
import subprocess
import sys

SIM = re.compile(
    r"cache-sim: '(?P<kernel>\w+)', (?P<order>.*): L2 hits (?P<hits>[\d.]+) %, last level (?P<last>[\d.]+) %; "
    r"(?P<fetched>[\d.e+-]+) bytes to the L2, (?P<memory>[\d.e+-]+) of memory, (?P<time>[\d.e+-]+) us to move; [^;]*(?P<data>;.*)?")


def simulated(*command):
    """Kernel to its lines: row-major, and its order if it has another one."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    kernels = {}
    for line in map(SIM.match, done.stdout.splitlines()):
        if line:
            kernels.setdefault(line["kernel"], []).append(line)
    return kernels


def all_simulated(tilec, options):
    files = [o for o in options if o.endswith(".hip")]
    if not files:
        source = pathlib.Path(__file__).with_name("kernels.tile")
        return simulated(tilec, "explain", source, "--cache-sim", "-W", "no-all", *options)
    options = [o.replace("--target", "--arch") for o in options if o not in files]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        tables = pool.map(lambda file: simulated(tilec, "remap", file, "--cache-sim", *options), files)
    return {kernel: lines for table in tables for kernel, lines in table.items()}


def main(tilec, *options):
    if not any(option.startswith("--target=") for option in options):
        options = ["--target=gfx942", *options]
    print("| kernel | order | L2 hits, % | bytes to the L2 | of memory | row-major takes |\n|---|---|---|---|---|---|")
    for kernel, (before, *after) in all_simulated(tilec, options).items():
        now = after[0] if after else before
        moved = [f"{float(before[x]):.3g} to {float(now[x]):.3g}" if after else f"{float(now[x]):.3g}"
                 for x in ("hits", "fetched", "memory")]
        order = now["order"].removeprefix("order ")
        name = kernel + " (what data do not decide)" * bool(now["data"])
        print(f"| {name} | `{order}` | {' | '.join(moved)} | {float(before['time']) / max(float(now['time']), 1e-9):.2f} |")


if len(sys.argv) < 2:
    sys.exit(__doc__)
main(*sys.argv[1:])
