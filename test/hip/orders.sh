# usage: orders.sh TILEC SOURCE INPUTS OUT: each kernel with its order in OUT, compiled for gfx942.
set -e
tilec=$1 source=$2 inputs=$3 out=$4
rm -rf "$out"
mkdir -p "$out"
for k in gemm spmv transpose elementwise stencil softmax layernorm smith_waterman fdtd black_scholes conv2d nbody; do
    "$tilec" remap "$inputs/$k.hip" -o "$out/$k.hip"
    clang-22 -x hip --cuda-device-only -nogpulib -nogpuinc -O3 -Wall -Wextra -Werror -Wno-sign-compare --offload-arch=gfx942 \
        -I "$source/runtime/hip" -S -o "$out/$k.s" "$out/$k.hip"
done
