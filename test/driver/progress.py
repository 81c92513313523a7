"""usage: progress.py TILEC SOURCE: a C compiler that takes three seconds is told of on a terminal, and nowhere else."""
import os
import pty
import subprocess
import sys


def on_terminal(command, env):
    parent, child = pty.openpty()
    process = subprocess.Popen(command, stderr=child, env=env)
    os.close(child)
    shown = b""
    while True:
        try:
            piece = os.read(parent, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    assert process.wait() == 0
    return shown


def main(tilec, source):
    with open("slow", "w") as f:
        f.write('#!/bin/sh\nsleep $SLOW\nexec cc "$@"\n')
    os.chmod("slow", 0o755)
    command = [tilec, "compile", source, "-o", "out", "--emit=lib"]
    slow = dict(os.environ, CC="./slow", SLOW="3")
    shown = on_terminal(command, slow)
    assert b"compiling out/sum.c: 1 s" in shown and b"compiling out/sum.c: 2 s" in shown and shown.endswith(b"\r\x1b[K"), shown
    assert on_terminal(command, dict(slow, SLOW="0")) == b""
    assert subprocess.run(command, env=slow, capture_output=True, check=True).stderr == b""


main(*sys.argv[1:])
