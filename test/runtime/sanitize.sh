# Builds the runtime and its tests with a sanitizer and runs them.
# usage: sanitize.sh SOURCE FOLDER SANITIZER THREADS PROCESSES KILLS CONVERSATIONS: how many steps, killed ranks, conversations
set -e
source=$1 out=$2 sanitizer=$3
rm -rf "$out" && mkdir -p "$out"
cd "$out"
optimise=-O0 # a sample waits for its delays, not for code
[ "${TILEC_TEST_ALL:-}" != 1 ] || optimise=-O1
compile() {
    cc -std=gnu11 -g "$optimise" -fsanitize="$sanitizer" -fno-sanitize-recover=all -D_GNU_SOURCE -DTILE_TEST_DELAY \
        -I"$source" -I"$source/runtime" -I"$source/runtime/include" "$@"
}
compile -c "$source"/runtime/src/*.c
for test in rt_threads rt_processes rt_kill rt_wire; do
    compile "$source/test/unit/$test.c" ./*.o -o "$test" -lpthread -lm
done
TILE_DELAY=5 ./rt_threads "$4"
TILE_DELAY=7 ./rt_processes "$5"
./rt_kill "$6"
./rt_wire "$7"
