"""usage: gpu_arrays.py: programs on arrays of CuPy and PyTorch on a GPU: by DLPack, on other streams, in symmetric memory, in a CUDA
graph, wrong ones. Prints a line for each subject."""
import os
import tempfile

import cupy
import numpy as np
import torch
import tilec

TEXT = "dim N <= 4096, D = 256;\nprogram rows(x: f32[N, D]) -> (y: f32[N, D]) { y = softmax(x); }\n"
f = tilec.load(TEXT)


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


x = cupy.random.default_rng(0).standard_normal((1000, 256), dtype="f4")
y = f(x)
assert isinstance(y, cupy.ndarray) and y.device == x.device
np.testing.assert_allclose(y.get(), softmax(x.get()), rtol=1e-5, atol=1e-7)
print("cupy")
with cupy.cuda.Stream(non_blocking=True):  # what the array is made by has not ended when the call comes
    for _ in range(20):
        big = cupy.random.standard_normal((4096, 256), dtype="f4") * 2
        out = f(big)
        np.testing.assert_allclose(out.get(), softmax(big.get()), rtol=1e-5, atol=1e-7)
print("another stream")
mixed = cupy.empty_like(x)
assert f(torch.from_dlpack(x), out=mixed) is mixed
np.testing.assert_array_equal(mixed.get(), y.get())
print("mixed")
for bad in (x[:, ::2], x.astype("f8"), x.get()):
    try:
        f(x, out=bad)
    except tilec.ArgumentError as e:
        print(e)

from torch import distributed
from torch.distributed import _symmetric_memory as symmetric
with tempfile.TemporaryDirectory() as folder:
    distributed.init_process_group("nccl", init_method="file://" + os.path.join(folder, "meeting"), rank=0, world_size=1)
    torch.cuda.set_device(0)
    a, b = (symmetric.empty((512, 256), dtype=torch.float32, device="cuda") for _ in range(2))
    for t in (a, b):
        symmetric.rendezvous(t, distributed.group.WORLD)
    a.normal_()
    f(a, out=b)
    torch.testing.assert_close(b, a.softmax(1))
    print("symmetric memory")
    distributed.destroy_process_group()

t, s = torch.randn(64, 256, device="cuda"), torch.empty(64, 256, device="cuda")
f(t, out=s)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    f(t, out=s)
t.normal_()
graph.replay()
torch.testing.assert_close(s, t.softmax(1))
print("graph")
