"""usage: alloc.py PRELOAD STEPS COMMAND..: runs a command with its n-th allocation failing, for n = 1, 2, .. and then in
growing strides. Each run must do what a run without failures does, or say "out of memory", exit with 1 and write nothing.
Outputs go to the folder OUT, which is emptied before each run."""
import errno
import os
import shutil
import subprocess
import sys
import tempfile


SAID = (b"tilec: error: out of memory\n", os.strerror(errno.ENOMEM).encode())


def run(preload, command, failing, count=None):
    shutil.rmtree("OUT", ignore_errors=True)
    os.mkdir("OUT")
    env = dict(os.environ, LD_PRELOAD=preload, FAIL_ALLOC=str(failing))
    if count:
        env["FAIL_ALLOC_COUNT"] = count
    done = subprocess.run(command, env=env, capture_output=True, timeout=60)
    files = {name: open("OUT/" + name, "rb").read() for name in sorted(os.listdir("OUT"))}
    return done.returncode, done.stdout, done.stderr, files


def wrong(result, good):
    code, _, errors, files = result
    if result == good:
        return ""
    if code != 1 or not any(text in errors for text in SAID):
        return f"exit code {code}: {errors[-300:].decode(errors='replace')}"
    return f"leaves {list(files)}" if files else ""


def main(preload, steps, *command):
    with tempfile.NamedTemporaryFile() as count:
        good = run(preload, command, 0, count.name)
        total = int(open(count.name).read())
    assert good[0] in (0, 1) and SAID[0] not in good[2], good
    failures, n, tried = 0, 1, 0
    while n <= total:
        reason = wrong(run(preload, command, n), good)
        if reason:
            print(f"allocation {n} of {total}: {reason}")
            failures += 1
        tried += 1
        n += 1 + n // int(steps)
    print(f"{tried} of {total} allocations failed in turn")
    sys.exit(failures > 0)


main(*sys.argv[1:])
