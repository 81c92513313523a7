"""Prints the closing line of a test run from lit's own JSON report; exits 1 when a test failed or none ran."""
import collections
import json
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def main(path):
    try:
        with open(path) as file:
            tests = json.load(file)["tests"]
    except (OSError, ValueError, KeyError) as error:
        print(f"no report of the test runner: {error}")
        tests = []
    count = collections.Counter(
        "passed" if t["code"] in PASSED else "skipped" if t["code"] in SKIPPED else "failed" for t in tests)
    for t in tests:
        if t["code"] in SKIPPED:
            print(f"skipped: {t['name']}")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
