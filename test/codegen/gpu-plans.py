"""gpu-plans.py TILEC FOLDER: what bench/gpu/plans.py asks for, whether the compiler takes it, and the list of what was measured."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "gpu"))
import plans

tilec, folder = sys.argv[1:]
for plan in ("256x64/2", "128x64c", "128x64", "64x384"):
    path = os.path.join(folder, "asked")
    with open(path, "w", encoding="utf-8") as to:
        to.write(plans.sizes_of(plan, "linear"))
    said = subprocess.run([tilec, "explain", os.path.join(plans.HERE, "gemm.tile"), "--program=gemm_tn", "--target=sm_90a", "-D", "M=256", "-D", "N=4096", "-D", "K=4096", f"--tuned={path}"],
                          capture_output=True, text=True, check=True).stdout
    print(plan, plans.is_taken(plan, next(line for line in said.splitlines() if "pipe: 'linear'" in line)))
row = dict(work="gemm tn", shape="256x4096x4096", us=18.8, peers={"cublas": 17.4}, peer="cublas", must=0.95, plans={"own": dict(us=18.8, counted=15.8), "128x128/2": dict(us=17.3, counted=None)})
with open(os.path.join(folder, "lines"), "w", encoding="utf-8") as to:
    to.writelines(json.dumps(dict(row, **other)) + "\n" for other in ({}, dict(peer="before")))
plans.show([os.path.join(folder, "lines")])
print("rows of table.py:", {(line.work, line.shape) for line, _ in plans.lines("")} == set(plans.PLANS))
