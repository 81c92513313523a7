"""Prints the JSON lines of bench/cpu/weights.c as a table."""
import json
import sys

lines = [json.loads(line) for line in sys.stdin]
first = lines[0]
print(f"batch {first['batch']}, {first['n']} x {first['k']}, in {first['place']}; times faster than")
print(f"{'arm':28}{'us':>10}{'bytes':>8}{'dense':>8}{'OpenBLAS':>10}{'plain C':>9}{'CSR':>7}")
for line in lines:
    csr = f"{line['vs_csr']:7.2f}" if line["vs_csr"] else ""
    print(f"{line['arm']:28}{line['us']:10.2f}{line['of_dense']:8.3f}{line['vs_dense']:8.2f}{line['vs_openblas']:10.2f}{line['vs_plain']:9.2f}{csr}")
