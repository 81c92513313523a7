#!/usr/bin/env bash
# The compiler's own speed: a small example, and generated files of 500, 1000, 2000 kernels. Prints JSON lines.
# usage: bench/compile/run.sh [BUILD]
set -euo pipefail
cd "$(dirname "$0")/../.."
tilec=${1:-build}/bin/tilec
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

measure() { # NAME FILE...: the run of 7 with the median wall seconds, its processor seconds, and the peak memory
    local name=$1 i
    shift
    for i in 1 2 3 4 5 6 7; do
        /usr/bin/env python3 - "$tilec" compile "$@" -o "$work/out" <<'PY'
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True)
wall, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
print(wall, used.ru_maxrss, used.ru_utime + used.ru_stime)
PY
    done | sort -n | awk -v name="$name" -v date="$(date +%F)" -v commit="$(git rev-parse --short HEAD)" -v load="$(cut -d" " -f1 /proc/loadavg)" \
        'NR == 4 { t = $1; cpu = $3 } $2 > m { m = $2 } END { printf "{\"work\": \"compile %s\", \"seconds\": %.4f, \"cpu_seconds\": %.4f, \"peak_mb\": %.1f, \"load\": %s, \"date\": \"%s\", \"commit\": \"%s\"}\n", name, t, cpu, m / 1024, load, date, commit }'
}

measure gemm examples/gemm.tile
for n in 500 1000 2000; do
    python3 bench/compile/generate.py $n >"$work/$n.tile"
    measure "$n kernels" "$work/$n.tile"
done
