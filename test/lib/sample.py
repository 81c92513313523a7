"""How much of a test runs: the one place that samples. `./dev test` takes a part that a fixed seed draws, `./dev test --all`
takes everything. Python tests call `some`, `choose` and `seed`; RUN lines are expanded by runlines.py (docs/guides/testing.md)."""
import os
import random


def everything():
    return os.environ.get("TILEC_TEST_ALL") == "1"


def seed():
    return int(os.environ.get("TILEC_TEST_SEED", "1"))


def record(subject, taken, total):
    """A line for the summary of the run (test/count.py)."""
    path = os.environ.get("TILEC_TEST_SAMPLES")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{subject}\t{taken}\t{total}\n")


def some(subject, few, total):
    """How many of `total`: all of them, or `few`."""
    count = total if everything() else min(few, total)
    record(subject, count, total)
    return count


def choose(subject, items, few, name=""):
    """All items, or `few` of them in their order, drawn by the seed and `name`."""
    items = list(items)
    count = some(subject, few, len(items))
    return [items[i] for i in sorted(random.Random(f"{seed()} {name}").sample(range(len(items)), count))]
