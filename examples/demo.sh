#!/usr/bin/env bash
# ./dev demo: one program, four ranks, bulk-synchronous and fused, both checked against the interpreter.
set -euo pipefail
tilec=$1/bin/tilec
program=examples/ag_gemm.tile
size=(-D M=1024 -D N=1024 -D K=1024 --ranks=4)

step() { printf '\n\033[1m%s\033[0m\n' "$*"; }

step "The program ($program)"
grep -v '^//' "$program"

step "Compiled for the CPU: what each pass did"
"$tilec" compile "$program" "${size[@]}" -o "$1/demo"
"$tilec" explain "$program" "${size[@]}"
echo "C, header and manifest: $(ls "$1"/demo/ag_gemm.* | tr '\n' ' ')"

step "Bulk-synchronous on 4 ranks: all_gather, barrier, matmul"
"$tilec" run "$program" "${size[@]}" --seed=1 --off=comm,flags --check --time=20

step "Fused on 4 ranks: tiles wait for tiles"
"$tilec" run "$program" "${size[@]}" --seed=1 --check --time=20
