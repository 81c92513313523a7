# Does what docs/quickstart.md says, in the order of its sections. usage: quickstart.sh SOURCE BUILD WORK
set -eu
source=$1 build=$2
mkdir -p "$3"
cd "$3"
PATH=$build/bin:$PATH
# The first indented block is the program.
awk '/^    dim M/ { on = 1 } on && /^[^ ]/ { exit } on { print substr($0, 5) }' "$source/docs/quickstart.md" >mine.tile
# Every command that it shows, but those about files that the reader is to have.
grep '^    \$ tilec ' "$source/docs/quickstart.md" | sed 's/^    \$ //' | grep -v -e wrong.tile -e '\.npy' >commands
test "$(wc -l <commands)" -ge 6
sh -eux commands
cc -O3 -march=native -I "$source/runtime/include" -I "$source/runtime" -I out out/mine.c "$source/examples/call_from_c.c" \
    "$build/libtile.a" -lpthread -lm -o call
./call
