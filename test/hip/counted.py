"""usage: counted.py SOURCE INPUTS OUT KERNEL..: instructions for gfx942 that an order adds to each kernel, but for loads of arguments and
waits; fails above 12."""
import re
import subprocess
import sys

MOST = 12
source, inputs, out, *kernels = sys.argv[1:]
COMPILE = f"clang-22 -x hip --cuda-device-only -nogpulib -nogpuinc -O3 --offload-arch=gfx942 -I {source}/runtime/hip -S -o -".split()
wrong = 0
for kernel in kernels:
    before, after = (len(re.findall(r"^\s+[sv]_(?!load|waitcnt|nop)", subprocess.run([*COMPILE, f"{folder}/{kernel}.hip"], capture_output=True, text=True,
                                                                                 check=True).stdout, re.M)) for folder in (inputs, out))
    print(f"{kernel}: {after - before} instructions more")
    wrong += not 0 < after - before <= MOST
sys.exit(wrong != 0)
