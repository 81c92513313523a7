# library.sh BUILD SOURCE WORK: a library of an installed and moved prefix finds libtile by itself: the one of the prefix,
# or one that lies beside it.
set -eu
build=$1 source=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/made" --strip >"$work/install.log"
prefix="$work/moved here"
mv "$work/made" "$prefix"
cd "$work"
unset LD_LIBRARY_PATH
"$prefix/bin/tilec" compile "$source/test/robust/Inputs/add.tile" -o out --emit=lib
cc -Wall -Wextra -Werror -I out -I "$prefix/include/tilec" "$source/test/package/Inputs/loads.c" -ldl -o loads
ldd out/libsum.so | grep -F "libtile.so => $prefix/" >/dev/null && echo "libtile of the prefix"
./loads out/libsum.so
/usr/bin/python3 -c "import ctypes; x = ctypes.CDLL('out/libsum.so'); x.sum_open, x.tile_mesh_open; print('loaded by Python')"
mv "$prefix" "$work/once more"
./loads out/libsum.so 2>&1 | grep -o 'libtile.so: cannot open' || exit 1
cp "$work/once more/lib/libtile.so" out/
echo "beside it: $(./loads out/libsum.so)"
