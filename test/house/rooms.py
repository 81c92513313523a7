"""usage: rooms.py SOURCE OBJECTS [PICTURE]: the rooms of the compiler, one a folder, and the arrows between them.

An arrow leads from a room to one whose header it includes. ORDER lists the rooms from the bottom up: an arrow that leads up is an
error, but for those of EXCEPTIONS. Inside a room, files that need each other's functions in a circle are counted from the
symbols of OBJECTS, the folder of the build with its object files: no circle is larger, and no room has more, than CIRCLES says.
PICTURE is where the picture of docs/ goes.
"""
import collections
import glob
import os
import re
import subprocess
import sys

ORDER = """base ir/layout ir ir/poly ir/text ir/verify ir/interp target
           frontend/hip frontend/clang frontend/syntax frontend/sema frontend/kernel frontend/program
           passes passes/model passes/plan passes/fuse passes/proof passes/shape passes/split passes/comm passes/sync passes/layout
           passes/roles passes/remap
           codegen codegen/text codegen/abi codegen/host codegen/gpu codegen/schedules driver""".split()
EXCEPTIONS = set()
# Room: circles of two files and more, files of the largest. Each is a recursion over a tree, but for those that Pipelines deletes
# (codegen/schedules).
CIRCLES = {
    "ir/text": (1, 2),           # an operation has regions, which have operations
    "frontend/kernel": (1, 6),   # expressions hold expressions: in calls, subscripts, extents, views and reductions
    "frontend/program": (1, 13),  # expressions and statements likewise, through one mutable Prog
    "codegen/text": (1, 2),      # a value may be a load, whose subscripts may be values
    "codegen/schedules": (2, 11)}
# A function is called by a room below its own where a table of the lower room names it, and in these cases.
CALLS_UP = {
    ("ir", "ir/interp"),          # the table of operators
    ("ir/text", "ir/verify"),     # what is read is verified
    ("frontend/sema", "frontend/kernel"), ("frontend/sema", "frontend/program"),  # lowering begins with the declarations
    ("codegen/gpu", "codegen/schedules")} | {("passes", room) for room in ORDER if room.startswith("passes/")} | {
    ("passes/plan", "codegen/schedules"), ("passes/plan", "passes/roles")}  # the tables of passes, and of what plans kernels


def sources_of(source):
    tops = {room.split("/")[0] for room in ORDER}
    names = [path for top in tops for path in glob.glob(f"{source}/{top}/**/*.*", recursive=True)]
    return sorted(os.path.relpath(path, source) for path in names if path.endswith((".c", ".cpp", ".h", ".l", ".y", ".def")))


def arrows_of(source):
    """(room, room) to the includes that make the arrow."""
    arrows = collections.defaultdict(list)
    for path in sources_of(source):
        text = open(os.path.join(source, path), encoding="utf-8").read()
        for header in re.findall(r'^#include "([^"]+)"', text, re.M):
            here, there = os.path.dirname(path), os.path.dirname(header)
            if there in ORDER and here != there:
                arrows[here, there].append(f"{path}: {header}")
    return arrows


def misplaced(source, arrows):
    unknown = {os.path.dirname(path) for path in sources_of(source)} - set(ORDER)
    wrong = [f"{room}: a folder that is no room" for room in sorted(unknown)]
    for (here, there), includes in sorted(arrows.items()):
        if here in ORDER and ORDER.index(here) < ORDER.index(there) and (here, there) not in EXCEPTIONS:
            wrong += [f"an arrow runs back, from {here} to {there}: {text}" for text in includes]
    unused = EXCEPTIONS - {pair for pair in arrows if ORDER.index(pair[0]) < ORDER.index(pair[1])}
    return wrong + [f"no arrow from {here} to {there}: take the exception out" for here, there in sorted(unused)]


# ---- circles ----

def symbols_of(paths):
    """Object file to the functions that it defines, and to those that it needs."""
    listing = subprocess.run(["nm", "-gA", *paths], capture_output=True, text=True, check=True).stdout
    defined, needed = collections.defaultdict(set), collections.defaultdict(set)
    for path, letter, name in re.findall(r"^(.*?):[0-9a-f ]+ ([TDRBU]) (\w+)$", listing, re.M):
        (needed if letter == "U" else defined)[path].add(name)
    return defined, needed


def needs_of(source, objects):
    """File to the files whose functions it needs, by the names of the object files; of renamed files, old ones may be left."""
    paths = {}
    for path in glob.glob(f"{objects}/CMakeFiles/tilec*.dir/**/*.c.o", recursive=True):
        name = re.sub(r"^.*?\.dir/", "", os.path.relpath(path, objects))[:-2]
        if os.path.dirname(name) in ORDER and os.path.exists(os.path.join(source, name)):
            paths[name] = path
    defined, needed = symbols_of(paths.values())
    home = {symbol: name for name, path in paths.items() for symbol in defined[path]}
    return {name: {home[s] for s in needed[path] if s in home} - {name} for name, path in paths.items()}


def calls_up(needs):
    """Calls of functions of rooms above: a header below must not declare them."""
    wrong = []
    for name in sorted(needs):
        for other in sorted(needs[name]):
            pair = os.path.dirname(name), os.path.dirname(other)
            if ORDER.index(pair[0]) < ORDER.index(pair[1]) and pair not in CALLS_UP | EXCEPTIONS:
                wrong.append(f"{name} calls what {other} defines, in a room above")
    return wrong


