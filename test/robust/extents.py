"""usage: extents.py TILEC OUT: sizes at the largest that is accepted and one beyond it: extents, bounds, bytes of a tensor,
tiles, temporaries, flag words, meshes. Nothing is run; what is accepted is compiled in full. % stands for the size."""
import os
import subprocess
import sys

COPY = "kernel copy(x: T[n]) -> (y: T[n]) { each i: 4096 of n { y[i] = x[i]; } }\n"
TILE = "kernel copy(x: i8[n]) -> (y: i8[n]) { each i: % of n { y[i] = x[i]; } }\n"
ROWS = "kernel rows(x: i8[n, m]) -> (y: i8[n, m]) { each i: 1024 of n, j: 1024 of m { y[i, j] = x[i, j]; } }\n"
SQUARE = "kernel rows(x: i8[n, m]) -> (y: i8[n, m]) { each i: % of n, j: 4096 of m { y[i, j] = x[i, j]; } }\n"
PLACES = "kernel places(x: i8[n]) -> (y: i8[n]) { each i of n { y[i] = x[i]; } }\n"

# The source, the largest size, a larger one, and what is said about that.
LIMITS = {
    "extent": (COPY + "program p(x: i8[%]) -> (y: i8[%]) { y = copy(x); }", 2**40, 2**40 + 1,
               "this extent is beyond 2^40 [too-large]"),
    "bound": (COPY + "dim N <= %; program p(x: i8[N]) -> (y: i8[N]) { y = copy(x); }", 2**40, 2**40 + 1,
              "the bound of 'N' is beyond 2^40 [too-large]"),
    "bytes": (ROWS + "program p(x: i8[2048, %]) -> (y: i8[2048, %]) { y = rows(x); }", 2**40 - 1, 2**40,
              "2^51 bytes or more [too-large]"),
    "overflow": (ROWS + "program p(x: i8[1000000000000, %]) -> (y: i8[1000000000000, %]) { y = rows(x); }", 2251, 2**40,
                 "2^51 bytes or more [too-large]"),
    "range": (TILE + "program p(x: i8[64]) -> (y: i8[64]) { y = copy(x); }", 2**24, 2**24 + 1, "a tile has 1 to 16777216"),
    "tile": (SQUARE + "program p(x: i8[64, 64]) -> (y: i8[64, 64]) { y = rows(x); }", 2**14, 2**14 + 1,
             "has more than 67108864 elements [tile-too-large]"),
    "temporary": (COPY + "program p(x: i8[%]) -> (y: i8[%]) { y = copy(copy(x)); }", 2**40, 2**40 + 1,
                  "this extent is beyond 2^40 [too-large]"),
    "workspace": (ROWS + "program p(x: i8[%, 64]) -> (y: i8[%, 64]) { y = rows(rows(x)); }", 2**40 - 1, 2**40,
                  "does not fit the address space [tensor-too-large]"),
    "words": (PLACES + "dim N <= %; program p(x: i8[N]) -> (y: i8[N]) { y = places(places(x)); }", 2**40 - 1, 2**40,
              "do not fit the address space [flags-too-large]"),
    "axis": (COPY + "mesh a = %; program p(x: i8[8]) -> (y: i8[8]) { y = copy(x); }", 1024, 1025,
             "a mesh axis has 1 to 1024 ranks [bad-mesh]"),
    "mesh": (COPY + "mesh a = 1024, b = %; program p(x: i8[8]) -> (y: i8[8]) { y = copy(x); }", 4, 5,
             "the axes make 5120 ranks, at most 4096 are possible [bad-mesh]"),
}


def compile_size(tilec, out, name, text, size):
    path = os.path.join(out, name + ".tile")
    with open(path, "w") as f:
        f.write(text.replace("%", str(size)))
    command = [tilec, "compile", path, "-o", out, "--off=fuse"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def main(tilec, out):
    failures = 0
    for name, (text, most, more, message) in LIMITS.items():
        code, said = compile_size(tilec, out, name, text, most)
        if code:
            print(f"{name} {most}: exit code {code}: {said}")
        beyond, refusal = compile_size(tilec, out, name, text, more)
        if beyond != 1 or message not in refusal or "invalid-ir" in refusal or "internal" in refusal:
            print(f"{name} {more}: exit code {beyond}: {refusal}")
        failures += code != 0 or beyond != 1 or message not in refusal
    print(f"{len(LIMITS)} limits")
    sys.exit(failures > 0)


main(*sys.argv[1:])
