#!/usr/bin/env python3
"""How far the cost model's predictions for sm_90a are from what a GPU takes.

model.py build TILEC FOLDER          compiles the programs of cases() into FOLDER, with their libraries
model.py measure FOLDER [OUT]        on a GPU: one JSON line a case; times of the same arguments again and again, as `tilec tune` takes them
model.py compare TILEC FILE [N [--all]]  each Nth line of the last commit in FILE beside what `tilec explain` predicts: the factors above 2,
                                     or all

`us` is the time of a run among many in a graph; `run_us` that of one run which the host waits for."""
import datetime, json, math, os, re, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))


def sizes(**values):
    return " ".join(f"-D {name}={value}" for name, value in values.items())


def cases():
    """(file, program, options)"""
    for m, n, k in (512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (1000, 520, 328), (16, 4096, 4096):
        for off in "", " --off=pipe,pad":
            yield "gemm", "gemm_nn", sizes(M=m, N=n, K=k) + off
            yield "gemm", "gemm_tn", sizes(M=m, N=n, K=k) + off
    for m in 1, 64:
        yield "gemm", "gemm_tn", sizes(M=m, N=7168, K=8192)
        yield "gemm", "gemm_tn", sizes(M=m, N=7168, K=8192) + " --off=pipe,pad"
    yield "gemm", "gemm_nn", sizes(M=4097, N=4097, K=4097)
    for n in 2048, 4096:
        yield "gemm8", "gemm_f8", sizes(M=n, N=n, K=n)
        yield "gemm8", "gemm_f8", sizes(M=n, N=n, K=n) + " --off=pipe,pad"
    for s in 1024, 4096:
        for d in 64, 128:
            for name in "attention_full", "attention_causal":
                yield "attention", name, sizes(H=16, G=16, S=s, D=d)
        yield "attention", "attention_causal", sizes(H=16, G=16, S=s, D=128) + " --off=pipe"
    for s in 8192, 65536:
        yield "decode", "decode", sizes(S=s)
        yield "decode", "decode", sizes(S=s) + " --off=pipe"
    for r, c in (16, 4096), (1000, 1000), (1024, 4096), (8192, 8192), (4099, 4099):
        for name in "rms_norm", "row_softmax", "gated", "turned", "residual_norm":
            yield "rows", name, sizes(R=r, C=c)
    for r, c in (256, 1024), (4096, 1024), (8192, 8192):
        for name in "copied", "copied_b16", "added", "normed", "centred", "summed", "summed_down", "most", "neighbours", "turned_f32", "taken":
            yield "model", name, sizes(R=r, C=c)
    for r, c in (64, 1024), (4096, 1024):
        for name in "computed", "exps", "sines", "divided", "places", "prefixes":
            yield "model", name, sizes(R=r, C=c)
    yield "model", "launches", sizes(R=4096) + " --off=fuse"
    for n in 256, 1024, 2048:
        for name in "product_f32", "product_f64", "product_f16", "product_i8", "layer", "gated_layer":
            yield "model", name, sizes(R=n, C=n, K=n) + (" --off=pipe" if name == "product_f16" else "")
    yield "model", "images", ""
    for r in 16, 1024:
        yield "model", "perceptron", sizes(R=r, C=2048, K=8192)
    for tiles in (16, 64, 64), (64, 64, 64), (128, 64, 32), (64, 256, 32), (128, 128, 32), (128, 128, 128), (256, 128, 32), (32, 32, 128):
        yield "gemm", "gemm_tn", sizes(M=2048, N=2048, K=2048) + " --off=pipe,pad --tuned=" + ",".join(map(str, tiles))


# ---- building ----

def options_of(options, folder):
    """Sizes of tiles become a file."""
    found = re.search(r"--tuned=(\d+),(\d+),(\d+)", options)
    if not found:
        return options.split()
    path = os.path.join(folder, "_".join(found.groups()) + ".tuned")
    with open(path, "w") as f:
        f.write("kernel linear on sm_90a {{ i = {}; j = {}; p = {}; }}\n".format(*found.groups()))
    return options.replace(found[0], f"--tuned={path}").split()


def tilec_of(tilec, word, case, folder, *more):
    file, program, options = case
    command = [tilec, word, f"{HERE}/{file}.tile", f"--program={program}", "--target=sm_90a", *options_of(options, folder), *more]
    return subprocess.run(command, capture_output=True, text=True)


def build(tilec, folder):
    os.makedirs(folder, exist_ok=True)
    listed = []
    for number, case in enumerate(cases()):
        path = f"{folder}/{number}"
        done = tilec_of(tilec, "compile", case, folder, "--emit=lib", "-o", path)
        if done.returncode:
            print(case, done.stderr.splitlines()[0])
            continue
        listed.append((number, *case))
    with open(f"{folder}/cases.json", "w") as f:
        json.dump(listed, f)
    subprocess.run(["cp", os.path.join(os.path.dirname(tilec), "../libtile.so"), folder], check=True)


# ---- measuring ----

def argument(torch, arg):
    kinds = {"bf16": torch.bfloat16, "f16": torch.float16, "f8e4m3": torch.float8_e4m3fn, "f32": torch.float32, "f64": torch.float64}
    shape = [d["constant"] for d in arg["shape"]]
    if arg["elem"] in kinds:
        return torch.randn(*shape, device="cuda").to(kinds[arg["elem"]])
    dtype, end = {"i32": (torch.int32, 1024), "i8": (torch.int8, 64)}[arg["elem"]]
    return torch.randint(end, shape, device="cuda", dtype=dtype)


def run_times(torch, call):
    """Of runs that the host waits for."""
    found = []
    for _ in range(10):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call(0)
        torch.cuda.current_stream().synchronize()
        found.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(found)


def measure_case(bench, torch, mesh, folder, number, program):
    with open(f"{folder}/{number}/{program}.json") as f:
        manifest = json.load(f)
    arguments = [argument(torch, a) for a in manifest["args"]]
    if program == "decode":  # all places of the cache
        arguments[3].fill_(arguments[1].shape[1] - 1)
    run = mesh.program(os.path.abspath(f"{folder}/{number}/lib{program}.so"), program)
    call = lambda i: run(*arguments)
    call(0)
    once = run_times(torch, call)
    calls = max(4, min(100, int(6e3 / once)))
    graph = bench.graph(call, calls)
    for _ in range(2):
        bench.microseconds(graph, calls)
    return statistics.median(bench.microseconds(graph, calls) for _ in range(7)), once


def measure(folder, out):
    import torch
    import run as bench
    torch.manual_seed(0)
    torch.cuda.set_stream(torch.cuda.Stream())
    mesh = bench.Mesh(os.path.abspath(folder))
    with open(f"{folder}/cases.json") as f:
        listed = json.load(f)
    with open(out, "a") as to:
        for number, file, program, options in listed:
            try:
                us, once = measure_case(bench, torch, mesh, folder, number, program)
            except (Exception, SystemExit) as error:
                print(program, options, error, file=sys.stderr)
                continue
            line = dict(file=file, program=program, options=options, us=round(us, 2), run_us=round(once, 2), gpu=torch.cuda.get_device_name(),
                        commit=os.environ.get("COMMIT", ""), date=datetime.date.today().isoformat())
            to.write(json.dumps(line) + "\n")
            to.flush()


# ---- comparing ----

def predicted(tilec, line, folder):
    done = tilec_of(tilec, "explain", (line["file"], line["program"], line["options"]), folder)
    found = re.findall(r"model: '\w+': ([0-9.e+-]+) us", done.stdout)
    return sum(map(float, found)) if found else None


def compare(tilec, path, each, everything):
    with open(path) as f:
        lines = [json.loads(line) for line in f]
    lines = [line for line in lines if line["commit"] == lines[-1]["commit"]][::each]
    factors = []
    folder = tempfile.TemporaryDirectory()
    for line in lines:
        us = predicted(tilec, line, folder.name)
        if us is None:
            print("no prediction:", line["program"], line["options"])
            continue
        factors.append((us / line["us"], us, line))
    far = lambda x: max(x[0], 1 / x[0])
    for factor, us, line in sorted(factors, key=lambda x: x[0]):
        if everything or far((factor,)) > 2:
            print(f"{factor:6.2f}  {us:9.1f} for {line['us']:9.1f} us  {line['program']} {line['options']}")
    all_far = sorted(map(far, factors))
    print(f"{len(factors)} programs: median factor {statistics.median(all_far):.2f}, nine of ten within {all_far[int(0.9 * len(all_far))]:.2f}, worst {all_far[-1]:.2f}; "
          f"geometric mean {math.exp(statistics.fmean(math.log(f[0]) for f in factors)):.2f}")


def main():
    word, *rest = sys.argv[1:] or [""]
    if word == "build" and len(rest) == 2:
        build(*rest)
    elif word == "measure" and len(rest) in (1, 2):
        measure(rest[0], rest[1] if len(rest) == 2 else "/dev/stdout")
    elif word == "compare" and len(rest) in (2, 3, 4):
        compare(rest[0], rest[1], int(rest[2]) if len(rest) > 2 else 1, rest[3:] == ["--all"])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
