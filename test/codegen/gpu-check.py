"""usage: gpu-check.py SOURCE: what bench/gpu/check.py says of made-up rows."""
import os
import sys

sys.path.insert(0, os.path.join(sys.argv[1], "bench/gpu"))
import check


def verdict(status, *bounds, agrees=True, message=""):
    outputs = [{"name": "y", "error": 0.0, "bound": bound, "agrees": agrees} for bound in bounds]
    return check.verdict({"exit": status, "message": message, "outputs": outputs})


print(verdict(0, 1.0), verdict(0, 1.0, float("inf")), verdict(0), verdict(0, 1.0, agrees=False), verdict(1, message="not supported yet"))
print(*check.origin(sys.argv[1], "emu:gfx942"))
