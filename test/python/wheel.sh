# wheel.sh SOURCE WORK: builds the wheel as pip does, installs it in an empty environment, and runs a program there.
set -eu
source=$1 work=$2
rm -rf "$work"
mkdir -p "$work"
unset PYTHONPATH TILEC TILEC_RUNTIME
export TILEC_CACHE="$work/cache"
python=$(command -v "${TILEC_TEST_PYTHON:-python3}")
cat >"$work/first.py" <<'END'
import numpy as np
import tilec

f = tilec.load("program rows(x: f32[3, 8]) -> (y: f32[3, 8]) { y = softmax(x); }")
print(f(np.zeros((3, 8), "f4"))[0, 0], "agrees" in f.check(), tilec.__version__)
END
# Makes an empty environment, installs what is given, runs the program there.
try() {
    rm -rf "$work/env"
    "$python" -m venv "$work/env"
    "$work/env/bin/pip" install -q --disable-pip-version-check "$1" numpy >"$work/pip.log" 2>&1 || { cat "$work/pip.log"; exit 1; }
    cd "$work"
    env/bin/python first.py
    env/bin/tilec --version
    ldd "$work"/env/lib/python*/site-packages/tilec/prefix/bin/tilec | grep -c 'isl\|gmp\|jansson' || true
}
"$python" -m venv "$work/env"
"$work/env/bin/pip" wheel -q --disable-pip-version-check --no-deps -w "$work/dist" "$source" >"$work/pip.log" 2>&1 || { cat "$work/pip.log"; exit 1; }
ls "$work/dist"
try "$work"/dist/*.whl
echo 'from the source'
try "$source"
