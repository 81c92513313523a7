#!/usr/bin/env bash
# run.sh BUILD TARGET SEEDS DICTIONARY LIMIT: builds a fuzz target with clang's sanitizers under BUILD/fuzz and runs it
# from the seeds. LIMIT is a time ("600s"), and what it learns stays in BUILD/fuzz/corpus for the next time; or a number
# of inputs, and then they are those of TILEC_TEST_SEED, the same ones every time. An input that fails is kept and named.
set -euo pipefail
build=$1 target=$2 seeds=$3 dictionary=$4 limit=$5
source=$(cd "$(dirname "$0")/../.." && pwd)
# The first clang that has the fuzzer's library.
has_fuzzer() { command -v "$1" >/dev/null && compgen -G "$("$1" --print-resource-dir)/lib/*/libclang_rt.fuzzer*.a" >/dev/null; }
for clang in clang-22 clang-14 clang; do has_fuzzer "$clang" && break; done
case $limit in
*s) corpus=$build/fuzz/corpus/$target how=(-max_total_time="${limit%s}") ;;
*) # what comparisons saw and when is left out of it: both depend on addresses and on the clock
    corpus=$(mktemp -d) how=(-runs="$limit" -seed="${TILEC_TEST_SEED:-1}" -use_cmp=0 -reload=0) && trap 'rm -rf "$corpus"' EXIT ;;
esac
# A sample of inputs takes less time than optimising for it, and than code that says what went wrong: the other build does,
# of the input that failed.
at=$build/fuzz flags="-O1 -g"
[ "${limit%s}" != "$limit" ] || [ "${TILEC_TEST_ALL:-}" = 1 ] || at=$build/fuzz/quick flags="-O0 -g0 -fsanitize-trap=undefined"
mkdir -p "$corpus" "$build/fuzz/found" "$at"
(
    flock 9 # tests run side by side and share the build
    [ -f "$at/build.ninja" ] || cmake -G Ninja -S "$source" -B "$at" -DTILEC_FUZZ=ON \
        -DCMAKE_C_COMPILER="$clang" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$flags" >"$at/cmake.log"
    ninja -C "$at" --quiet "fuzz_$target"
) 9>"$at/lock"
"$at/bin/fuzz_$target" "${how[@]}" -dict="$source/test/fuzz/$dictionary" -max_len=4096 \
    -artifact_prefix="$build/fuzz/found/$target-" -verbosity=0 -print_final_stats=1 \
    "$corpus" "$source/test/fuzz/seeds/$seeds"
