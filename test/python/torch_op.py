"""usage: torch_op.py: programs on tensors of PyTorch on the host, as functions and as operators. Prints a line for each."""
import torch

import tilec

TEXT = """
dim N <= 4096, D = 24;
kernel soft(x: f32[n, d], s: f32) -> (y: f32[n, d]) {
  each i: 1 of n, j: * of d {
    e: f32[i, j] = exp(x[i, j] * s - max(x[i, j] * s, j));
    y[i, j] = e / sum(e, j);
  }
}
kernel back(y: f32[n, d], g: f32[n, d], s: f32) -> (x: f32[n, d]) {
  each i: 1 of n, j: * of d {
    t: f32[i] = sum(y[i, j] * g[i, j], j);
    x[i, j] = y[i, j] * (g[i, j] - t) * s;
  }
}
kernel add(x: f32[n, d], y: f32[n, d]) -> (z: f32[n, d]) { each i: 1 of n, j: 8 of d { z[i, j] = x[i, j] + y[i, j]; } }
program forward(x: f32[N, D], s: f32) -> (y: f32[N, D]) { y = soft(x, s); }
program backward(y: f32[N, D], grad_y: f32[N, D], s: f32) -> (grad_x: f32[N, D]) { grad_x = back(y, grad_y, s); }
program sums(x: f32[N, D], state h: f32[N, D]) -> (y: f32[N, D]) { h = add(h, x); y = add(h, x); }
program half(x: bf16[N, D]) -> (y: bf16[N, D]) { y = softmax(x); }
"""
torch.manual_seed(1)
forward, backward, sums, half = (tilec.load(TEXT, name) for name in ("forward", "backward", "sums", "half"))
near = torch.testing.assert_close

x = torch.randn(5, 24)
near(forward(x, 2.0), (x * 2).softmax(1))
y = torch.empty_like(x)
assert forward(x, 1, out=y) is y
near(y, x.softmax(1))
b = x.bfloat16()
near(half(b), b.float().softmax(1).bfloat16())
half.check(b)
half.check(b, reference=lambda v: b.float().softmax(1).numpy())
print("functions")

for what, call in (("gradient", lambda: forward(x.clone().requires_grad_(), 1.0)), ("strides", lambda: forward(x.t(), 1.0)),
                   ("sparse", lambda: forward(x.to_sparse(), 1.0)), ("device", lambda: forward(x.to("meta"), 1.0))):
    try:
        call()
        print(what, "nothing")
    except tilec.ArgumentError as e:
        print(what, str(e).splitlines()[0])
freed = x.clone()
freed.untyped_storage().resize_(0)
try:
    forward(freed, 1.0)
except tilec.RunError as e:
    print("freed", e)

op = tilec.torch_op(forward, backward=backward)
assert op is tilec.torch_op(forward, backward=backward)


def gradients(f, n):
    """Those of f and of PyTorch, of random weights."""
    p, w = torch.randn(n, 24, requires_grad=True), torch.randn(n, 24)
    near(*(torch.autograd.grad((g(p) * w).sum(), p)[0] for g in (f, lambda v: (v * 1.5).softmax(1))), rtol=1e-4, atol=1e-5)


gradients(lambda v: op(v, 1.5), 7)
torch.library.opcheck(op, (x.requires_grad_(), 1.5))
print("gradients")

state = tilec.torch_op(sums)
h = torch.zeros(3, 24)
state(torch.ones(3, 24), h)
near(state(torch.ones(3, 24), h), torch.full((3, 24), 3.0))
torch.library.opcheck(state, (torch.ones(3, 24), h))
print("states")

compiled = torch.compile(lambda v: op(v * 1.0, 1.5), fullgraph=True, backend="aot_eager", dynamic=True)
for n in (5, 7, 64):
    gradients(compiled, n)
print("compiled")
try:
    tilec.torch_op(forward, backward=sums)
except tilec.ArgumentError as e:
    print(e)
