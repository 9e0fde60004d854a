"""The traced counterparts of NumPy's functions, and the traced array.

`COUNTERPARTS` maps NumPy functions, ufuncs and ufunc methods to what is called instead of them
under tracing. What they emit, evaluated, has NumPy's types, and NumPy's values to the last bit.
These are the exceptions:

- Sums of products in another order, to a few units in the last place of the sum of the products'
  magnitudes: `dot`, `inner` and `tensordot` of more than two dimensions, `vdot`, `vecdot`,
  `einsum`, `convolve`, `correlate`. `dot` and `inner` with a number, and `tensordot` over no axes,
  may give a zero the other sign.
- One unit in the last place: `float_power` with the exponent 2, 0.5 or -1, and `power` of two
  numbers where the exponent turns out to be one of these; `mean`, `var` and `std` of 32-bit floats
  over more than 2**24 elements; `/` of Python ints beyond 2**53; `sum`, `prod` and
  `mean` with `initial`, which NumPy may begin with, or `where`: NumPy adds up each run by itself.
- `linalg.norm` without an axis adds in row-major order, NumPy in the order of the memory.
- Eigenvalues of `linalg.eigh` and singular values of `linalg.svd` whose vectors are not used are
  computed without them, and vice versa in derivatives; NumPy's two ways differ in the last bits.
- `linspace` between arrays, where a step is zero or too small to be a normal number.
- `average` with weights that sum to zero gives NaN or infinity, where NumPy raises an error.
- `empty` and `empty_like` give zeros, where NumPy leaves any values.
"""

from __future__ import annotations

from s2s.numpy import (
    convolution as convolution,
    covariance as covariance,
    creation as creation,
    differences as differences,
    distinct as distinct,
    einsum as einsum,
    elementary as elementary,
    histograms as histograms,
    inquiry as inquiry,
    inserting as inserting,
    interpolation as interpolation,
    joining as joining,
    linalg as linalg,
    logical as logical,
    memory_order as memory_order,
    norms as norms,
    places as places,
    polynomials as polynomials,
    refused as refused,
    rounding as rounding,
    sorting as sorting,
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
