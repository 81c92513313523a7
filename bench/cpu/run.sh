#!/usr/bin/env bash
# Ours against OpenBLAS and against plain loops, in one run: bench/cpu/run.sh [build folder] [results file]
# One JSON line a result, with date, machine, commit and command, is printed and added to the results.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build} results=${2:-bench/results/cpu.jsonl}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-std=gnu11 -O3 -march=native -fopenmp-simd -fno-math-errno -fno-trapping-math -I runtime -I runtime/include -I "$work" -I bench/cpu)
libraries=("$build/libtile.a" -lopenblas -lm -lpthread)
for e in examples/{gemm,softmax,rmsnorm,stories/stories} bench/cpu/attention; do "$build/bin/tilec" compile "$e.tile" -o "$work"; done
cc -O3 -march=native -c bench/cpu/plain.c -o "$work/plain.o"
cc -Ofast -march=native -c bench/cpu/plain_decode.c -o "$work/plain_decode.o"
cc "${flags[@]}" "$work/gemm.c" bench/cpu/gemm.c -o "$work/gemm" "${libraries[@]}"
cc "${flags[@]}" "$work/softmax.c" "$work/rmsnorm.c" "$work/attend.c" bench/cpu/rows.c "$work/plain.o" -o "$work/rows" "${libraries[@]}"
cc "${flags[@]}" "$work/step.c" bench/cpu/decode.c "$work/plain_decode.o" -o "$work/decode" "${libraries[@]}"
# Debian's OpenBLAS does not recognise new processors and then falls back to very old kernels.
if grep -q avx512f /proc/cpuinfo; then export OPENBLAS_CORETYPE=${OPENBLAS_CORETYPE:-SkylakeX}; fi
machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
about="\"date\": \"$(date -u +%FT%TZ)\", \"machine\": \"$machine, $(nproc) cores\", \"load\": \"$(cut -d ' ' -f 1 /proc/loadavg)\", \"commit\": \"$(git rev-parse --short HEAD)\", \"command\": \"bench/cpu/run.sh\""
mkdir -p "$(dirname "$results")"
for program in gemm rows "decode ../shared/data/stories260K/stories260K.bin"; do
    # shellcheck disable=SC2086 # the program and its argument
    "$work"/$program | sed "s|^{|{$about, |" | tee -a "$results"
done
