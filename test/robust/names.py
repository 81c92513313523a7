"""usage: names.py TILEC OUT [--target=TARGET ..]: writes and compiles programs whose kernels, programs, parameters, ranges and values have names
that C, its library and the generated text use."""
import os
import subprocess
import sys

NAMES = """break case char continue default do double enum extern float goto inline int long register restrict
return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof bool errno linux NAN
INFINITY NULL EOF main t exp log2f sqrt sin memcpy class new this operator using size_t int64_t uint8_t _x __x _
tile_x tile_mesh tile_task TILE_OK isnan isinf signbit logf lgamma_r time clock index round printf malloc stdin HUGE_VAL
CLOCK_MONOTONIC M_PI INT64_MAX sched_yield atomic_int ticket task_name a_tile i0 bits error args instance symmetric
scratch arg norm normf max any rsqrt threadIdx dim3 float4 snprintf uint std tex2D""".split()

SOURCE = """dim D{k} = 8;
kernel {name}(a: f32[n], {name}_1: f32[n]) -> (y: f32[n]) {{ each i: 4 of n {{ y[i] = a[i] + {name}_1[i]; }} }}
kernel k{k}({name}: f32[n]) -> (z: f32[n]) {{ each i: 4 of n {{ z[i] = exp({name}[i]) * 2; }} }}
kernel r{k}(x: f32[{name}]) -> (z: f32[{name}]) {{ each {name}_2: 4 of {name} {{ let v = x[{name}_2]; z[{name}_2] = v; }} }}
kernel it{k}(x: f32[n]) -> (z: f32[n]) {{ each {name}: 4 of n {{ z[{name}] = x[{name}]; }} }}
kernel v{k}(x: f32[n]) -> (z: f32[n]) {{ each i: 4 of n {{ {name} = x[i]; z[i] = {name}; }} }}
"""


COPY = "kernel {copy}{k}(x: f32[n]) -> (z: f32[n]) {{ each i: 4 of n {{ z[i] = x[i]; }} }}\n"
FILES = (SOURCE + "program p{k}(X: f32[D{k}]) -> (Y: f32[D{k}]) {{ Y = v{k}(it{k}(r{k}(k{k}({name}(X, X))))); }}\n",
         COPY + "program {name}(X: f32[8]) -> (Y: f32[8]) {{ Y = copy{k}(X); }}\n",
         COPY + "program q{k}({name}: f32[8]) -> (Y: f32[8]) {{ Y = take{k}({name}); }}\n")


def main(tilec, out, *options):
    for k, name in enumerate(NAMES):
        for i, text in enumerate(FILES):
            path = os.path.join(out, f"n{k}_{i}.tile")
            with open(path, "w") as f:
                f.write(text.format(k=k, name=name, copy=("", "copy", "take")[i]))
            subprocess.run([tilec, "compile", path, "-o", os.path.join(out, "c"), "--off=fuse", *options], check=True)
    print(f"{len(NAMES)} names")


main(*sys.argv[1:])
