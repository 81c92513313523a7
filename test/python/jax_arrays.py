"""usage: jax_arrays.py: programs on arrays of JAX on the host. Prints a line for each subject."""
import jax
import jax.numpy as jnp
import numpy as np

import tilec

TEXT = "dim N <= 64, D = 8;\nprogram rows(x: {0}[N, D]) -> (y: {0}[N, D]) {{ y = softmax(x); }}\n"
f = tilec.load(TEXT.format("f32"))
for n in (0, 1, 9):
    x = jax.random.normal(jax.random.key(n), (n, 8))
    y = f(x)
    assert isinstance(y, jax.Array) and y.shape == x.shape
    np.testing.assert_allclose(y, jax.nn.softmax(x, axis=1), rtol=1e-5)
h = tilec.load(TEXT.format("bf16"))(x.astype(jnp.bfloat16))
assert h.dtype == jnp.bfloat16
np.testing.assert_allclose(h.astype("f4"), jax.nn.softmax(x, axis=1), rtol=2e-2)
f.check(x)
print("functions")
try:
    f(x, out=y)
except tilec.ArgumentError as e:
    print(e)
