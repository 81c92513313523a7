# Every example with a mesh, in every form of communication, under random schedules: the results must be the same bits.
# usage: schedules.sh TILEC SOURCE BUILD FOLDER RUNS "FORMS" [SANITIZER]
set -e
tilec=$1 source=$2 build=$3 out=$4 runs=$5 forms=$6 sanitize=${7:+-fsanitize=$7 -fno-sanitize-recover=all} level=-O2
runner=$build/unit/rt_schedules
mkdir -p "$out"
build() { cc -std=gnu11 -g $sanitize -D_GNU_SOURCE -I"$source/runtime/include" -I"$source/runtime" "$@" -lpthread -ldl -lm; }
if [ -n "$sanitize" ]; then
    level=-O1 runner=$out/rt_schedules # -O1 takes half of the time to compile
    # shellcheck disable=SC2046
    [ -f "$runner" ] || build -O1 -rdynamic "$source"/test/unit/rt_schedules.c $(sh "$source/test/runtime/sanitized.sh" "$build" "$source" "$7") -o "$runner"
fi
for example in ag_gemm gemm_rs gemm_ar flash_decode mlp_tp; do
    case $example in
        mlp_tp) defines="" ;;
        flash_decode) defines="-D B=2 -D H=4 -D G=2 -D S=99 -D D=32" ;;
        *) defines="-D M=150 -D N=90 -D K=113" ;;
    esac
    for form in $forms; do
        dir=$out/$example-$form
        mkdir -p "$dir"
        "$tilec" compile "$source/examples/$example.tile" $defines --comm=$form -o "$dir" 2> "$dir/log"
        build $level -ffp-contract=fast -fno-math-errno -fopenmp-simd -fPIC -shared -DTILE_TEST_DELAY \
            "$dir/$example.c" -o "$dir/lib.so"
        echo "$form, $(TILE_DELAY=${TILEC_TEST_SEED:-1} "$runner" "$dir/lib.so" $example "$runs")"
    done
done
