"""usage: library.py TILEC TARGET FILE..: every program of the files, on drawn inputs, in the emulator against the interpreter; a sample of them, unless everything runs.

What is refused must say so; anything else that is not within its bound is printed."""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import sample

tilec, target, *files = sys.argv[1:]
count = {"agree": 0, "refused": 0, "wrong": 0}
every = [(name, program) for name in files for program in re.findall(r"^program (\w+)", open(name, encoding="utf-8").read(), re.M)]
for name, program in sample.choose("tests of the library, emulated", every, 6, target):
    command = [tilec, "run", name, f"--program={program}", f"--target={target}", "--ranks=1", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    refused = done.returncode == 1 and "not supported yet" in done.stderr
    kind = "agree" if done.returncode == 0 else "refused" if refused else "wrong"
    count[kind] += 1
    if kind == "wrong":
        print(f"{name}: {program}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
print(", ".join(f"{n} {kind}" for kind, n in count.items()))
