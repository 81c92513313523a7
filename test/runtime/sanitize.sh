# Builds the runtime and its tests with a sanitizer and runs them.
# usage: sanitize.sh SOURCE BUILD FOLDER SANITIZER THREADS PROCESSES KILLS CONVERSATIONS: how many steps, killed ranks, conversations
set -e
source=$1 build=$2 out=$3 sanitizer=$4
rm -rf "$out" && mkdir -p "$out"
runtime=$(sh "$source/test/runtime/sanitized.sh" "$build" "$source" "$sanitizer")
cd "$out"
optimise=-O0 # as the runtime
[ "${TILEC_TEST_ALL:-}" != 1 ] || optimise=-O1
for test in rt_threads rt_processes rt_kill rt_wire; do
    # shellcheck disable=SC2086
    cc -std=gnu11 -g "$optimise" "-fsanitize=$sanitizer" -fno-sanitize-recover=all -D_GNU_SOURCE -DTILE_TEST_DELAY -I"$source" \
        -I"$source/runtime" -I"$source/runtime/include" "$source/test/unit/$test.c" $runtime -o "$test" -lpthread -lm
done
TILE_DELAY=5 ./rt_threads "$5"
TILE_DELAY=7 ./rt_processes "$6"
./rt_kill "$7"
./rt_wire "$8"
