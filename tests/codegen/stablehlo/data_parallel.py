"""One of several processes that train a network together, for test_sharded.py.

    data_parallel.py COORDINATOR RANK WORLD

writes the losses of the steps as JSON.
"""

import json
import sys

import numpy as np

import s2s
from s2s.errors import UserError
from s2s_codegen.stablehlo.group import joined
from tests.codegen.stablehlo.test_sharded import losses

coordinator, rank, world = sys.argv[1:]
s2s.distributed.initialize(coordinator, int(world), int(rank))
found = losses(mesh={"data": 4}, in_shardings={"x": "data", "y": "data"})
# A function that is for no mesh runs in each process by itself.
alone = s2s.jit(lambda x: x + 1.0)(np.arange(int(rank) + 2.0))
assert alone.tolist() == list(range(1, int(rank) + 3))
try:
    s2s.jit(lambda x: x, mesh={"data": 8})(np.ones(8))
except UserError as error:
    assert "share 2 devices each since the first mesh was used" in str(error)
else:
    raise AssertionError
group = joined()
assert group is not None and group.world == int(world)
assert "jax" not in sys.modules
print("losses", json.dumps(found))
