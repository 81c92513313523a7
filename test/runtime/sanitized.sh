# sanitized.sh BUILD SOURCE SANITIZER: the runtime with a sanitizer and delays, compiled once for all tests. Prints the options that link it.
set -e
build=$1 source=$2 sanitizer=$3 optimise=-O0 # a sample waits for its delays, not for code
[ "${TILEC_TEST_ALL:-}" != 1 ] || optimise=-O1
at=$build/test/runtime/sanitized/$sanitizer$optimise
mkdir -p "$at"
cd "$at"
{
    flock 9 # tests run side by side
    if [ ! -f libtile.a ] || [ -n "$(find "$source/runtime" -newer libtile.a -name '*.[ch]')" ]; then
        cc -std=gnu11 -g "$optimise" "-fsanitize=$sanitizer" -fno-sanitize-recover=all -D_GNU_SOURCE -DTILE_TEST_DELAY -I"$source/runtime" \
            -I"$source/runtime/include" -c "$source"/runtime/src/*.c
        rm -f libtile.a
        ar rcs libtile.a ./*.o
    fi
} 9>lock
echo "-Wl,--whole-archive $at/libtile.a -Wl,--no-whole-archive"
