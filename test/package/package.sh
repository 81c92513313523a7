# package.sh BUILD SOURCE WORK: installs to a prefix, moves it, and builds the example project there with CMake (ninja and
# make) and with Make: first, again, after one source has changed, after what both import has changed. Prints what was
# compiled each time, and what the program says.
set -eu
build=$1 source=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/made" --strip >"$work/install.log"
mv "$work/made" "$work/moved here"
prefix="$work/moved here"
! grep -rl -e "$build" -e "$source" -e "$work/made" "$prefix" || exit 1
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"

# What a build compiled, by the names of the sources, and whether it configured.
compiled() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    echo $(grep -oE '\b(smooth|total|main|more)\.(tile|c)\b|Configuring' "$work/log" | sort -u)
}

steps() { # NAME BINARY COMMAND..
    local name=$1 binary=$2
    shift 2
    echo "$name first: $(compiled "$@")"
    "$binary"
    echo "$name again: $(compiled "$@")"
    sleep 1.1 # for file systems and builds that count seconds
    sed -i s/sum_rows/max_rows/ total.tile
    echo "$name total: $(compiled "$@")"
    "$binary"
    sleep 1.1
    touch shapes.tile
    echo "$name both: $(compiled "$@")"
    sed -i s/max_rows/sum_rows/ total.tile
}

grows() { # NAME COMMAND..: a program more in a source, and one fewer
    local name=$1
    shift
    sleep 1.1
    echo "program more(b: f32[N, D]) -> (s: f32[N]) { s = sum_rows(b); }" >>total.tile
    echo "$name more: $(compiled "$@")"
    sleep 1.1
    sed -i '$d' total.tile
    echo "$name fewer: $(compiled "$@")"
}

# A project of C++ alone that asks for an older CMake.
mkdir "$work/cxx"
cp "$prefix/share/tilec/examples/softmax.tile" "$work/cxx"
cat >"$work/cxx/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(cxx LANGUAGES CXX)
find_package(tilec REQUIRED)
tilec_add_library(kernels SOURCES softmax.tile)
add_executable(cxx main.cpp)
target_link_libraries(cxx PRIVATE kernels)
END
cat >"$work/cxx/main.cpp" <<'END'
#include "softmax.h"
#include <cstdio>
int main() { std::printf("rows: %d\n", softmax_args_X_0); }
END
cmake -G Ninja -S "$work/cxx" -B "$work/cxx/build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/cxx.log"
ninja -C "$work/cxx/build" >"$work/cxx.log"
"$work/cxx/build/cxx"
echo "cxx again: $(ninja -C "$work/cxx/build" | tail -n 1)"

# What the README of the prefix names is there.
for link in $(grep -oE '\]\([^)#]+' "$prefix/share/doc/tilec/README.md" | cut -c3-); do
    [ -e "$prefix/share/doc/tilec/$link" ] || { echo "README.md: no $link"; exit 1; }
done
ls "$prefix/share/doc/tilec/golden" | grep -c hip

cp -r "$source/examples/project" "$work/project"
cd "$work/project"
cmake -G Ninja -S . -B ninja -DCMAKE_PREFIX_PATH="$prefix" >"$work/ninja.log"
steps ninja ninja/project ninja -C ninja
grows ninja ninja -C ninja
cmake -G "Unix Makefiles" -S . -B made -DCMAKE_PREFIX_PATH="$prefix" >"$work/made.log"
steps cmake made/project make -C made -j2
grows cmake make -C made -j2
steps make out/project make -j2
