# usage: library.sh SOURCE TILEC FOLDER: the examples of docs/library.md, extracted and run; every kernel named there.
set -eu
source=$1 tilec=$2 folder=$3
mkdir -p "$folder"
for kernel in $(sed -n 's/^kernel \([a-z0-9_]*\)(.*/\1/p' "$source"/frontend/std/*.tile); do
    grep -q "\`$kernel[(\`]" "$source/docs/library.md" || { echo "docs/library.md says nothing of $kernel"; exit 1; }
done
sed -n '/^    /s/^    //p' "$source/docs/library.md" >"$folder/library.tile"
for program in $(sed -n 's/^program \([a-z]*\)(.*/\1/p' "$folder/library.tile"); do
    "$tilec" run "$folder/library.tile" --program="$program" --check
done
