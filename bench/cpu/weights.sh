#!/usr/bin/env bash
# Products with weights in every format beside OpenBLAS, plain loops and sparse matrices of as many parameters, on one
# core, in turns: bench/cpu/weights.sh [build folder] [results file] [shapes]. A shape is BATCH.N.K.cache or
# BATCH.N.K.memory. A table is printed; JSON lines are added to the results. In the environment: ONLY, a pattern of
# programs; CORE, the number of the core; TURNS; SOURCE, the programs (bench/cpu/weights.tile, or cells.tile).
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build} results=${2:-bench/results/cpu.jsonl}
shapes=${3:-"1.512.512.cache 1.1024.1024.cache 1.4096.1024.memory 1.4096.4096.memory 8.1024.1024.cache 8.4096.4096.memory"}
source=${SOURCE:-bench/cpu/weights.tile}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mapfile -t flags < <("$build/bin/tilec" targets host --flags | tr ' ' '\n' | grep .)
flags+=(-I runtime -I runtime/include -I "$work" -I bench/cpu)
cc -Ofast -march=native -c bench/cpu/plain_weights.c -o "$work/plain.o"
cc "${flags[@]}" -rdynamic bench/cpu/weights.c "$work/plain.o" -o "$work/weights" -Wl,--whole-archive "$build/libtile.a" -Wl,--no-whole-archive -lopenblas -lm -ldl -lpthread
if grep -q avx512f /proc/cpuinfo; then export OPENBLAS_CORETYPE=SkylakeX; fi
export OPENBLAS_NUM_THREADS=1
machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
about="\"date\": \"$(date -u +%FT%TZ)\", \"machine\": \"$machine, one core\", \"load\": \"$(cut -d ' ' -f 1 /proc/loadavg)\", \"commit\": \"$(git rev-parse --short HEAD)\", \"command\": \"bench/cpu/weights.sh\""
for shape in $shapes; do
    IFS=. read -r batch n k place <<<"$shape"
    mkdir -p "$work/$shape"
    "$build/bin/tilec" compile "$source" -D "B=$batch" -D "N=$n" -D "K=$k" -o "$work/$shape"
    libraries=()
    while read -r program; do
        cc "${flags[@]}" -fPIC -shared "$work/$shape/$program.c" -o "$work/$shape/$program.so" -lm
        libraries+=("$work/$shape/$program.so")
    done < <("$build/bin/tilec" compile --emit=programs "$source" | grep "${ONLY:-.}")
    taskset -c "${CORE:-0}" "$work/weights" "$batch" "$n" "$k" "$place" "${libraries[@]}" >"$work/lines"
    sed "s|^{|{$about, |" "$work/lines" >>"$results"
    python3 bench/cpu/table.py <"$work/lines"
done
