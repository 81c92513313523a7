# rebuild.sh FOLDER TILEC: builds a program with make and with ninja: first, again, and after an import has changed.
# Prints how many compilations there were so far.
set -e
cd "$1"
import='add $x #1.tile'
echo "import \"$import\"; program p(X: f32[8]) -> (Y: f32[8]) { Y = add(X, X); }" > 'my kernels/main.tile'
sed -i '/^program/d' "my kernels/$import"
cat > Makefile <<MAKE
out/p.c:
	echo x >> make.log
	$2 compile 'my kernels/main.tile' -o out -MD
-include out/p.d
MAKE
cat > build.ninja <<NINJA
rule tile
  command = echo x >> ninja.log && $2 compile 'my kernels/main.tile' -o outn -MF outn.d
  depfile = outn.d
build outn/p.c: tile
NINJA
for tool in make ninja; do
    file=out/p.c
    [ $tool = make ] || file=outn/p.c
    for step in first again 'after a change'; do
        [ "$step" != 'after a change' ] || { sleep 1.1; touch "my kernels/$import"; }
        $tool $file > $tool.out 2>&1 || { cat $tool.out; exit 1; }
        echo "$tool $step: $(wc -l < $tool.log)"
    done
done
