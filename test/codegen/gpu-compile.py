"""usage: gpu-compile.py TILEC SOURCE FOLDER TARGET FILE..: the GPU text of every program compiles for the target without a
warning, and no kernel spills registers (on AMD: or has memory of its own in its threads)."""
import os
import re
import subprocess
import sys

tilec, source, folder, target, *files = sys.argv[1:]
nvidia = target.startswith("sm_")
kernels, wrong = 0, 0


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def compiled(text, to):
    include = ["-I", f"{source}/runtime", "-I", f"{source}/runtime/include"]
    if nvidia:
        return run("nvcc", "-x", "cu", f"-arch={target}", "-cubin", "-O3", "-Werror=all-warnings", "-Xptxas=-v", *include, text, "-o", to)
    flags = ["-x", "hip", f"--offload-arch={target}", "--cuda-device-only", "-nogpulib", "-nogpuinc", "-O3", "-Wall", "-Wextra", "-Werror"]
    return run("clang-22", *flags, *include, "--no-gpu-bundle-output", "-o", to, text)


def spills(to, said):
    """Of each kernel: bytes and registers that it spills."""
    if nvidia:
        return [int(s) for s in re.findall(r"(\d+) bytes spill stores", said)]
    notes = run("llvm-readelf-22", "--notes", to).stdout
    own = re.findall(r"\.private_segment_fixed_size:\s*(\d+)", notes)
    return [int(s) + int(t) for s, t in zip(own, re.findall(r"\.vgpr_spill_count:\s*(\d+)", notes))]


for name in files:
    for program in re.findall(r"^program (\w+)", open(name, encoding="utf-8").read(), re.M):
        made = run(tilec, "compile", name, f"--program={program}", f"--target={target}", "--ranks=1", "-o", folder)
        if made.returncode == 1 and "not supported yet" in made.stderr:
            continue
        texts = [f for f in os.listdir(folder) if f.endswith(f"{program}_{target}.hip") or f.endswith(f"{program}__{target}.hip")]
        done = compiled(os.path.join(folder, texts[0]), os.path.join(folder, program + ".co")) if texts else made
        found = spills(os.path.join(folder, program + ".co"), done.stderr) if done.returncode == 0 else []
        kernels += len(found)
        if not found or any(found):
            wrong += 1
            print(f"{name}: {program}: {found}\n{done.stderr}")
print(f"{kernels} kernels, {wrong} wrong")
