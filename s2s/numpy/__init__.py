"""The traced counterparts of NumPy's functions, and the traced array.

`COUNTERPARTS` maps NumPy functions, ufuncs and ufunc methods to what is called instead of them
under tracing.
"""

from __future__ import annotations

from s2s.numpy import (
    convolution as convolution,
    creation as creation,
    differences as differences,
    einsum as einsum,
    elementary as elementary,
    inquiry as inquiry,
    interpolation as interpolation,
    joining as joining,
    logical as logical,
    refused as refused,
    rounding as rounding,
    statistics as statistics,
    ufunc_methods as ufunc_methods,
    writing as writing,
)
from s2s.numpy.array import TracedArray as TracedArray
from s2s.numpy.indexing import getitem as getitem
from s2s.numpy.registry import (
    COUNTERPARTS as COUNTERPARTS,
    CREATION as CREATION,
    REFUSED as REFUSED,
    mistake as mistake,
)
