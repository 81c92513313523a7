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
257 16384 4104
4096 4097 4096
4097 4097 4097
8191 8191 8191
2053 4099 4093
1000 520 328
512 4096 4096
1024 1024 1024
1040 1040 1024
3072 3072 3072
1 4096 14336
16 4096 14336
64 4096 14336
1 7168 8192
16 7168 8192
64 7168 8192
16 5120 5120
64 5120 5120
128 4096 4096
1 4097 14337
17 4097 4099
1 4096 4096
16 4096 4096
100 4096 4096
1000 4096 4096
8192 4096 4096
8191 8184 8184
SIZES
for free in M N K MNK; do # sizes known at run time; the others are numbers
    numbers=$(for size in M N K; do [[ $free == *$size* ]] || echo "-D $size=4096"; done)
    for program in sized_nn sized_tn; do
        # shellcheck disable=SC2086
        "$tilec" compile "$here/sizes.tile" --program=$program --target=sm_90a --emit=lib -o "$folder/sized_$free" $numbers
    done
done
"$tilec" compile "$here/sizes.tile" --program=batched_nn --target=sm_90a --emit=lib -o "$folder/batched_MNKB"
while read -r x m n k; do
    "$tilec" compile "$here/sizes.tile" --program=batched_nn --target=sm_90a --emit=lib -o "$folder/batched_${x}x${m}x${n}x$k" -D B="$x" -D M="$m" -D N="$n" -D K="$k"
done <<'SIZES'
16 2048 2048 2048
64 1024 1024 1024
64 512 512 512
SIZES
while read -r program m n k; do
    "$tilec" compile "$here/siblings.tile" --program="$program" --target=sm_90a --emit=lib -o "$folder/${m}x${n}x$k" -D M="$m" -D N="$n" -D K="$k"
done <<'SIZES'
gate_up 4096 14336 4096
gate_up 64 14336 4096
gate_up 16 14336 4096
gate_up 1 14336 4096
keys_values 4096 1024 4096
keys_values 16 1024 4096
keys_values 1 1024 4096
SIZES
for n in 4096 8192; do
    "$tilec" compile "$here/gemm8.tile" --program=gemm_f8 --target=sm_90a --emit=lib -o "$folder/${n}x${n}x$n" -D M="$n" -D N="$n" -D K="$n"
done
while read -r m n k; do
    "$tilec" compile "$here/gemm8.tile" --program=gemm_f8_blocks --target=sm_90a --emit=lib -o "$folder/${m}x${n}x$k" -D M="$m" -D N="$n" -D K="$k"
done <<'SIZES'
4096 4096 4096
4096 7168 2048
128 7168 16384
8192 8192 8192
SIZES
while read -r b h g s d name; do
    "$tilec" compile "$here/attention.tile" --target=sm_90a --emit=lib --program="$name" -o "$folder/B${b}_H${h}_${g}_S${s}_D$d" -D B="$b" -D H="$h" -D G="$g" -D S="$s" -D D="$d"
done <<'SIZES'
1 32 32 4096 128 attention_full
1 32 32 16384 128 attention_full
4 32 8 4096 128 attention_causal
1 64 8 16384 128 attention_causal
1 128 128 8192 64 attention_full
1 32 8 4097 128 attention_causal
1 32 32 4099 128 attention_full
SIZES
while read -r b h g s d; do
    "$tilec" compile "$here/decode.tile" --target=sm_90a --emit=lib -o "$folder/B${b}_H${h}_${g}_S${s}_D$d" -D B="$b" -D H="$h" -D G="$g" -D S="$s" -D D="$d"
done <<'SIZES'
1 32 8 8192 128
1 32 8 131072 128
8 32 8 8192 128
1 96 96 65536 128
1 32 8 8191 128
SIZES
while read -r r c; do
    for program in rms_norm row_softmax gated turned residual_norm $([ $((c % 128)) = 0 ] && echo turned_pairs); do
        "$tilec" compile "$here/rows.tile" --program="$program" --target=sm_90a --emit=lib -o "$folder/${r}x$c" -D R="$r" -D C="$c"
    done
done <<'SIZES'
8192 8192
16 4096
8193 8193
8191 8191
17 4097
SIZES
