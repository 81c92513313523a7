"""See bounds.tile: the value of m, the result."""
import sys

import numpy as np

m, y = int(sys.argv[1]), np.load(sys.argv[2])
want = [max(0, sum(j if j <= i else 1 for j in range(m - 6, m))) for i in range(17)]
assert np.array_equal(y, want), (y, want)
