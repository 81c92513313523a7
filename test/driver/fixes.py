"""Applies the fixes that JSON diagnostics of a file carry, and those of SARIF: both must give the text that is expected.
Usage: fixes.py TILEC FILE EXPECTED"""
import json
import subprocess
import sys


def applied(lines, fixes):
    for line, begin, end, text in sorted(set(fixes), reverse=True):
        lines[line - 1] = lines[line - 1][: begin - 1] + text + lines[line - 1][end - 1 :]
    return "".join(lines)


def said(tilec, path, style):
    done = subprocess.run([tilec, "check", path, "--diagnostics=" + style], capture_output=True, text=True)
    return json.loads(done.stderr)


def of_json(report):
    fixes = [note["fix"] for error in report for note in error["notes"] if "fix" in note]
    return [(f["line"], f["column"], f["endColumn"], f["text"]) for f in fixes]


def of_sarif(report):
    for result in report["runs"][0]["results"]:
        for fix in result.get("fixes", []):
            for change in fix["artifactChanges"][0]["replacements"]:
                region = change["deletedRegion"]
                yield region["startLine"], region["startColumn"], region["endColumn"], change["insertedContent"]["text"]


def main(tilec, path, expected):
    want = open(expected, encoding="utf-8").read()
    for style, read in (("json", of_json), ("sarif", of_sarif)):
        text = applied(open(path, encoding="utf-8").readlines(), list(read(said(tilec, path, style))))
        print(style, "as expected" if text == want else f"differs:\n{text}")


main(*sys.argv[1:])
