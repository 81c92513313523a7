# The wait states that clang puts between a matrix instruction and the first use of its result are its passes and 2 to 4 more
# (f64: as the compiler has them, 2, 5 or 10): the cycles of the table's rows, in their order. usage: passes.py TARGET.def ASSEMBLY
import re
import sys

rows = [line.rstrip(")\n")[5:].split(", ") for line in open(sys.argv[1]) if line.startswith("MFMA(")]
waits, row, counting = {}, None, False
for line in open(sys.argv[2]):
    label = re.match(r"row(\d+):", line)
    if label:
        row, counting = int(label[1]), False
        waits[row] = 0
    elif row is None:
        continue
    elif "v_mfma" in line:
        counting = True
    elif counting and re.match(r"\s+(global_store|s_endpgm)", line):
        counting = False
    elif counting and "s_nop" in line:
        waits[row] += int(line.split()[1]) + 1
    elif counting and re.match(r"\s+[vs]_", line):
        waits[row] += 1
wrong = 0
for number, row in enumerate(rows):
    more = waits[number] - int(row[-1]) // 4
    if more not in ((2, 5, 10) if row[3] == "f64" else (2, 3, 4)):
        wrong += 1
        print(f"{sys.argv[1]}: {row[0]}: {row[-1]} cycles, but {waits[number]} wait states")
print(f"{len(rows)} rows, {wrong} wrong")
sys.exit(wrong != 0 or len(rows) < 20)
