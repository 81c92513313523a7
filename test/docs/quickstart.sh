# Does what docs/tutorials/4-four-ranks.md says, in the order of its sections. usage: quickstart.sh SOURCE BUILD WORK
set -eu
source=$1 build=$2
mkdir -p "$3"
cd "$3"
PATH=$build/bin:$PATH
# The first indented block is the program.
awk '/^    dim M/ { on = 1 } on && /^[^ ]/ { exit } on { print substr($0, 5) }' "$source/docs/tutorials/4-four-ranks.md" >mine.tile
# So is the one that begins with its header: the caller. The page's commands are those of the folder of the sources.
awk '/^    #include "mine.h"/ { on = 1 } on && /^[^ ]/ { exit } on { print substr($0, 5) }' "$source/docs/tutorials/4-four-ranks.md" >yours.c
rm -f runtime build
ln -s "$source/runtime" runtime
ln -s "$build" build
# Every command that it shows, but the one about the file that is wrong.
grep '^    \$ ' "$source/docs/tutorials/4-four-ranks.md" | sed -e 's/^    \$ //' -e 's,^python3 ,/usr/bin/python3 ,' | grep -v wrong.tile >commands
test "$(wc -l <commands)" -ge 8
sh -eux commands
/usr/bin/python3 -c "import numpy as np; assert np.load('c.npy').shape == (512, 512)"
cc -Wall -Werror -fsyntax-only -I "$source/runtime/include" -I "$source/runtime" -I out yours.c
cc -Wall -Werror -O3 -march=native -fopenmp-simd -I "$source/runtime/include" -I "$source/runtime" -I out out/mine.c "$source/examples/call_from_c.c" \
    "$build/libtile.a" -lpthread -lm -o call
./call
