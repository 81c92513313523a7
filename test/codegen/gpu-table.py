"""gpu-table.py FIRST SECOND: lines of two runs as bench/gpu/table.py writes them, made by its own judgement."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "gpu"))
import table
import table_rows

LINES = {(line.work, line.shape): line for line in table_rows.lines(table_rows.PARTS)}


def row(work, shape, *measured):
    line = LINES[work, shape]
    try:
        made = table.record(line, *measured)
    except ValueError as wrong:
        made = {"failed": str(wrong), "reached": False}
    return {**table.about_row("NVIDIA H200", "12345", line), **made}


def write(path, rows):
    with open(path, "w", encoding="utf-8") as to:
        to.writelines(json.dumps(r) + "\n" for r in rows)


write(sys.argv[1], [row("batched nn", "16x2048x2048x2048", 100, {"cublas": 99}, 1e-3), row("batched nn", "64x512x512x512", 100, {"cublas": 300}, float("nan")),
                    row("ag_gemm", "M 1024", 109, {"alone": 100}, 1e-3), row("ag_gemm", "M 4096", 90, {"alone": 100}, 1e-3)])
write(sys.argv[2], [row("batched nn", "16x2048x2048x2048", 100, {"cublas": 97}, 1e-3), row("Qwen3-8B step", "batch 1", 4.05, {}, 1e-2), row("ag_gemm", "M 1024", 112, {"alone": 100}, 1e-3)])
