"""usage: agree.py TILEC ROLES_RUN FOLDER MUTANTS SEED: what the verifier accepts of changed roles has no fault of rings, turns or
sums in the interpreter.

Lines of the roles of FOLDER/*.tir go, move or come twice, rings get other numbers of slots, turns other orders and shifts. Results
may differ from the body's, or be missing: a changed program means another thing."""
import os
import random
import re
import subprocess
import sys

SIZES = {"product": ["K=0,1,8,9,24,37"], "loops": ["K=0,3,8,16,21"], "attention": ["S=0,1,4,5,13,20"], "flags": ["generations=3"]}
FAULT = re.compile(r"deadlock|freed|`ready`|filled|registers|poison")


def move_line(draw, lines):
    i = draw.randrange(len(lines))
    line = lines.pop(i)
    lines.insert(min(i + draw.randint(1, 3), len(lines)), line)


def repeat_line(draw, lines):
    lines.insert(draw.randrange(len(lines)), draw.choice(lines))


def remove_line(draw, lines):
    lines.pop(draw.randrange(len(lines)))


def change_slots(draw, lines):
    i = draw.choice([i for i, line in enumerate(lines) if re.search(r"ring \$\w+ \d", line)])
    lines[i] = re.sub(r"(ring \$\w+) \d", rf"\1 {draw.randint(1, 3)}", lines[i])


def change_turns(draw, lines):
    looped = [i for i, line in enumerate(lines) if " turns " in line]
    if not looped:
        return
    i = draw.choice(looped)
    head, turns = lines[i].rstrip(" {").split(" turns ")
    pieces = re.findall(r"[A-Z](?:@\d)?", turns)
    a, b = draw.randrange(len(pieces)), draw.randrange(len(pieces))
    pieces[a], pieces[b] = pieces[b], pieces[a]
    if draw.random() < 0.5:
        pieces[a] = pieces[a][0] + draw.choice(["", "@1", "@2"])
    lines[i] = f"{head} turns {' '.join(pieces)} {{"


def changed(draw, text):
    """Roles stand between their first ring and the body."""
    begin, end = text.index("ring $"), text.index("} spec")
    lines = text[begin:end].split("\n")
    for _ in range(draw.choice([1, 1, 2])):
        draw.choice([move_line, move_line, repeat_line, remove_line, change_slots, change_turns])(draw, lines)
    return text[:begin] + "\n".join(lines) + text[end:]


def main(tilec, roles_run, folder, mutants, seed):
    draw = random.Random(int(seed))
    texts = {name: re.sub(r"^// .*\n", "", open(os.path.join(folder, name + ".tir")).read(), flags=re.M) for name in SIZES}
    accepted = refused = wrong = 0
    for _ in range(int(mutants)):
        name = draw.choice(sorted(SIZES))
        with open("mutant.tir", "w") as f:
            f.write(changed(draw, texts[name]))
        verified = subprocess.run([tilec, "opt", "mutant.tir"], capture_output=True, text=True)
        refused += "[invalid-ir]" in verified.stderr
        if verified.returncode:
            continue
        accepted += 1
        run = subprocess.run([roles_run, "mutant.tir", *SIZES[name], "schedules=8"], capture_output=True, text=True)
        if FAULT.search(run.stdout + run.stderr):
            wrong += 1
            os.rename("mutant.tir", f"wrong{wrong}.tir")
            print(f"{name}, changed as in wrong{wrong}.tir: {run.stdout}{run.stderr}")
    print(f"{mutants} mutants, {accepted} accepted, {refused} refused, {wrong} wrong")
    sys.exit(wrong > 0 or accepted == 0 or refused == 0)


main(*sys.argv[1:])
