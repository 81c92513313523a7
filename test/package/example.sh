# example.sh BUILD SOURCE NAME: builds examples/NAME in BUILD/examples/NAME, from what is installed in BUILD/prefix alone.
# Tests run side by side and share both.
set -eu
build=$1 source=$2 name=$3
mkdir -p "$build/examples"
exec 9>"$build/examples/lock"
flock 9
{
    cmake --install "$build" --prefix "$build/prefix"
    [ -f "$build/examples/$name/build.ninja" ] ||
        cmake -G Ninja -S "$source/examples/$name" -B "$build/examples/$name" -DCMAKE_PREFIX_PATH="$build/prefix"
    ninja -C "$build/examples/$name"
} >"$build/examples/$name.log" 2>&1 || { cat "$build/examples/$name.log"; exit 1; }
