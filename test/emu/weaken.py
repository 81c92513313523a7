#!/usr/bin/env python3
"""usage: weaken.py COMPILER NOTE TILEC TARGET RUN-ARGUMENTS..: takes the waits, releases and scopes out of a program's GPU text, one by one.

`tilec run --target=emu:TARGET RUN-ARGUMENTS --check` must fail with each. Prints what is not missed, and how many are.
It is called again as the emulator's compiler (WEAKEN_SITE is set), compiles a copy of the text without that site, and
writes what it has taken to NOTE."""
import os
import re
import subprocess
import sys

# What is taken, and what stands there then.
SITES = [
    (re.compile(r"tile_(poll|packet_get)\([^;]*\);"), "false;"),
    (re.compile(r"tile_release(_each)?\([^;]*\);"), ";"),
    (re.compile(r"TILE_SYSTEM"), "TILE_DEVICE"),
    (re.compile(r"tile_atomic_add_shared_"), "tile_atomic_add_"),
    # of schedules: waits, arrivals, fences, phases
    (re.compile(r"tile_(mbar_(wait|expect|arrive|arrive_at|init_done)|bar_(sync|arrive))\([^;]*\);"), ";"),
    (re.compile(r"tile_(cluster_(sync|arrive|wait)|async_fence|wgmma_(fence|commit|wait\d)|tma_(commit|wait|wait_read))\([^;]*\);"), ";"),
    (re.compile(r"tile_(copy_wait|copy_commit|wave_sync|behind)\([^;]*\);"), ";"),
    (re.compile(r"phase = 1\b"), "phase = 0"),
    (re.compile(r"\^= 1\b"), "^= 0"),
    (re.compile(r"& 1\) \^ 1\b"), "& 1)"),
]


def weaken(text, number):
    """The text without its site of that number, and the line; None behind the last."""
    found = sorted((m.start(), m.end(), to) for pattern, to in SITES for m in pattern.finditer(text))
    if number >= len(found):
        return None
    start, end, to = found[number]
    line = text[text.rfind("\n", 0, start) + 1 : text.find("\n", end)].strip()
    return text[:start] + to + text[end:], f"{'the call' if to.endswith(';') else 'the scope'}, {line}"


def compile_weakened(arguments):
    """Behind the last site nothing is compiled and the note is empty."""
    at = next(i for i, a in enumerate(arguments) if a.endswith(".hip"))
    with open(arguments[at], encoding="utf-8") as source:
        text, note = weaken(source.read(), int(os.environ["WEAKEN_SITE"])) or ("", "")
    with open(os.environ["WEAKEN_NOTE"], "w", encoding="utf-8") as to:
        to.write(note)
    arguments[at] = arguments[at][:-4] + "_weak.hip"
    with open(arguments[at], "w", encoding="utf-8") as to:
        to.write(text)
    return subprocess.run([os.environ["WEAKEN_COMPILER"], "-w", *arguments], check=False).returncode if note else 1


def main():
    compiler, note, tilec, target, *arguments = sys.argv[1:]
    command = [tilec, "run", f"--target=emu:{target}", *arguments, "--check"]
    missed = 0
    for site in range(1000):
        own = {"TILEC_CLANGXX": os.path.abspath(__file__), "WEAKEN_SITE": str(site), "WEAKEN_NOTE": note, "WEAKEN_COMPILER": compiler}
        done = subprocess.run(command, capture_output=True, check=False, env=os.environ | own)
        with open(note, encoding="utf-8") as file:
            what = file.read()
        if not what:
            break
        missed += done.returncode != 0
        if done.returncode == 0:
            print("not missed:", what)
    print(missed, "missed")


if "WEAKEN_SITE" in os.environ:
    sys.exit(compile_weakened(sys.argv[1:]))
main()
