"""spmv_table.py [TABLE]: the lines of bench/cpu/spmv.sh as a table, and each arm in geometric mean and in total time beside the peer, and beside
an oracle that knows the fastest arm. TABLE gets the times for tilec tune --train, with those of files as what is only judged."""
import json
import math
import sys

rows = [json.loads(line) for line in sys.stdin]
peers = [name for name in ("plain", "cusparse") if name in rows[0]["us"]]
arms = [name for name in rows[0]["us"] if name not in peers and all(name in row["us"] for row in rows)]
print("| matrix | entries | longest row | " + " | ".join(peers + arms) + " | best |")
print("|" + "---|" * (4 + len(peers) + len(arms)))
for row in rows:
    us = row["us"]
    best = min(arms, key=us.get)
    cells = [f"{us[name]:.1f}" for name in peers + arms]
    print(f"| {row['matrix']} | {row['entries']} | {row['longest']} | " + " | ".join(cells) + f" | {best} {us[peers[0]] / us[best]:.2f} |")


def summary(name, times):
    peer = [row["us"][peers[0]] for row in rows]
    mean = math.exp(sum(math.log(p / t) for p, t in zip(peer, times)) / len(times))
    print(f"{name}: {mean:.2f} of {peers[0]}'s speed in geometric mean, {sum(peer) / sum(times):.2f} in total time")


for arm in arms:
    summary(arm, [row["us"][arm] for row in rows])
if len(sys.argv) > 1:
    facts = {"R": "rows", "C": "columns", "Z": "entries", "longest": "longest", "filled": "filled"}
    with open(sys.argv[1], "w", encoding="utf-8") as table:
        print("sample", *facts, *(f"us:{arm}" for arm in arms), sep="\t", file=table)
        for row in rows:
            name = row["matrix"] if " " in row["matrix"] else "test " + row["matrix"]
            print(name, *(row[fact] for fact in facts.values()), *(row["us"][arm] for arm in arms), sep="\t", file=table)
summary("oracle", [min(row["us"][arm] for arm in arms) for row in rows])
