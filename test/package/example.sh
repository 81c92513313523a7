# example.sh BUILD SOURCE NAME [FOLDER OPTION..]: builds examples/NAME in BUILD/examples/FOLDER (NAME, if not given), with
# these options of cmake, from what is installed in BUILD/prefix alone. Tests run side by side and share both.
set -eu
build=$1 source=$2 name=$3 to=${4:-$3}
shift $(($# > 4 ? 4 : $#))
mkdir -p "$build/examples"
exec 9>"$build/examples/lock"
flock 9
{
    cmake --install "$build" --prefix "$build/prefix"
    [ -f "$build/examples/$to/build.ninja" ] ||
        cmake -G Ninja -S "$source/examples/$name" -B "$build/examples/$to" -DCMAKE_PREFIX_PATH="$build/prefix" "$@"
    ninja -C "$build/examples/$to"
} >"$build/examples/$to.log" 2>&1 || { cat "$build/examples/$to.log"; exit 1; }
