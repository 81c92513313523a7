"""usage: gpu-compile.py TILEC SOURCE FOLDER TARGET: the GPU text of every program of the examples and of the library's tests,
and of meshes in each form, compiles for the target without a warning, and no kernel spills (on AMD: or has memory of its own).
A sample of the programs, unless everything runs.
Where there is hipcc it takes what is for gfx90a as well, below HIP's own headers.

Programs go into one text until a name comes again, those with schedules into their own; a kernel of the same text as one
before is left out."""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import sample

tilec, source, folder, target = sys.argv[1:]
nvidia = target.startswith("sm_")
SCHEDULED = re.compile("by the schedule '|, in roles \\*/")  # a kernel with declarations beside it
FORMS = ("pull", "push", "staged", "packet", "unfused")
MESHES = ("ag_gemm", "gemm_rs", "gemm_ar", "mlp_tp", "flash_decode")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def programs(name):
    with open(name, encoding="utf-8") as file:
        return re.findall(r"^program (\w+)", file.read(), re.M)


def cases():
    """File, program, options."""
    files = sorted(glob.glob(f"{source}/examples/**/*.tile", recursive=True)) + sorted(glob.glob(f"{source}/test/library/*.tile"))
    for name in files:
        yield from ((name, program, ["--ranks=1"]) for program in programs(name))
    for mesh in MESHES:
        yield from ((f"{source}/examples/{mesh}.tile", mesh, ["--ranks=2", f"--comm={form}"]) for form in FORMS)
    flags = f"{source}/test/passes/flags"
    yield from ((f"{flags}/wave.tile", program, []) for program in programs(f"{flags}/wave.tile"))
    yield f"{flags}/sum.tile", "gradient", ["--ranks=2"]
    yield f"{flags}/sum.tile", "gradient", ["--ranks=2", "--relaxed"]


class Unit:
    """A text of several programs."""

    def __init__(self):
        self.text, self.names, self.alone = "", set(), False

    def takes(self, program, text):
        return not self.names or not (self.alone or program in self.names or SCHEDULED.search(text))

    def add(self, program, text, seen):
        """The program's kernels that are new, under names of their own."""
        self.names.add(program)
        self.alone = bool(SCHEDULED.search(text))
        if self.alone:
            self.text = text
            return
        head, *kernels = re.split(r"^(?=/\* kernel )", text, flags=re.M)
        kept = ""
        for kernel in kernels:
            body = kernel[kernel.index("{") :]
            if body not in seen:
                seen.add(body)
                kept += re.sub(r"(TILE_KERNEL(_ALONE)?\()", rf"\1{program}_", kernel)
        if "_finish(" not in kept:  # the kernels that end a run are in a unit before
            head = re.sub(r"^/\* Collective: the end of a run\. \*/\nTILE_FN.*?^}\n\n", "", head, flags=re.M | re.S)
        self.text += head + kept

    def compile(self, path):
        """What the compiler says, and bytes or registers that each kernel spills."""
        to = path + ".co"
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)
        include = ["-I", folder, "-I", f"{source}/runtime", "-I", f"{source}/runtime/include"]
        if nvidia:
            done = run("nvcc", "-x", "cu", f"-arch={target}", "-cubin", "-O3", "-Werror=all-warnings", "-Xptxas=-v", *include, path, "-o", to)
            return done, re.findall(r"entry function '(\w+)'.*?(\d+) bytes spill stores", done.stderr, re.S)
        flags = ["-x", "hip", f"--offload-arch={target}", "-O3", "-Wall", "-Wextra", "-Werror", *include]
        if target == "gfx90a" and shutil.which("hipcc"):
            done = run("hipcc", *flags, "-include", "hip/hip_runtime.h", "-fsyntax-only", "-c", path)
            if done.returncode:
                return done, []
        done = run("clang-22", *flags, "--cuda-device-only", "-nogpulib", "-nogpuinc", "--no-gpu-bundle-output", "-o", to, path)
        notes = run("llvm-readelf-22", "--notes", to).stdout if done.returncode == 0 else ""
        each = re.findall(r"\.name:\s+(\w+)\n.*?\.private_segment_fixed_size:\s*(\d+).*?\.vgpr_spill_count:\s*(\d+)", notes, re.S)
        return done, [(name, int(own) + int(spilled)) for name, own, spilled in each]


def text_of(number, case):
    """None: a program without dims of its own, which is compiled where it is called."""
    name, program, options = case
    own = os.path.join(folder, str(number))
    made = run(tilec, "compile", name, f"--program={program}", f"--target={target}", *options, "-o", own)
    if made.returncode:
        return None if "would bind names of its own" in made.stderr or "is not a dim" in made.stderr else sys.exit(f"{name}: {program}: {made.stderr}")
    with open(glob.glob(f"{own}/*.hip")[0], encoding="utf-8") as file:
        return re.sub(r'#include "(\w+\.h)"', rf'#include "{number}/\1"', file.read())


def collect():
    """The units, and how many programs are in them."""
    units, seen, count, every = [], set(), 0, list(cases())
    assert len(every) >= 130, f"{len(every)} programs"
    for number, case in enumerate(sample.choose("programs through a GPU's compiler", every, 24, target)):
        text = text_of(number, case)
        if not text:
            continue
        unit = next((u for u in units if u.takes(case[1], text)), None)
        if not unit:
            unit = Unit()
            units.append(unit)
        unit.add(case[1], text, seen)
        count += 1
    return [unit for unit in units if "TILE_KERNEL" in unit.text], count # others had what was there already


def main():
    units, count = collect()
    kernels, wrong = 0, 0
    for i, unit in enumerate(units):
        done, spilled = unit.compile(os.path.join(folder, f"unit{i}.hip"))
        bad = [f"{name} spills {size}\n" for name, size in spilled if int(size) > 0]
        kernels += len(spilled)
        wrong += len(bad) + (not spilled)
        if bad or not spilled:
            print(*bad, done.stderr)
    assert kernels >= 400 or not sample.everything(), f"{kernels} kernels"
    print(f"{count} programs, {kernels} kernels, {wrong} wrong")


main()
