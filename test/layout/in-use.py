"""usage: in-use.py TILEC SOURCE TARGET: the conversions in the kernels of the examples and of the library's tests, one a
line, for unit/layout_convert: both layouts with the element's width."""
import glob
import re
import subprocess
import sys

tilec, source, target = sys.argv[1:]
BITS = {"f64": 64, "i64": 64, "f32": 32, "i32": 32, "f16": 16, "bf16": 16, "i16": 16, "bool": 8, "i8": 8, "u8": 8}
MADE = re.compile(r" *(%[\w.]+) = (\w+) ?(%[\w.]+)?.* : (\w+)<[^>]*> #(\d+)$")
GOT = re.compile(r" *(%[\w.]+) = get \$")  # a tile in a slot of workgroup memory, which has no layout of registers
CARRIED = re.compile(r"(%[\w.]+) = %[\w.]+ : \w+(?:<[^>]*> #(\d+))?")


def conversions(ir):
    """Pairs of layouts, with the width: what a conversion reads and what it makes."""
    for kernel in ir.split("\nkernel ")[1:]:
        layouts = dict(re.findall(r'layout #(\d+) "(.*)"', kernel))
        held, slots = {}, set()
        for line in kernel.splitlines():
            if " = for " in line:
                carried, results = CARRIED.findall(line.split(" with ")[1]), line.split(" = for ")[0].split(",")
                held |= {result.strip(): number for result, (_, number) in zip(results, carried)}
                held |= dict(carried)
            slots |= set(GOT.findall(line))
            made = MADE.match(line)
            if not made:
                continue
            name, op, arg, elem, number = made.groups()
            held[name] = number
            if op == "convert" and arg not in slots:
                bits = BITS.get(elem, 8)
                yield f"{layouts[held[arg]]} b{bits}\t{layouts[number]} b{bits}"


found = set()
for path in sorted(glob.glob(f"{source}/examples/**/*.tile", recursive=True) + glob.glob(f"{source}/test/library/*.tile")):
    for off in ([], ["--off=pipe"]):
        made = subprocess.run([tilec, "compile", path, f"--target={target}", "--ranks=1", "--emit=ir", "-o", "-", *off], capture_output=True, text=True)
        found |= set(conversions(made.stdout))
print("\n".join(sorted(found)))