def circles_of(needs):
    """Sets of files that all need each other, directly or through others (Tarjan's algorithm without recursion)."""
    order, low, stack, found = {}, {}, [], []
    for root in needs:
        work = [] if root in order else [(root, iter(sorted(needs[root])))]
        if work:
            order[root] = low[root] = len(order)
            stack.append(root)
        while work:
            name, rest = work[-1]
            step = next(rest, None)
            if step is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == order[name]:
                    at = stack.index(name)
                    found.append(stack[at:])
                    del stack[at:]
            elif step not in order:
                order[step] = low[step] = len(order)
                stack.append(step)
                work.append((step, iter(sorted(needs[step]))))
            elif step in stack:
                low[name] = min(low[name], order[step])
    return [circle for circle in found if len(circle) > 1]


def circles_by_room(needs):
    rooms = {}
    for room in ORDER:
        inside = {name: {n for n in needs[name] if os.path.dirname(n) == room} for name in needs if os.path.dirname(name) == room}
        circles = circles_of(inside)
        if circles:
            rooms[room] = (len(circles), max(map(len, circles)))
    return rooms


def more_circles(needs):
    now = circles_by_room(needs)
    allowed = {room: CIRCLES.get(room, (0, 0)) for room in now}
    return [f"{room}: {n} circles, the largest of {most} files; allowed are {allowed[room][0]} and {allowed[room][1]}"
            for room, (n, most) in now.items() if n > allowed[room][0] or most > allowed[room][1]]


# ---- the picture ----

INK, PAPER, TINT, TINT2 = "#1d2733", "#ffffff", "#e3edf7", "#f7e9d7"
COLUMNS = [["base"], ["ir"], ["target"], ["frontend", "passes", "codegen"], ["driver"]]
WIDTH, ROW, GAP = 150, 26, 60


def folder_rooms(folder):
    return [room for room in ORDER if room.split("/")[0] == folder and "/" in room]


def places():
    """Folder to its rectangle: columns are centred."""
    boxes = {}
    height = {folder: 34 + ROW * len(folder_rooms(folder)) for folders in COLUMNS for folder in folders}
    total = [sum(height[folder] + 30 for folder in folders) for folders in COLUMNS]
    for column, folders in enumerate(COLUMNS):
        y = 20 + (max(total) - total[column]) // 2
        for folder in folders:
            boxes[folder] = (20 + column * (WIDTH + GAP), y, WIDTH, height[folder])
            y += height[folder] + 30
    return boxes


def folder_arrows(arrows):
    """Without those that follow from two others."""
    pairs = {(here.split("/")[0], there.split("/")[0]) for here, there in arrows}
    pairs = {pair for pair in pairs if pair[0] != pair[1]}
    folders = {folder for pair in pairs for folder in pair}

    def between(here, there):
        return [f for f in folders if {(here, f), (f, there)} <= pairs and not {(f, here), (there, f)} & pairs]

    return sorted(pair for pair in pairs if not between(*pair))


def draw(arrows, path):
    boxes, parts = places(), []
    for here, there in folder_arrows(arrows):
        x, y, _, h = boxes[here]
        x2, y2, w2, h2 = boxes[there]
        if x == x2:
            parts.append(f'<path d="M{x + WIDTH} {y + 16} C{x + WIDTH + 40} {y + 16} {x + WIDTH + 40} {y2 + 16} {x + WIDTH + 4} {y2 + 16}" '
                         f'fill="none" stroke="{INK}" marker-end="url(#tip)"/>')
        else:
            parts.append(f'<line x1="{x}" y1="{y + h // 2}" x2="{x2 + w2 + 2}" y2="{y2 + h2 // 2}" stroke="{INK}" marker-end="url(#tip)"/>')
    for folder, (x, y, w, h) in boxes.items():
        parts.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="{TINT}" stroke="{INK}"/>')
        parts.append(f'<text x="{x + w // 2}" y="{y + 21}" text-anchor="middle" font-weight="bold">{folder}</text>')
        for i, room in enumerate(folder_rooms(folder)):
            top = y + 30 + i * ROW
            parts.append(f'<rect x="{x + 10}" y="{top}" width="{w - 20}" height="{ROW - 5}" fill="{TINT2}" stroke="{INK}"/>')
            parts.append(f'<text x="{x + w // 2}" y="{top + 15}" text-anchor="middle">{room.split("/")[1]}</text>')
    width, height = max(x + w for x, _, w, _ in boxes.values()) + 20, max(y + h for _, y, _, h in boxes.values()) + 20
    tip = f'<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="{INK}"/></marker>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif" font-size="12" fill="{INK}">\n'
    with open(path, "w", encoding="utf-8") as f:
        f.write(f'{head}<defs>{tip}</defs>\n<rect width="{width}" height="{height}" fill="{PAPER}"/>\n' + "\n".join(parts) + "\n</svg>\n")


def main(source, objects, picture=None):
    arrows = arrows_of(source)
    needs = needs_of(source, objects)
    wrong = misplaced(source, arrows) + calls_up(needs) + more_circles(needs)
    print("\n".join(wrong + [f"{len(ORDER)} rooms, {len(arrows)} arrows, {len(wrong)} wrong"]))
    if picture:
        draw(arrows, picture)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
