# Builds the runtime and its tests with a sanitizer and runs them. usage: sanitize.sh SOURCE FOLDER SANITIZER
set -e
source=$1 out=$2 sanitizer=$3
mkdir -p "$out"
cd "$source"
for test in rt_threads rt_processes rt_kill rt_wire; do
    cc -std=gnu11 -g -O1 -fsanitize="$sanitizer" -fno-sanitize-recover=all -D_GNU_SOURCE -DTILE_TEST_DELAY \
        -I. -Iruntime -Iruntime/include test/unit/$test.c runtime/src/*.c -o "$out/$test" -lpthread -lm
done
cd "$out"
TILE_DELAY=5 ./rt_threads 20
TILE_DELAY=7 ./rt_processes 20
./rt_kill 3
./rt_wire 40
