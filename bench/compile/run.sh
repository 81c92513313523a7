#!/usr/bin/env bash
# The compiler's own speed: a small example, and generated files of 500, 1000, 2000 kernels. Prints JSON lines.
# usage: bench/compile/run.sh [BUILD]
set -euo pipefail
cd "$(dirname "$0")/../.."
tilec=${1:-build}/bin/tilec
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

measure() { # NAME FILE...: median wall seconds of 7 runs and the peak memory in KB
    local name=$1 i
    shift
    for i in 1 2 3 4 5 6 7; do
        /usr/bin/env python3 - "$tilec" compile "$@" -o "$work/out" <<'PY'
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True)
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PY
    done | sort -n | awk -v name="$name" -v date="$(date +%F)" -v commit="$(git rev-parse --short HEAD)" \
        'NR == 4 { t = $1 } $2 > m { m = $2 } END { printf "{\"work\": \"compile %s\", \"seconds\": %.4f, \"peak_mb\": %.1f, \"date\": \"%s\", \"commit\": \"%s\"}\n", name, t, m / 1024, date, commit }'
}

measure gemm examples/gemm.tile
for n in 500 1000 2000; do
    python3 bench/compile/generate.py $n >"$work/$n.tile"
    measure "$n kernels" "$work/$n.tile"
done
