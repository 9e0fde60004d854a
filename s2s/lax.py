"""The primitives under JAX's names, for NumPy arrays and traced values.

These functions do not broadcast, save for rank-0 operands of elementwise functions, and convert
element types only for Python scalars, which take that of the other operand. `s2s.numpy` is the
surface with NumPy's rules.
"""

from __future__ import annotations

from s2s.primitives.arithmetic import (
    abs as abs,
    add as add,
    div as div,
    max as max,
    min as min,
    mul as mul,
    neg as neg,
    sign as sign,
    sub as sub,
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
from s2s.primitives.creation import dim_as_value as dim_as_value, iota as iota
from s2s.primitives.families import add_any as add_any
from s2s.primitives.identity import copy as copy, stop_gradient as stop_gradient
from s2s.primitives.layout import (
    concatenate as concatenate,
    expand_dims as expand_dims,
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
from s2s.primitives.powers import (
    exp as exp,
    integer_pow as integer_pow,
    log as log,
    pow as pow,
    sqrt as sqrt,
)
from s2s.primitives.reductions import (
    cumprod as cumprod,
    cumsum as cumsum,
    reduce_max as reduce_max,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
)
from s2s.primitives.special import erf as erf
from s2s.primitives.trigonometric import cos as cos, sin as sin, tanh as tanh
