"""usage: diagnostics.py TILEC: JSON and SARIF are valid whatever a source and its name hold."""
import json
import os
import subprocess
import sys

SOURCES = {b"good.tile": b"kernel k(x: f32[n]) -> (y: f32[n]) { each i: 4 of n { y[i] = x[i]; } }\n",
           b"bad.tile": b'dim \xff"\\ \0 = 1;\ndim N = \xc3\xa4;\n', b'b "\\\n\xff.tile': b"dim N = M;\n", b"missing.tile": None}


def main(tilec):
    for name, text in SOURCES.items():
        if text is not None:
            with open(name, "wb") as f:
                f.write(text)
        for style in ("json", "sarif"):
            done = subprocess.run([tilec, b"check", name, b"--diagnostics=" + style.encode()], capture_output=True)
            log = json.loads(done.stderr)
            found = log if style == "json" else log["runs"][0]["results"]
            assert done.returncode == (name != b"good.tile") and bool(found) == (name != b"good.tile"), (name, done)
            assert all(d["message"] for d in found), found


main(os.fsencode(sys.argv[1]))
