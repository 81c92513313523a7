"""usage: network.py TILEC EXAMPLE FOLDER: runs the programs of keyword.tile on new sounds, as docs/guides/small.md says."""
import subprocess
import sys

import numpy as np

TILEC, EXAMPLE, FOLDER = sys.argv[1:4]
SOUNDS = 120


def script(name, *words):
    subprocess.run(["/usr/bin/python3", "-B", f"{EXAMPLE}/{name}", *words], check=True, stdout=subprocess.DEVNULL)


def scores(program, x, weights):
    words = [f"--program={program}", "-D", f"N={SOUNDS}", "--in", f"x={x}", "--in", f"w={weights}", "--out", f"score={FOLDER}/score.npy"]
    done = subprocess.run([TILEC, "run", f"{EXAMPLE}/keyword.tile", *words], stderr=subprocess.PIPE, text=True, check=True)
    if done.stderr:  # neither tilec nor the compiler behind it warns
        sys.exit(done.stderr)
    return np.load(f"{FOLDER}/score.npy")


script("train.py", f"{FOLDER}/trained.safetensors", "3", "64")
script("export.py", f"{FOLDER}/trained.safetensors", f"{FOLDER}/trained", "8")
script("export.py", f"{EXAMPLE}/keyword.safetensors", FOLDER, str(SOUNDS))
label = np.load(f"{FOLDER}/label.npy")
right = {}
for kind in ("", "q15", "q7"):
    source = f"{FOLDER}/{kind}.safetensors" if kind else f"{EXAMPLE}/keyword.safetensors"
    score = scores("keyword" + ("_" + kind if kind else ""), f"{FOLDER}/{kind or 'x'}.npy", source)
    right[kind] = (score.argmax(1) == label).mean()
    if kind:
        lines = [" ".join(map(str, row)) + f" class {row.argmax()}\n" for row in score[:8]]
        hits = (score[:8].argmax(1) == label[:8]).sum()
        open(f"{FOLDER}/{kind}.txt", "w").write("".join(lines) + f"{hits} of 8 right\n")
if right[""] < 0.92 or right["q15"] < right[""] - 0.01 or right["q7"] < right[""] - 0.03:
    sys.exit(f"of {SOUNDS} sounds: {right}")
