"""usage: emitted.py PAGE FILE..: every line of code on the page stands in one of the files."""
import sys

page, *files = sys.argv[1:]
known = {line.strip() for name in files for line in open(name, encoding="utf-8")}
shown = [line.strip() for line in open(page, encoding="utf-8") if line.startswith("    ")]
missing = [line for line in shown if line not in known]
print("\n".join(missing + [f"{len(shown)} lines, {len(missing)} missing"]))
