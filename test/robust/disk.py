"""usage: disk.py TILEC SOURCE: outputs that cannot be written, by a limit of file sizes, a full or read-only disk, or
what is already there: exit code 1 (3 for a run), a message, and nothing half-written."""
import os
import resource
import shutil
import subprocess
import sys


def run(command, limit=None):
    def prepare():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    return subprocess.run(command, capture_output=True, timeout=60, preexec_fn=prepare)


def expect(command, code, text, limit=None):
    done = run(command, limit)
    said = done.stderr.decode()
    if done.returncode != code or (text and text not in said):
        sys.exit(f"{command}: exit code {done.returncode}, expected {code} and '{text}': {said}")


def empty(folder):
    if os.path.isdir(folder) and os.listdir(folder):
        sys.exit(f"{folder} has {os.listdir(folder)}")


def limits(tilec, source):
    for limit in (0, 1, 100, 1000):
        expect([tilec, "compile", source, "-o", "small"], 1, "cannot write", limit)
        empty("small")
        expect([tilec, "run", source, "--target=interp", "--out", "C=small/c.npy"], 3, "small/c.npy: ", min(limit, 100))
        empty("small")


def obstacles(tilec, source):
    os.makedirs("held/sum.h")
    expect([tilec, "compile", source, "-o", "held"], 1, "cannot write held/sum.h: Is a directory")
    if os.listdir("held") != ["sum.h"]:
        sys.exit(f"held has {os.listdir('held')}")
    open("file", "w").close()
    expect([tilec, "compile", source, "-o", "file"], 1, "cannot write file")
    expect([tilec, "compile", source, "-o", "file/such"], 1, "cannot write file/such")
    expect([tilec, "compile", source, "-o", "dep", "-MF", "no/such.d"], 1, "cannot write no/such.d")
    empty("dep")
    expect([tilec, "run", source, "--target=interp", "--out", "C=held"], 3, "held: Is a directory")


def older_outputs_stay(tilec, source):
    subprocess.run([tilec, "compile", source, "-o", "older", "--emit=lib"], check=True)
    before = {name: open("older/" + name, "rb").read() for name in os.listdir("older")}
    expect([tilec, "compile", source, "-D", "N=9", "-o", "older"], 1, "cannot write", 1000)
    expect(["env", "CC=false", tilec, "compile", source, "-o", "older", "--emit=lib"], 1, "the C compiler failed")
    after = {name: open("older/" + name, "rb").read() for name in os.listdir("older")}
    if before != after:
        sys.exit("a failed compilation changed what was there")


def standard_output(tilec, source):
    for command in (["compile", source, "--emit=ir"], ["fmt", source], ["explain", source], ["targets"], ["--help"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([tilec, *command], stdout=full, stderr=subprocess.PIPE, timeout=60)
        if done.returncode != 1 or b"cannot write to the standard output" not in done.stderr:
            sys.exit(f"{command}: exit code {done.returncode}: {done.stderr}")


def mounted(tilec, source):
    """A file system of one page, and a read-only one, where this may mount any."""
    script = 'mount -t tmpfs -o size=%s tmpfs disk || exit 77; mount -o remount,%s disk; "$@"; code=$?; ls -A disk | grep . && exit 99; exit $code'
    os.makedirs("disk")
    for size, mode, message in (("8k", "rw", "No space left on device"), ("8k", "ro", "Read-only file system")):
        command = ["unshare", "-m", "sh", "-c", script % (size, mode), "sh", tilec, "compile", source, "-o", "disk"]
        if run(["unshare", "-m", "sh", "-c", script % (size, mode), "sh", "true"]).returncode:
            return print("no file system of our own")
        expect(command, 1, message)


def main(tilec, source):
    os.makedirs("small")
    for part in (limits, obstacles, older_outputs_stay, standard_output, mounted):
        part(tilec, source)
        print(part.__name__)


main(*sys.argv[1:])
