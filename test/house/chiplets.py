"""usage: chiplets.py SOURCE: machines have as many chiplets in target/NAME.def as in runtime/device/tile_NAME.h."""
import pathlib
import re
import sys


def main(source):
    source, wrong, machines = pathlib.Path(source), 0, 0
    for path in sorted((source / "runtime/device").glob("tile_*.h")):
        found = re.search(r"#define TILE_CHIPLETS (\d+)", path.read_text(encoding="utf-8"))
        machine = path.stem.removeprefix("tile_")
        if not found:
            continue
        machines += 1
        own = re.search(r"\.chiplets = (\d+)", (source / f"target/{machine}.def").read_text(encoding="utf-8"))
        if own and own[1] != found[1]:
            wrong += 1
            print(f"{machine}: {own[1]} chiplets in target, {found[1]} in runtime/device")
    print(f"{machines} machines, {wrong} wrong")
    sys.exit(wrong != 0)


main(*sys.argv[1:])
