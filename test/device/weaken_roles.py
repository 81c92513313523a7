#!/usr/bin/env python3
"""usage: weaken_roles.py WORK RUNTIME EMULATOR DRIVER KERNELS.hip,.. "COMPILER FLAGS.." ARGUMENTS.. [--not-missed=TEXT]..

Takes the waits, arrivals, fences and phases out of hand-written kernels of the form roles and of their library, one by one; some of them,
unless everything runs. DRIVER (C, and what it needs besides) with ARGUMENTS must fail with each, but for one site a TEXT, whose line has it, and
for pieces of the library that no kernel calls. Prints what is wrong of that, and how many are missed."""
import os
import shlex
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(here, "..", "lib"), os.path.join(here, "..", "emu")]
import sample
import weaken


def text_of(files, runtime):
    """All kernels as one text, with the library once."""
    text = ""
    for name in files:
        with open(name, encoding="utf-8") as file:
            text += file.read()
    return weaken.with_library(text, [runtime])


def compiled(work, text, compiler):
    with open(f"{work}.hip", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run([*compiler, "-w", "-c", "-o", f"{work}.o", f"{work}.hip"], check=True)
    with open(f"{work}.o", "rb") as file:
        return file.read()


def fails(work, link, arguments):
    """Of what was compiled last."""
    subprocess.run([*link, "-o", work], check=True)
    try:
        return subprocess.run([work, *arguments], capture_output=True, timeout=120, check=False).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def main():
    known = [a.removeprefix("--not-missed=") for a in sys.argv if a.startswith("--not-missed=")]
    work, runtime, emulator, driver, kernels, compiler, *arguments = [a for a in sys.argv[1:] if not a.startswith("--not-missed=")]
    text = text_of(kernels.split(","), runtime)
    link = ["cc", "-O1", "-I", runtime, "-I", os.path.join(runtime, "include"), *shlex.split(driver), f"{work}.o", emulator, "-lm"]
    missed, wrong, whole = 0, 0, compiled(work, text, shlex.split(compiler))
    if fails(work, link, arguments):
        sys.exit("the kernel itself fails")
    sites = range(len(weaken.sites_of(text)))
    for site in sample.choose("waits and fences taken out of kernels in roles", sites, 6, driver):
        weak, note = weaken.weaken(text, site)
        own = next((t for t in known if t in note), None)
        if compiled(work, weak, shlex.split(compiler)) == whole:
            continue  # a piece of the library that these kernels do not call
        if fails(work, link, arguments):
            missed += 1
        elif own:
            known.remove(own)
        else:
            print("not missed:", note)
            wrong += 1
    if sample.everything():
        wrong += len(known)
        print(*(f"missed by now: {t}" for t in known), sep="\n")
    print(f"{missed} missed, {wrong} wrong")


main()
