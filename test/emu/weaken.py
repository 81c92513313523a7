#!/usr/bin/env python3
"""usage: weaken.py COMPILER NOTE TILEC TARGET RUN-ARGUMENTS.. [--not-missed=TEXT].. [--own-text] [--library=NAME] [--ends]: takes the waits, releases and scopes out of a
program's GPU text, one by one; some of them, unless everything runs.

`tilec run --target=emu:TARGET RUN-ARGUMENTS --check` must fail with each, but for one site a TEXT, whose line has it. Prints what is
wrong of that, and how many are missed. --own-text: the library of the form roles stays as it is; --library: all of it but the
header of that name does. --ends: only the workgroup that ends a run is another one: the first, all, none.
It is called again as the emulator's compiler (WEAKEN_SITE is set), compiles a copy of the text without that site, and
writes what it has taken to NOTE."""
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import sample

# What is taken, and what stands there then.
SITES = [
    (re.compile(r"tile_(poll|packet_get)\([^;]*\);"), "false;"),
    (re.compile(r"tile_release(_each)?\([^;]*\);"), ";"),
    (re.compile(r"TILE_SYSTEM"), "TILE_DEVICE"),
    (re.compile(r"tile_fence_release\(TILE_\w+\);"), ";"),
    (re.compile(r"tile_atomic_add_shared_"), "tile_atomic_add_"),
    # of schedules: waits, arrivals, fences, phases
    (re.compile(r"tile_(mbar_(wait|wait_after|expect|arrive|arrive_at|init_done)|bar_(sync|arrive))\([^;]*\);"), ";"),
    (re.compile(r"tile_(cluster_(sync|meet|arrive|arrive_alone|wait|pass)|async_fence(_all)?|wgmma_(fence|commit|wait\d)|tma_(commit|wait|wait_reads?))\([^;]*\);"), ";"),
    (re.compile(r"tile_(copy_wait|copy_commit|wave_sync|behind)\([^;]*\);"), ";"),
    (re.compile(r"tile_follow\(\);"), ";"),
    (re.compile(r"tile_end_behind\(\);\n"), ";\n"),  # not where a workgroup gives up: no run here does
    (re.compile(r"phase = 1\b"), "phase = 0"),
    (re.compile(r"return \{0, 1, 0\};"), "return {0, 0, 0};"),
    (re.compile(r"\^= 1\b"), "^= 0"),
    (re.compile(r"& 1\) \^ 1\b"), "& 1)"),
]

ENDS = [(re.compile(r"if \(tile_is_last\([^;]*?\)\) (?=\w+_finish\([^;]*;\n)"), to) for to in ("if (tile_group() == 0) ", "", "if (false) ")]

# The library of the form roles: its text is weakened as a part of the kernels that include it.
LIBRARY = re.compile(r'^#include "(device/tile_(?:roles|ring|box|piece|share|sums|order|task)\.h)"$', re.M)


def with_library(text, folders, only=()):
    """The text with each header of the library where it is included first; only: those of these names."""
    seen = set()

    def inside(match):
        if match[1] in seen:
            return ""
        if only and not any(f"tile_{name}.h" in match[1] for name in only):
            return match[0]
        seen.add(match[1])
        path = next(os.path.join(f, match[1]) for f in folders if os.path.exists(os.path.join(f, match[1])))
        with open(path, encoding="utf-8") as file:
            return LIBRARY.sub(inside, file.read())

    return LIBRARY.sub(inside, text)


def sites_of(text):
    return sorted((m.start(), m.end(), to) for pattern, to in (ENDS if os.environ.get("WEAKEN_ENDS") else SITES) for m in pattern.finditer(text))


def weaken(text, number):
    """The text without its site of that number, and the line."""
    start, end, to = sites_of(text)[number]
    line = text[text.rfind("\n", 0, start) + 1 : text.find("\n", end)].strip()
    return text[:start] + to + text[end:], f"{'the call' if to.endswith(';') else 'the scope'}, {line}"


def compile_weakened(arguments):
    """Without a site: nothing is compiled, and the note says how many there are."""
    at = next(i for i, a in enumerate(arguments) if a.endswith(".hip"))
    site = os.environ["WEAKEN_SITE"]
    with open(arguments[at], encoding="utf-8") as source:
        text = source.read()
    if not os.environ["WEAKEN_OWN"]:
        only = ["roles", os.environ["WEAKEN_LIBRARY"]] if os.environ["WEAKEN_LIBRARY"] else []
        text = with_library(text, [a.removeprefix("-I") for a in arguments if a.startswith("-I")], only)
    text, note = weaken(text, int(site)) if site else ("", str(len(sites_of(text))))
    with open(os.environ["WEAKEN_NOTE"], "w", encoding="utf-8") as to:
        to.write(note)
    arguments[at] = arguments[at][:-4] + "_weak.hip"
    with open(arguments[at], "w", encoding="utf-8") as to:
        to.write(text)
    level = [] if sample.everything() else ["-O0"]  # code runs for a moment
    return subprocess.run([os.environ["WEAKEN_COMPILER"], "-w", *arguments, *level], check=False).returncode if site else 1


def main():
    compiler, note, tilec, target, *arguments = sys.argv[1:]
    known = [a.removeprefix("--not-missed=") for a in arguments if a.startswith("--not-missed=")]
    own_text = "1" if "--own-text" in arguments else ""
    library = next((a.removeprefix("--library=") for a in arguments if a.startswith("--library=")), "")
    ends = "1" if "--ends" in arguments else ""
    arguments = [a for a in arguments if not a.startswith(("--not-missed=", "--library=")) and a not in ("--own-text", "--ends")]
    command = [tilec, "run", f"--target=emu:{target}", *arguments, "--check"]

    def run(site):
        """Whether the site is missed, and the note."""
        own = {"TILEC_CLANGXX": os.path.abspath(__file__), "WEAKEN_SITE": site, "WEAKEN_NOTE": note, "WEAKEN_OWN": own_text, "WEAKEN_ENDS": ends, "WEAKEN_LIBRARY": library, "WEAKEN_COMPILER": compiler}
        done = subprocess.run(command, capture_output=True, check=False, env=os.environ | own)
        with open(note, encoding="utf-8") as file:
            return done.returncode != 0, file.read()

    missed, wrong = 0, 0
    for site in sample.choose("waits and scopes taken out of emitted text", range(int(run("")[1])), 6, " ".join(arguments)):
        fails, what = run(str(site))
        missed += fails
        own = next((text for text in known if text in what), None)
        if not fails and not own:
            print("not missed:", what)
            wrong += 1
        if not fails and own:
            known.remove(own)
    if sample.everything():
        wrong += len(known)
        print(*(f"missed by now: {text}" for text in known), sep="\n")
    print(f"{missed} missed, {wrong} wrong")


if __name__ == "__main__":
    if "WEAKEN_SITE" in os.environ:
        sys.exit(compile_weakened(sys.argv[1:]))
    main()
