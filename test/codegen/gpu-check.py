"""usage: gpu-check.py SOURCE: what bench/gpu/check.py says of made-up rows."""
import os
import sys

sys.path.insert(0, os.path.join(sys.argv[1], "bench/gpu"))
import check


def verdict(status, *bounds, agrees=True, message=""):
    outputs = [{"name": "y", "error": 0.0, "bound": bound, "agrees": agrees} for bound in bounds]
    return check.verdict({"exit": status, "message": message, "outputs": outputs})


print(verdict(0, 1.0), verdict(0, 1.0, float("inf")), verdict(0), verdict(0, 1.0, agrees=False), verdict(1, message="not supported yet"))
LINES = """net: y: largest error 0.5, bound there 2: agrees; 8 compared, worst y[1] = 1, reference 1.5
net: y: largest error 0.5, bound there inf (expected 2): agrees; 8 compared, worst y[1] = 1, reference 1.5
net: y: largest error 5, bound there inf (expected 2): agrees; 8 compared, worst y[1] = 1, reference 6; 1 beyond the expected error, worst
net: w.k: largest error 0, bound there inf: agrees; 8 compared, all equal
net: y: largest error 0, bound there 0: not comparable; 0 compared; 8 are NaN or infinite, first y[0] = nan, reference nan
net: y: largest error 5, bound there 2: differs; 1 of 8 differ, worst y[1] = 1, reference 6"""
for found in check.LINE.findall(LINES):
    row = check.output(*found)
    print(row["name"], row["bound"], check.verdict({"exit": 0 if found[5] == "agrees" else 4, "outputs": [row]}))
print(*check.origin(sys.argv[1], "emu:gfx942"))
