"""Folders of inputs for tilec tune --train. usage: train.py FOLDER"""
import os
import sys

import numpy as np

folder = sys.argv[1]
for name, n, scale in (("a", 4096, 2), ("b", 9000, 3), ("c", 20000, 5)):
    os.makedirs(f"{folder}/all/{name}", exist_ok=True)
    os.makedirs(f"{folder}/one/{name}", exist_ok=True)
    x = np.arange(n, dtype=np.float32)
    for path in ("all", "one"):
        np.save(f"{folder}/{path}/{name}/x.npy", x)
    np.save(f"{folder}/all/{name}/z.npy", x[:10 * scale])
    np.save(f"{folder}/all/{name}/scale.npy", np.float32(scale))
os.makedirs(f"{folder}/nan/a", exist_ok=True)
os.makedirs(f"{folder}/empty", exist_ok=True)
np.save(f"{folder}/nan/a/x.npy", x)
np.save(f"{folder}/nan/a/z.npy", x)
np.save(f"{folder}/nan/a/scale.npy", np.float32(np.nan))
