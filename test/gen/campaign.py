#!/usr/bin/env python3
"""usage: campaign.py BUILD FOLDER [--programs=N] [--first=SEED] [--jobs=N] [--parts=mesh,gpu,oracle,check] [--seconds=S]
                         [--limit=S]

Random programs on many processors: each part draws N programs. `mesh` is unit/tile_random (every pass and form, random
schedules, compiled code), `gpu` is the same programs on emulated GPUs, `oracle` is test/oracle/run.py, each program in
the interpreter and on one of host, host with relaxed sums and the four emulated GPUs, `check` is test/gen/run_check.py.

Prints what was found and the sums; what it prints is also in FOLDER. Fifty programs that have not ended after --limit
seconds are a finding, which names the file that changed last; after --seconds none are begun. The checkout may lie
anywhere: headers are taken from it. Exit code 1 where anything was found.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHUNK, STRIDE = 50, 60  # programs of a process; its seeds, some of which give none
TARGETS = "host,host+--relaxed,emu:gfx90a,emu:gfx942,emu:gfx950,emu:sm_90a"
LAST = re.compile(r"(\d+) programs, (\d+) (?:differ|wrong)(?:, (\d+) runs not supported(?:, (\d+) %)?)?")


def environment():
    """Compilers that are there, and the headers of this checkout."""
    env = dict(os.environ, TILEC_RUNTIME=f"{SOURCE}/runtime")
    if not any(shutil.which(name) for name in ("clang++-22", "clang++-14", "clang++")):
        env.setdefault("TILEC_CLANGXX", "g++")
    if not shutil.which("cc"):
        env.setdefault("CC", "gcc")
    return env


def command(o, part, k):
    folder, first = f"{o.folder}/{part}-{k}", o.first + k * STRIDE
    os.makedirs(folder, exist_ok=True)
    if part == "oracle":
        return [sys.executable, f"{SOURCE}/test/oracle/run.py", f"{o.build}/bin/tilec", folder, f"--programs={CHUNK}", f"--first={first}",
                "--targets=interp", f"--rotate={TARGETS}"], folder
    if part == "check":
        return [sys.executable, f"{SOURCE}/test/gen/run_check.py", f"{o.build}/bin/tilec", f"{o.build}/unit/tile_random", folder,
                f"--programs={STRIDE}", f"--first={first}"], folder
    words = [f"{o.build}/unit/tile_random", f"--programs={CHUNK}", f"--first={first}", f"--folder={folder}"]
    return words + (["--emulate=1", "--only-emulated", "--compile=0"] if part == "gpu" else ["--compile=25"]), folder


def newest(folder):
    files = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    return max(files, key=os.path.getmtime, default="its first program")


def run_group(words, env, limit):
    """As subprocess.run; what is started by the command ends with it."""
    p = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, start_new_session=True)
    try:
        text = p.communicate(timeout=limit)[0]
        return subprocess.CompletedProcess(words, p.returncode, text)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        raise


def chunk(o, part, k, env):
    """The name of the part, what was printed, and the figures of its last line."""
    words, folder = command(o, part, k)
    left = o.end - time.time()
    if left <= 0:
        return part, "", None
    try:
        done = run_group(words, env, o.limit)
        text, code = done.stdout, done.returncode
    except subprocess.TimeoutExpired:
        return part, f"does not end after {o.limit} s, at {newest(folder)}: {' '.join(words)}\n", (0, 1, 0, 0)
    found = LAST.search(text)
    numbers = tuple(int(x or 0) for x in found.groups()) if found else (0, 1, 0, 0)
    if code == 0 and found:
        shutil.rmtree(folder)
        return part, "", numbers
    return part, text, (numbers[0], max(numbers[1], 1), *numbers[2:])


def options():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("folder")
    p.add_argument("--programs", type=int, default=1000)
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--parts", default="mesh,gpu,oracle,check")
    p.add_argument("--seconds", type=float, default=1e9)
    p.add_argument("--limit", type=float, default=600)
    o = p.parse_args()
    o.build, o.folder, o.end = os.path.abspath(o.build), os.path.abspath(o.folder), time.time() + o.seconds
    return o


def main():
    o, env, sums, wrong = options(), environment(), collections.Counter(), False
    os.makedirs(o.folder, exist_ok=True)
    work = [(part, k) for k in range(-(-o.programs // CHUNK)) for part in o.parts.split(",")]
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool, open(f"{o.folder}/found.txt", "w", encoding="utf-8") as log:
        for part, text, numbers in pool.map(lambda w: chunk(o, *w, env), work):
            for name, n in zip(("programs", "wrong", "not supported"), numbers or ()):
                sums[part, name] += n
            if text:
                wrong = True
                log.write(text)
                log.flush()
                print(text[:6000], flush=True)
    for part in o.parts.split(","):
        print(f"{part}: {sums[part, 'programs']} programs, {sums[part, 'wrong']} wrong, {sums[part, 'not supported']} runs not supported")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
