"""The primitives as functions, under JAX's names, for NumPy arrays and traced values.

They do not broadcast, save for rank-0 operands of elementwise functions, and convert element types
only for Python scalars, which take that of the other operand. `s2s.numpy` is the surface with
NumPy's rules, and `s2s.lax` has these functions beside those of control flow.
"""

from __future__ import annotations

from s2s.ir.dtypes import INT64
from s2s.primitives.arithmetic import (
    abs as abs,
    add as add,
    ceil as ceil,
    clamp as clamp,
    copysign as copysign,
    div as div,
    floor as floor,
    floor_divide as floor_divide,
    max as max,
    min as min,
    mul as mul,
    neg as neg,
    nextafter as nextafter,
    python_max as python_max,
    python_min as python_min,
    rem as rem,
    remainder as remainder,
    round as round,
    sign as sign,
    sub as sub,
    trunc as trunc,
)
from s2s.primitives.contractions import dot_general as dot_general
from s2s.primitives.core import (
    broadcast_in_dim as broadcast_in_dim,
    convert_element_type as convert_element_type,
    full as full,
    reduce_sum as reduce_sum,
    reshape as reshape,
    transpose as transpose,
)
from s2s.primitives.creation import (
    broadcasted_iota as broadcasted_iota,
    dim_as_value as dim_as_value,
    iota as iota,
)
from s2s.primitives.cumulative import (
    cummax as cummax,
    cummin as cummin,
    cumprod as cumprod,
    cumsum as cumsum,
)
from s2s.primitives.decompositions import (
    cholesky as cholesky,
    eigh as eigh,
    qr as qr,
    svd as svd,
)
from s2s.primitives.determinants import det as det, slogdet as slogdet
from s2s.primitives.dynamic import (
    dynamic_slice as dynamic_slice,
    dynamic_update_slice as dynamic_update_slice,
)
from s2s.primitives.families import add_any as add_any
from s2s.primitives.identity import copy as copy, stop_gradient as stop_gradient
from s2s.primitives.index_layout import (
    GatherDimensionNumbers as GatherDimensionNumbers,
    GatherScatterMode as GatherScatterMode,
    ScatterDimensionNumbers as ScatterDimensionNumbers,
)
from s2s.primitives.indexing import (
    gather as gather,
    put_at as put_at,
    scatter as scatter,
    scatter_add as scatter_add,
    take_at as take_at,
)
from s2s.primitives.inverses import (
    inv as inv,
    solve as solve,
    triangular_solve as triangular_solve,
)
from s2s.primitives.joining import concatenate as concatenate, stack as stack
from s2s.primitives.layout import (
    expand_dims as expand_dims,
    index_in_dim as index_in_dim,
    pad as pad,
    rev as rev,
    slice as slice,
    squeeze as squeeze,
)
from s2s.primitives.logic import (
    bitwise_and as bitwise_and,
    bitwise_not as bitwise_not,
    bitwise_or as bitwise_or,
    bitwise_xor as bitwise_xor,
    eq as eq,
    ge as ge,
    gt as gt,
    is_finite as is_finite,
    isinf as isinf,
    isnan as isnan,
    le as le,
    lt as lt,
    ne as ne,
    select_n as select_n,
    shift_left as shift_left,
    shift_right_arithmetic as shift_right_arithmetic,
    signbit as signbit,
)
from s2s.primitives.order_statistics import median as median, quantile as quantile
from s2s.primitives.powers import (
    cbrt as cbrt,
    exp as exp,
    exp2 as exp2,
    expm1 as expm1,
    hypot as hypot,
    integer_pow as integer_pow,
    log as log,
    log1p as log1p,
    log2 as log2,
    log10 as log10,
    logaddexp as logaddexp,
    logaddexp2 as logaddexp2,
    pow as pow,
    reciprocal as reciprocal,
    rsqrt as rsqrt,
    sqrt as sqrt,
    square as square,
)
from s2s.primitives.pseudo_inverses import lstsq as lstsq, pinv as pinv
from s2s.primitives.reductions import (
    argmax as argmax,
    argmin as argmin,
    reduce_and as reduce_and,
    reduce_max as reduce_max,
    reduce_min as reduce_min,
    reduce_or as reduce_or,
    reduce_prod as reduce_prod,
)
from s2s.primitives.sorting import (
    argpartition as argpartition,
    argsort as argsort,
    lexsort as lexsort,
    partition as partition,
    searchsorted as searchsorted,
    sort as sort,
)
from s2s.primitives.spacing import linspace as linspace
from s2s.primitives.special import (
    digamma as digamma,
    erf as erf,
    erf_inv as erf_inv,
    erfc as erfc,
    lgamma as lgamma,
    logistic as logistic,
    polygamma as polygamma,
)
from s2s.primitives.triangles import tril as tril, triu as triu
from s2s.primitives.trigonometric import (
    acos as acos,
    acosh as acosh,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    cos as cos,
    cosh as cosh,
    sin as sin,
    sinh as sinh,
    tan as tan,
    tanh as tanh,
)
from s2s.primitives.updates import update_slice as update_slice

INDEX = INT64
"""The element type of computed positions."""
