#!/usr/bin/env bash
# build.sh BUILD FOLDER: the programs that run.py measures, compiled for sm_90a into FOLDER: libraries that need no compiler.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tilec=$1/bin/tilec folder=$2
mkdir -p "$folder"
cp "$1/libtile.so" "$folder"
while read -r m n k; do
    "$tilec" compile "$here/gemm.tile" --target=sm_90a --emit=lib -o "$folder/${m}x${n}x$k" -D M="$m" -D N="$n" -D K="$k"
done <<'SIZES'
4096 4096 4096
8192 8192 8192
8192 28672 8192
2048 4096 4096
4097 4096 4096
4096 4104 4096
4096 4096 4104
4097 4104 4104
1000 520 328
SIZES
