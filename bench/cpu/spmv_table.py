"""The lines of bench/cpu/spmv.sh as a table, and each arm in geometric mean and in total time beside the peer, and
beside an oracle that knows the fastest arm."""
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
summary("oracle", [min(row["us"][arm] for arm in arms) for row in rows])
