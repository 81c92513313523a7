# cache.sh TILEC PYTHON WORK: a command that counts its calls tells what the cache saves. Prints a line for each case.
set -eu
tilec=$1 python=$2 work=$3
mkdir -p "$work/bin" "$work/src"
cd "$work/src"
printf '#!/bin/sh\necho "$*" >>"%s/calls"\nexec "%s" "$@"\n' "$work" "$tilec" >"$work/bin/tilec"
chmod +x "$work/bin/tilec"
export TILEC="$work/bin/tilec" TILEC_CACHE="$work/cache" TILEC_RUNTIME="$(dirname "$tilec")/../include/tilec"
cat >part.tile <<'END'
kernel twice(x: f32[n]) -> (y: f32[n]) { each i: 4 of n { y[i] = x[i] * 2; } }
END
cat >doubled.tile <<'END'
import "part.tile";
dim N = 6;
program doubled(x: f32[N]) -> (y: f32[N]) { y = twice(x); }
END
cat >run.py <<'END'
import sys, numpy as np, tilec
x = np.arange(6, dtype="f4")
for turn in sys.argv[1:]:
    if turn.startswith("*"):
        text = open("part.tile").read().replace("* 2", turn)
        open("part.tile", "w").write(text)
    print(tilec.load("doubled.tile")(x)[1], end=" ")
print(tilec.load("doubled.tile", target="host")(x)[5])
END
# Runs the script, and says how often it compiled.
count() {
    : >"$work/calls"
    echo "$1: $("$python" run.py "${@:2}") compiled $(grep -c compile "$work/calls" || true)"
}
count first go
count again go go
count import '* 2' '* 3'  # of one process: what is loaded stays
count back go
rm "$work"/cache/*/libdoubled.so
count "library lost" go
for note in "$work"/cache/*.json; do echo '{"files": 1' >"$note"; done
count "notes cut" go
sed -i 's/"version": 1/"version": 0/' "$work"/cache/*.json
count "notes of another release" go
: >"$work/calls"
rm -rf "$work/cache"
for i in 1 2 3 4; do "$python" run.py >"$work/$i.out" & done
wait
echo "four at once: $(cat "$work"/?.out | sort -u) compiled $(grep -c 'emit=lib' "$work/calls")"
ls -A "$work/cache" | grep '^tmp' || echo "nothing else is left"
"$python" -c 'import tilec; tilec.clear_cache()' && test ! -e "$work/cache" && echo cleared
echo 'program wrong(x: f32[2]) -> (y: f32[2]) { y = z; }' >wrong.tile
"$python" -c 'import tilec; tilec.load("wrong.tile")' 2>&1 | grep -c "undefined" || true
# A command of another release: its manifest has another version.
cat >"$work/bin/other" <<END
#!/bin/sh
"$tilec" "\$@" && for a in "\$@"; do sed -i 's/"version": 1/"version": 2/' "\$a"/*.json 2>/dev/null; done; true
END
chmod +x "$work/bin/other"
TILEC="$work/bin/other" "$python" run.py 2>&1 | grep -o "program 'doubled'.*" || true
rm -f "$work"/cache/*.json
"$python" -c 'import json, sys; from tilec._signature import Signature; print("kept manifest:", Signature(json.load(open(sys.argv[1]))).roots)' \
    "$(dirname "$0")/Inputs/manifest-1.json"
ls "$work/cache" | grep -v lock || echo "an error leaves nothing"
