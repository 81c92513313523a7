# Does what the tutorials of four ranks, and of C, CMake and Python say, then calls the program from examples/call_from_c.c.
# usage: quickstart.sh SOURCE BUILD WORK
set -eu
source=$1 build=$2
mkdir -p "$3"
cd "$3"
python3 -B "$source/test/docs/page.py" "$source" "$build" . \
    "$source/docs/tutorials/4-four-ranks.md" "$source/docs/tutorials/6-from-c-cmake-python.md"
/usr/bin/python3 -c "import numpy as np; assert np.load('c.npy').shape == (512, 512)"
cc -Wall -Werror -fsyntax-only -I "$source/runtime/include" -I "$source/runtime" -I out yours.c
cc -Wall -Werror -O3 -march=native -fopenmp-simd -I "$source/runtime/include" -I "$source/runtime" -I out out/mine.c "$source/examples/call_from_c.c" \
    "$build/libtile.a" -lpthread -lm -o call
./call
