"""usage: many.py: two programs of one kernel with 70 tensors. Its largest ones come first, or last."""
NAMES = [f"p{i}" for i in range(70)]
ROWS, CALL = ", ".join(f"{n}: f32[m]" for n in NAMES), ", ".join(NAMES)
print("dim M = 1024;")
for kernel, params, call in (("last", f"{ROWS}, a: f32[m, n]", f"{CALL}, a"), ("first", f"a: f32[m, n], {ROWS}", f"a, {CALL}")):
    print(f"kernel {kernel}({params}) -> (b: f32[n, m]) {{\n  each i: fixed 8 of m, j: fixed 8 of n {{")
    print("    b[j, i] = a[i, j] + " + " + ".join(f"{n}[i]" for n in NAMES) + ";\n  }\n}")
    print(f"program of_{kernel}({params.replace('[m', '[M').replace(', n]', ', M]')}) -> (b: f32[M, M]) {{ b = {kernel}({call}); }}")
