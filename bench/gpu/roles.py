#!/usr/bin/env python3
"""roles.py build BUILD FOLDER, or roles.py FOLDER [-o FILE] [--commit=TEXT]: products in the form roles, written by hand over the
device library (roles.hip), beside the compiled schedule, in the variants that the form leaves open.

Each row: CUDA graphs of several calls that rotate over input sets larger than the L2, the schedule's and the variants' in turns, on
the same random data, medians; all values compared with the schedule's. One JSON line a row."""
import argparse, ctypes, datetime, json, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
LARGE = [(4096, 4096, 4096), (8192, 8192, 8192), (4096, 14336, 4096)]
SHALLOW = [(8192, 8192, 512), (4096, 4096, 1024)]
EDGES = [(4097, 4096, 4096), (4096, 4104, 4096), (4097, 4104, 4104), (8184, 8184, 8184), (2056, 4104, 4088)]
FEW = [(m, n, k) for n, k in ((4096, 4096), (14336, 4096)) for m in (128, 256, 512, 1024, 2048)]
LDS = 232448  # bytes of a workgroup


def shape_name(m, n, k):
    return f"{m}x{n}x{k}"


def variants_of(shape, across):
    """Names and macros. The first is what code generation is to emit."""
    base = {"ACROSS": 1} if across else {}
    fixed = dict(zip(("FIXED_M", "FIXED_N", "FIXED_K"), shape))
    own = {"run": {}, "fixed " + shape_name(*shape): fixed}
    if shape in FEW:
        own = {"run": {}}
        for wide, stages in ((64, 7), (128, 6), (192, 4), (256, 4)):
            for cluster, name in (({"CLUSTER": 1}, "alone"), ({"BESIDE": 1}, "beside"), ({}, "above")):
                own[f"{wide} {name}"] = {"WIDE": wide, "STAGES": stages, **cluster}
    elif shape in EDGES:
        own = {"run": {}, "edges last": {"EDGES": 1}, "edges last, ticket": {"EDGES": 1, "TICKET": 1}}
    elif not across:
        own |= {"turns by a barrier": {"TURNS": 2}, "without turns": {"TURNS": 0}, "results 128 x 1": {"OUT": 128, "OUTS": 1}, "storing warps": {"STORE_WARP": 1},
                "storing warps without turns": {"STORE_WARP": 1, "TURNS": 0}, "beside": {"BESIDE": 1}, "alone": {"CLUSTER": 1},
                "3 stages": {"STAGES": 3}, "ticket": {"TICKET": 1}, "128 x 192": {"WIDE": 192}, "run again": {}}
    return {name: base | macros for name, macros in own.items()}


def rows():
    for shape in LARGE + SHALLOW + EDGES + FEW:
        for across in (False, True) if shape in LARGE else (False,):
            yield shape, across


def code_name(macros):
    return "product" + "".join(f"_{k}{v}" for k, v in sorted(macros.items())) + ".cubin"


def build(tree, folder):
    os.makedirs(folder, exist_ok=True)
    subprocess.run(["cp", os.path.join(tree, "libtile.so"), folder], check=True)
    root = os.path.join(HERE, "..", "..")
    for shape, across in rows():
        for macros in variants_of(shape, across).values():
            path = os.path.join(folder, code_name(macros))
            defines = [f"-D{k}={v}" for k, v in macros.items()]
            if not os.path.exists(path):
                subprocess.run(["nvcc", "-x", "cu", "-arch=sm_90a", "-cubin", "-O3", "-I", root + "/runtime", "-I", root + "/runtime/include",
                                "-Xptxas=-warn-spills", *defines, "-o", path, os.path.join(HERE, "roles.hip")], check=True)
        at = os.path.join(folder, shape_name(*shape))
        sizes = [x for name, v in zip("MNK", shape) for x in ("-D", f"{name}={v}")]
        subprocess.run([os.path.join(tree, "bin/tilec"), "compile", os.path.join(HERE, "gemm.tile"), "--program=gemm_" + ("nn" if across else "tn"),
                        "--target=sm_90a", "--emit=lib", "-o", at, *sizes], check=True)


def must(error, what):
    if error:
        raise SystemExit(f"{what}: CUDA error {error}")


class Attribute(ctypes.Structure):
    """CUlaunchAttribute; 6: programmatic stream serialization, as the runtime launches"""
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_int), ("rest", ctypes.c_char * 60)]


class Launch(ctypes.Structure):
    """CUlaunchConfig"""
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("lds", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]


class Call(ctypes.Structure):
    _fields_ = [("size", ctypes.c_int64 * 3), ("ticket", ctypes.c_void_p)]


