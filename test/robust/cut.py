"""usage: cut.py TILEC INPUT.tile: every beginning of a source, of its IR and of an .npy file is an error or a program,
never a crash, and an error writes nothing."""
import os
import shutil
import struct
import subprocess
import sys


def run(command):
    shutil.rmtree("OUT", ignore_errors=True)
    os.mkdir("OUT")
    return subprocess.run(command, capture_output=True, timeout=60)


def npy_of(values):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % len(values)
    head = head.encode() + b" " * (117 - len(head)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack("<%df" % len(values), *values)


def check(name, whole, failing_code, command, must_fail):
    good = 0
    for n in range(len(whole) + 1):
        with open(name, "wb") as f:
            f.write(whole[:n])
        done = run(command)
        left, said = os.listdir("OUT"), done.stderr.decode(errors="replace")
        fine = done.returncode == 0 or (done.returncode == failing_code and not left and "error: " in said)
        if not fine or (done.returncode == 0 and must_fail and n < len(whole)):
            sys.exit(f"{name} cut at byte {n}: exit code {done.returncode}, left {left}: {said[-400:]}")
        good += done.returncode == 0
    assert done.returncode == 0, said
    print(f"{name}: {len(whole) + 1} beginnings, {good} of them accepted")


def main(tilec, source):
    text = open(source, "rb").read()
    check("cut.tile", text, 1, [tilec, "compile", "cut.tile", "-o", "OUT"], False)
    ir = subprocess.run([tilec, "compile", source, "--emit=ir", "--passes=fuse"], capture_output=True, check=True).stdout
    check("cut.tir", ir, 1, [tilec, "opt", "cut.tir", "--passes=comm,flags"], False)
    command = [tilec, "run", source, "--target=interp", "--in", "A=cut.npy", "--out", "C=OUT/c.npy"]
    check("cut.npy", npy_of([1, 2, 3, 4, 5, 6]), 3, command, True)


main(*sys.argv[1:])
