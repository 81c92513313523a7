"""usage: count.py REPORT SAMPLES: prints what a run sampled (test/lib/sample.py) and its closing line from lit's own JSON report;
exits 1 when a test failed or none ran."""
import collections
import json
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def print_samples(path):
    """A line a subject: how many of all of it ran."""
    taken, total = collections.Counter(), collections.Counter()
    try:
        with open(path, encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
    except OSError:
        rows = []
    for subject, some, everything in rows:
        taken[subject] += int(some)
        total[subject] += int(everything)
    for subject in sorted(total):
        print(f"sampled: {subject}: {taken[subject]:,} of {total[subject]:,}")


def main(path, samples):
    try:
        with open(path) as file:
            tests = json.load(file)["tests"]
    except (OSError, ValueError, KeyError) as error:
        print(f"no report of the test runner: {error}")
        tests = []
    count = collections.Counter(
        "passed" if t["code"] in PASSED else "skipped" if t["code"] in SKIPPED else "failed" for t in tests)
    print_samples(samples)
    for t in tests:
        if t["code"] in SKIPPED:
            print(f"skipped: {t['name']}")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
