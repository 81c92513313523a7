"""prints.py TILEC FILE: each program of prints.tile, everywhere: equal lines, and the lines that are known."""
import os
import subprocess
import sys

tilec, source = sys.argv[1:]


def run(program, target, *more, **environment):
    command = [tilec, "run", source, "--program=" + program, "--target=" + target, "--seed=3", *more]
    p = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    return p.returncode, [line for line in (p.stdout + p.stderr).splitlines() if "prints.tile:" in line or "did not fit" in line]


def same(program, lines, code, targets=("host", "emu:gfx942", "emu:sm_90a"), more=()):
    want = run(program, "interp", *more)
    assert want[0] == code and len(want[1]) == lines, (program, want[0], len(want[1]), want[1])
    for target in targets:
        have = run(program, target, *more)
        assert have == want, (program, target, have[0], set(have[1]) ^ set(want[1]))
    return want[1]


shown = same("elements_shown", 3 * (7 + 2 * 13 + 1), 0)
assert any("1.0 / f64(b[i] - b[i]) at i = 0: inf" in line for line in shown), shown
assert any("t2s[i] at i = 0: -1" in line for line in shown), shown
placed = same("places_shown", 56, 3)
assert any("rank 1: prints.tile:49: placed: acc at i = 4, begin(j) = 64: " in line for line in placed), placed
singles = same("singles_shown", 9, 3, targets=["host", "emu:gfx942"])
assert any("single: assert r < 6 fails at r = 8: x[r] is " in line for line in singles), singles
same("singles_shown", 0, 0, targets=["host"], more=["-D", "S=0"])
same("groups_shown", 6, 0, targets=["host", "emu:sm_90a"])
# By roles on sm_90a: rows and columns that end within a tile.
product = same("product_shown", 9 + 3 + 1, 3, targets=["host", "emu:sm_90a"], more=["--ranks=1"])
assert "product: assert pos(i) != 500 || pos(j) % 512 > 0 || pos(j) == 0 fails at i = 500, j = 1024: pos(j) is 1024" in product[10], product
same("attention_shown", 2 * (2 + 1), 0, targets=["emu:gfx942", "emu:sm_90a"], more=["--ranks=1"])
same("masked_shown", 3, 0, targets=["emu:sm_90a"], more=["--ranks=1"])
same("few_shown", 8 + 1 + 6, 0, targets=["emu:sm_90a"], more=["--ranks=1"])
plan = subprocess.run([tilec, "explain", source, "--program=product_shown", "--target=sm_90a", "--ranks=1"], capture_output=True, text=True)
assert "'product': roles" in plan.stdout + plan.stderr, plan
assert "prints, or asserts of values: it is fused with none" in plan.stdout + plan.stderr, plan
alone = subprocess.run([tilec, "compile", source, "--program=singles_shown", "--ranks=1", "--freestanding"], capture_output=True, text=True)
assert alone.returncode == 1 and "not supported yet: 'print' without the runtime" in alone.stderr, alone
# What does not fit is counted, and an assertion that fails is told though no record of it was kept.
for target in "host", "emu:gfx942":
    code, lines = run("singles_shown", target, TILE_PRINTS="1")
    assert code == 3 and sum("more elements did not fit" in line for line in lines) == 2, (target, lines)
