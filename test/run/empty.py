"""usage: empty.py TILEC FILE: dimensions of 0 on one rank by host and emulator, on four in every form: all outputs agree."""
import subprocess
import sys

tilec, source = sys.argv[1:]
ALONE = ("rows", "columns", "products", "nothing", "norms")
SHARED = ("gathered", "reduced", "scattered")
FORMS = [[f"--comm={form}"] for form in ("auto", "unfused", "pull", "staged", "push", "packet")] + [["--off=comm,flags"]]


def agrees(program, *options):
    command = [tilec, "run", source, f"--program={program}", "--check", "--timeout=20000", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or "agrees" not in done.stdout:
        print(program, *options, "exit code", done.returncode, done.stdout, done.stderr)
        return 0
    return 1


good = sum(agrees(p, "--ranks=1", f"--target={t}") for p in ALONE for t in ("host", "emu:gfx942", "emu:sm_90a"))
good += sum(agrees(p, "--ranks=4", *form) for p in SHARED for form in FORMS)
print(f"{good} agree")
