"""Matrix Market files that break one rule each, and two that break none. usage: errors.py SPMV DIR: prints what is said."""
import os
import subprocess
import sys

HEAD = "%%MatrixMarket matrix coordinate "
files = {
    "good": HEAD + "real general\n% comment\n\n3 3 3\n1 1 1\n2 2 2\n3 3 3\n",
    "upper": "%%MATRIXMARKET Matrix Coordinate INTEGER Skew-Symmetric\r\n\r\n3 3 2\r\n2 1 5\r\n3 1 -6",
    "none": HEAD + "real general\n3 3 0\n",
    "empty": "", "banner": "%MatrixMarket matrix coordinate real general\n", "array": "%%MatrixMarket matrix array real general\n",
    "complex": HEAD + "complex general\n", "hermitian": HEAD + "real hermitian\n", "vector": "%%MatrixMarket vector coordinate real general\n",
    "sizes": HEAD + "real general\n% only\n", "two": HEAD + "real general\n3 3\n", "word": HEAD + "real general\n3 x 3\n",
    "minus": HEAD + "real general\n-3 3 3\n", "huge": HEAD + "real general\n4194305 3 3\n",
    "oblong": HEAD + "real symmetric\n3 4 1\n1 1 1\n", "many": HEAD + "real general\n3 3 100\n1 1 1\n",
    "short": HEAD + "real general\n3 3 3\n1 1 1\n2 2 2\n", "long": HEAD + "real general\n3 3 1\n1 1 1\n%\n2 2 2\n",
    "row": HEAD + "real general\n3 3 1\n4 1 1\n", "zero": HEAD + "real general\n3 3 1\n0 1 1\n", "column": HEAD + "real general\n3 2 1\n3 3 1\n",
    "value": HEAD + "real general\n3 3 1\n1 1 1.5x\n", "nan": HEAD + "real general\n3 3 1\n1 1 nan\n",
    "whole": HEAD + "integer general\n3 3 1\n1 1 1.5\n", "left": HEAD + "pattern general\n3 3 1\n1 1 1\n",
    "missing": HEAD + "real general\n3 3 1\n  1 1\n", "diagonal": HEAD + "real skew-symmetric\n3 3 1\n2 2 1\n",
}
program, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
for name, text in files.items():
    with open(f"{folder}/{name}", "w", encoding="ascii", newline="") as file:
        file.write(text)
    done = subprocess.run([program, name], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), (name, done)
    print((done.stdout if done.returncode == 0 else done.stderr).split("\n")[0])
