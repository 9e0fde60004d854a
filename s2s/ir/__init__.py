"""The intermediate representation: JAX's jaxpr language, with symbolic dimensions."""

from s2s.ir.check import check as check
from s2s.ir.dims import Dim as Dim, Shape as Shape, Size as Size, same_shape as same_shape
from s2s.ir.dtypes import DType as DType
from s2s.ir.jaxpr import (
    Atom as Atom,
    ClosedJaxpr as ClosedJaxpr,
    Jaxpr as Jaxpr,
    JaxprEqn as JaxprEqn,
    Literal as Literal,
    Phase as Phase,
    ShapedArray as ShapedArray,
    Source as Source,
    Var as Var,
    aval_of as aval_of,
)
