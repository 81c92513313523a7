#!/usr/bin/env python3
"""Prints a .tile file of N kernels, each called by one program in a chain: input of the compiler's own benchmark."""
import sys

KERNEL = """kernel k{i}(a: f32[n, m], b: f32[n, m]) -> (c: f32[n, m]) {{
  each i: 32 of n, j: 64 of m {{
    x = a[i, j] * {f} + b[i, j];
    y = where(x > 0.0, x, exp(x) - 1.0);
    c[i, j] = y + max(a[i, j], b[i, j]);
  }}
}}
"""


def main(count):
    for i in range(count):
        print(KERNEL.format(i=i, f=1 + i / 1000))
    print("program chain(A: f32[256, 256]) -> (C: f32[256, 256]) {\n  t0 = k0(A, A);")
    for i in range(1, count - 1):
        print(f"  t{i} = k{i}(t{i - 1}, A);")
    print(f"  C = k{count - 1}(t{count - 2}, A);\n}}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
