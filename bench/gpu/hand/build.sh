#!/usr/bin/env bash
# build.sh FOLDER: the kernels written by hand as libraries in FOLDER, with nvcc.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
library() { # NAME SOURCE FLAGS..
    nvcc -std=c++17 -O3 -gencode=arch=compute_90a,code=sm_90a -shared -Xcompiler -fPIC -I "$here/../../../runtime" "-DKERNEL=\"$2\"" "${@:3}" "$here/host.cu" -o "$FOLDER/$1.so"
}
FOLDER=$1

library attention128 attention.cu -DD=128 -DKEYS=160
library attention128_causal attention.cu -DD=128 -DKEYS=128
library attention64 attention.cu -DD=64 -DKEYS=192
