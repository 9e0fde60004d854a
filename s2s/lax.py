"""The primitives, loops and branches under JAX's names, for NumPy arrays and traced values.

The functions of the primitives do not broadcast, save for rank-0 operands of elementwise functions,
and convert element types only for Python scalars, which take that of the other operand.
"""

from __future__ import annotations

from s2s.control.associative import associative_scan as associative_scan
from s2s.control.branches import cond as cond, switch as switch
from s2s.control.loops import (
    fori_loop as fori_loop,
    map as map,
    scan as scan,
    while_loop as while_loop,
)
from s2s.control.solves import (
    custom_linear_solve as custom_linear_solve,
    custom_root as custom_root,
)
from s2s.numpy import TracedArray
from s2s.primitives.functions import *  # noqa: F403
from s2s.trace import tracer_type

# A body that NumPy's functions and operators are applied in is traced with arrays that have these.
assert tracer_type == [TracedArray]
