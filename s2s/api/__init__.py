"""The Python API: transformations of functions, with JAX's names and signatures.

Each name is loaded when it is first used, so that a compiled function is there soon.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from s2s.api import distributed as distributed
    from s2s.api.artifacts import load_artifact as load_artifact, stablehlo as stablehlo
    from s2s.api.batching import vmap as vmap
    from s2s.api.compilation import jit as jit
    from s2s.api.derivatives import grad as grad, value_and_grad as value_and_grad
    from s2s.api.generation import source as source
    from s2s.api.inspection import eval_shape as eval_shape, make_jaxpr as make_jaxpr
    from s2s.api.jacobians import hessian as hessian, jacfwd as jacfwd, jacrev as jacrev
    from s2s.api.pullbacks import (
        jvp as jvp,
        linear_transpose as linear_transpose,
        linearize as linearize,
        vjp as vjp,
    )
    from s2s.control import policies
    from s2s.control.applications import SymbolicZero as SymbolicZero
    from s2s.control.checkpoint import (
        checkpoint as checkpoint,
        checkpoint_name as checkpoint_name,
        remat as remat,
    )
    from s2s.control.custom_rules import custom_jvp as custom_jvp, custom_vjp as custom_vjp
    from s2s.control.solves import closure_convert as closure_convert
    from s2s.frontend.control_flow.loops import unroll as unroll
    from s2s.frontend.load import load as load
    from s2s.ir.jaxpr import ShapedArray as ShapedArray
    from s2s.language import parse_jaxpr as parse_jaxpr
    from s2s.primitives.identity import stop_gradient as stop_gradient

    checkpoint_policies = policies

_PLACES = {
    "load_artifact": "s2s.api.artifacts",
    "stablehlo": "s2s.api.artifacts",
    "vmap": "s2s.api.batching",
    "jit": "s2s.api.compilation",
    "grad": "s2s.api.derivatives",
    "value_and_grad": "s2s.api.derivatives",
    "eval_shape": "s2s.api.inspection",
    "make_jaxpr": "s2s.api.inspection",
    "hessian": "s2s.api.jacobians",
    "jacfwd": "s2s.api.jacobians",
    "jacrev": "s2s.api.jacobians",
    "jvp": "s2s.api.pullbacks",
    "linear_transpose": "s2s.api.pullbacks",
    "linearize": "s2s.api.pullbacks",
    "vjp": "s2s.api.pullbacks",
    "source": "s2s.api.generation",
    "SymbolicZero": "s2s.control.applications",
    "checkpoint": "s2s.control.checkpoint",
    "checkpoint_name": "s2s.control.checkpoint",
    "remat": "s2s.control.checkpoint",
    "custom_jvp": "s2s.control.custom_rules",
    "custom_vjp": "s2s.control.custom_rules",
    "closure_convert": "s2s.control.solves",
    "unroll": "s2s.frontend.control_flow.loops",
    "load": "s2s.frontend.load",
    "ShapedArray": "s2s.ir.jaxpr",
    "parse_jaxpr": "s2s.language",
    "stop_gradient": "s2s.primitives.identity",
}
_LIGHT = frozenset(
    {"distributed", "grad", "hessian", "jacfwd", "jacrev", "jit", "load_artifact"}
    | {"value_and_grad", "vmap"}
)
"""What is of use before anything is traced. All else needs the rooms in which functions are."""

_MODULES = {"checkpoint_policies": "s2s.control.policies", "distributed": "s2s.api.distributed"}


def __getattr__(name: str) -> Any:
    if name not in _LIGHT and (name in _PLACES or name in _MODULES):
        importlib.import_module("s2s.api.tracing")
    if name in _PLACES:
        found = getattr(importlib.import_module(_PLACES[name]), name)
    elif name in _MODULES:
        found = importlib.import_module(_MODULES[name])
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_PLACES, *_MODULES])
