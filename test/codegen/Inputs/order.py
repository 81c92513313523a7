"""usage: order.py FILE.s: instructions of each kernel beyond those of `plain`; fails above 12."""
import re
import sys

MOST = 12
count, name = {}, None
for line in open(sys.argv[1]):
    if label := re.match(r"([a-z]+):", line):
        name = label[1]
        count[name] = 0
    elif re.match(r"\s+[sv]_", line):
        count[name] += 1
    if "s_endpgm" in line:
        name = None
more = {name: n - count["plain"] for name, n in count.items() if name != "plain"}
for name, n in more.items():
    print(f"{name}: {n} instructions")
sys.exit(any(not 0 < n <= MOST for n in more.values()))