class Variant:
    def __init__(self, cuda, folder, macros, ticket):
        self.cuda, self.macros, self.ticket = cuda, macros, ticket
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        must(cuda.cuModuleLoad(ctypes.byref(module), os.path.join(folder, code_name(macros)).encode()), "cuModuleLoad")
        must(cuda.cuModuleGetFunction(ctypes.byref(self.function), module, b"product"), "cuModuleGetFunction")
        must(cuda.cuFuncSetAttribute(self.function, 8, LDS), "cuFuncSetAttribute")

    def map(self, t, box):
        dim, stride = (ctypes.c_uint64 * 2)(t.shape[1], t.shape[0]), (ctypes.c_uint64 * 1)(t.stride(0) * 2)
        shape, step, raw = (ctypes.c_uint32 * 2)(64, box), (ctypes.c_uint32 * 2)(1, 1), ctypes.create_string_buffer(192)
        at = (ctypes.addressof(raw) + 63) & ~63
        must(self.cuda.cuTensorMapEncodeTiled(ctypes.c_void_p(at), 1, 2, ctypes.c_void_p(t.data_ptr()), dim, stride, shape, step, 0, 3, 2, 0), "map")
        return ctypes.string_at(at, 128)

    def prepare(self, a, b, c):
        """A function that launches it on the current stream."""
        import torch
        wide, cluster, beside, across = (self.macros.get(k, v) for k, v in (("WIDE", 256), ("CLUSTER", 2), ("BESIDE", 0), ("ACROSS", 0)))
        share_a, share_b = (cluster, 1) if beside else (1, cluster)
        maps = self.map(a, 128 // share_a) + self.map(b, 64 if across else wide // share_b) + self.map(c, 64)
        raw = ctypes.create_string_buffer(384 + 64)
        at = (ctypes.addressof(raw) + 63) & ~63
        ctypes.memmove(at, maps, 384)
        call = Call((ctypes.c_int64 * 3)(*c.shape, a.shape[1]), self.ticket.data_ptr())
        tasks = -(-c.shape[0] // (128 * share_b)) * -(-c.shape[1] // (wide * share_a))
        groups = min(tasks, torch.cuda.get_device_properties(0).multi_processor_count // cluster) * cluster
        attribute = Attribute(6, 0, 1)
        config = Launch((ctypes.c_uint * 3)(groups, 1, 1), (ctypes.c_uint * 3)(384, 1, 1), LDS, None, ctypes.pointer(attribute), 1)
        arguments = (ctypes.c_void_p * 2)(ctypes.addressof(call), at)

        def go(keep=(raw, call, attribute)):
            config.stream = torch.cuda.current_stream().cuda_stream
            must(self.cuda.cuLaunchKernelEx(ctypes.byref(config), self.function, arguments, None), "cuLaunchKernelEx")
        return go


def measure(cuda, mesh, folder, shape, across, ticket):
    import run, torch
    m, n, k = shape
    sets = 1 + int(2 * run.L2 / (2 * (m * k + n * k)))
    a = [run.normal(m, k) for _ in range(sets)]
    b = [run.normal(k, n) if across else run.normal(n, k) for _ in range(sets)]
    c, want = (torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16) for _ in range(2))
    text = mesh.program(os.path.join(folder, shape_name(*shape), "libgemm_" + ("nn" if across else "tn") + ".so"), "gemm_" + ("nn" if across else "tn"))
    text(a[0], b[0], want)
    peers, wrong = {"cublas": lambda i: torch.mm(a[i % sets], b[i % sets] if across else b[i % sets].t(), out=c)}, []
    for name, macros in variants_of(shape, across).items():
        v = Variant(cuda, folder, macros, ticket)
        calls = [v.prepare(a[i], b[i], c) for i in range(sets)]
        c.fill_(float("nan"))
        calls[0]()
        torch.cuda.synchronize()
        if run.error_of(c, want.float()) > 1e-3 or not torch.isfinite(c).all():
            wrong.append(name)
        peers[name] = lambda i, calls=calls: calls[i % sets]()
    calls = sets * max(1, round(4e-3 / (m * n * k * 3e-15) / sets))
    ours, others = run.side_by_side(lambda i: text(a[i % sets], b[i % sets], c), peers, min(calls, 60 * sets))
    for name, us in {"schedule": ours, **others}.items():
        yield {"work": "product in roles", "shape": shape_name(*shape), "layout": "nn" if across else "tn", "kernel": name, "us": round(us, 2),
               "tflops": round(2 * m * n * k / us / 1e6, 1), "of_schedule": round(ours / us, 4), "right": name not in wrong}


def main():
    if sys.argv[1:2] == ["build"]:
        return build(*sys.argv[2:])
    options = argparse.ArgumentParser()
    options.add_argument("folder")
    options.add_argument("-o", dest="output")
    options.add_argument("--commit", default="")
    options = options.parse_args()
    sys.path.append(HERE)
    import run, torch
    mesh, cuda = run.Mesh(options.folder), ctypes.CDLL("libcuda.so.1")
    ticket = torch.zeros(1, dtype=torch.int64, device="cuda")
    about = {"gpu": torch.cuda.get_device_name(), "command": "bench/gpu/roles.py FOLDER", "commit": options.commit, "date": datetime.date.today().isoformat()}
    for shape, across in rows():
        for row in measure(cuda, mesh, options.folder, shape, across, ticket):
            print(f"{row['shape']:16} {row['layout']} {row['kernel']:28} {row['us']:9.2f} us {row['tflops']:7.1f} {row['of_schedule']:.4f}{'' if row['right'] else ' WRONG'}", flush=True)
            if options.output:
                with open(options.output, "a", encoding="utf-8") as file:
                    file.write(json.dumps(row | about) + "\n")


if __name__ == "__main__":
    main()
