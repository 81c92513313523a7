#!/usr/bin/env bash
# Sparse matrices times a vector: every kernel of the library beside a plain loop over CSR, in turns:
# bench/cpu/spmv.sh [build folder] [results file] [folder of .mtx files]. A table is printed; JSON lines are added to the
# results. In the environment: CORE, the number of the core; WORKERS, 1 if it is not given; TABLE, a file for
# tilec tune --train.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build} results=${2:-bench/results/cpu.jsonl} matrices=${3:-../shared/data/matrices}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mapfile -t flags < <("$build/bin/tilec" targets host --flags | tr ' ' '\n' | grep .)
flags+=(-I runtime -I runtime/include -I "$work" -I bench/cpu -I examples/spmv)
cc -Ofast -march=native -c bench/cpu/plain_weights.c -o "$work/plain.o"
cc "${flags[@]}" -D_GNU_SOURCE -rdynamic bench/cpu/spmv.c examples/spmv/{market,sliced}.c examples/common/input.c "$work/plain.o" -o "$work/spmv" -Wl,--whole-archive "$build/libtile.a" -Wl,--no-whole-archive -lm -ldl -lpthread
machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
about="\"date\": \"$(date -u +%FT%TZ)\", \"machine\": \"$machine\", \"load\": \"$(cut -d ' ' -f 1 /proc/loadavg)\", \"commit\": \"$(git rev-parse --short HEAD)\", \"command\": \"bench/cpu/spmv.sh\""
"$build/bin/tilec" compile bench/cpu/spmv.tile -o "$work"
libraries=()
while read -r program; do
    cc "${flags[@]}" -fPIC -shared "$work/$program.c" -o "$work/$program.so" -lm
    libraries+=("$work/$program.so")
done < <("$build/bin/tilec" compile --emit=programs bench/cpu/spmv.tile)
pin=(taskset -c "${CORE:-0}")
[ "${WORKERS:-1}" = 1 ] || pin=()
"${pin[@]}" "$work/spmv" "${libraries[@]}" "$matrices"/*.mtx >"$work/lines"
sed "s|^{|{$about, |" "$work/lines" >>"$results"
# shellcheck disable=SC2086 # no file, no argument
python3 bench/cpu/spmv_table.py ${TABLE:-} <"$work/lines"
