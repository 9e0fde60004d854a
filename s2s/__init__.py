"""s2s: a source-to-source transformation compiler for numerical Python.

    s2s.grad(loss)(w, x)                  the gradient, by generated NumPy code
    s2s.source(s2s.grad(loss), w, x)      the text of that code: a standalone module
    s2s.vmap(s2s.grad(loss), (None, 0))   any composition of transformations

The names are those of `s2s.api`, loaded when first used so that `import s2s` is fast.
"""

import importlib
from typing import TYPE_CHECKING, Any

from s2s.collector import collector_paused

__version__ = "0.1.0"

if TYPE_CHECKING:
    from s2s.api import (
        ShapedArray as ShapedArray,
        SymbolicZero as SymbolicZero,
        checkpoint as checkpoint,
        checkpoint_name as checkpoint_name,
        checkpoint_policies as checkpoint_policies,
        closure_convert as closure_convert,
        custom_jvp as custom_jvp,
        custom_vjp as custom_vjp,
        distributed as distributed,
        eval_shape as eval_shape,
        grad as grad,
        hessian as hessian,
        jacfwd as jacfwd,
        jacrev as jacrev,
        jit as jit,
        jvp as jvp,
        linear_transpose as linear_transpose,
        linearize as linearize,
        load as load,
        load_artifact as load_artifact,
        make_jaxpr as make_jaxpr,
        parse_jaxpr as parse_jaxpr,
        remat as remat,
        source as source,
        stablehlo as stablehlo,
        stop_gradient as stop_gradient,
        unroll as unroll,
        value_and_grad as value_and_grad,
        vjp as vjp,
        vmap as vmap,
    )

_API = (
    "ShapedArray",
    "SymbolicZero",
    "checkpoint",
    "checkpoint_name",
    "checkpoint_policies",
    "closure_convert",
    "custom_jvp",
    "custom_vjp",
    "distributed",
    "eval_shape",
    "grad",
    "hessian",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "linear_transpose",
    "linearize",
    "load",
    "load_artifact",
    "make_jaxpr",
    "parse_jaxpr",
    "remat",
    "source",
    "stablehlo",
    "stop_gradient",
    "unroll",
    "value_and_grad",
    "vjp",
    "vmap",
)


def __getattr__(name: str) -> Any:
    if name in _API:
        with collector_paused():
            return getattr(importlib.import_module("s2s.api"), name)
    raise AttributeError(f"module 's2s' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_API])
