# cpack.sh BUILD SOURCE OUT: the Debian package and the tarball of a build, what they say and hold; a program compiled and run
# from each, unpacked elsewhere, with an environment of its own.
set -eu
build=$1 source=$2 out=$3
rm -rf "$out"
mkdir -p "$out"
cpack --config "$build/CPackConfig.cmake" -B "$out/packages" >"$out/log" 2>&1 || { cat "$out/log"; exit 1; }
deb=$(ls "$out"/packages/*.deb) tar=$(ls "$out"/packages/*.tar.gz)
dpkg-deb --field "$deb" Package Version Section Depends
dpkg-deb --ctrl-tarfile "$deb" | tar -t | grep triggers
mkdir "$out/deb" "$out/tar"
dpkg-deb --extract "$deb" "$out/deb"
tar -C "$out/tar" --strip-components=1 -xzf "$tar"
(cd "$out/deb/usr" && find . -type f | sort) >"$out/deb.files"
(cd "$out/tar" && find . -type f | sort) >"$out/tar.files"
cmp "$out/deb.files" "$out/tar.files" && echo "the same files"
grep -cE 'bin/tilec$|libtile.so$|tile_safetensors.h$|man1/tilec|CHANGELOG.md|examples/gemm.tile' "$out/deb.files"
for prefix in "$out/deb/usr" "$out/tar"; do
    grep -rlF "$source/" "$prefix" || echo "names no place of the source"
    env -i PATH="$prefix/bin:/usr/bin:/bin" HOME="$out" tilec run "$source/examples/gemm.tile" -D M=64 -D N=64 -D K=64 --check |
        sed 's/error.*: agrees.*/agrees/'
done
