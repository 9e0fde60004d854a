"""The Python API: transformations of functions, with JAX's names and signatures."""

from s2s.api import distributed as distributed
from s2s.api.artifacts import load_artifact as load_artifact, stablehlo as stablehlo
from s2s.api.batching import vmap as vmap
from s2s.api.compilation import jit as jit
from s2s.api.derivatives import grad as grad, value_and_grad as value_and_grad
from s2s.api.inspection import eval_shape as eval_shape, make_jaxpr as make_jaxpr
from s2s.api.jacobians import hessian as hessian, jacfwd as jacfwd, jacrev as jacrev
from s2s.api.pullbacks import (
    jvp as jvp,
    linear_transpose as linear_transpose,
    linearize as linearize,
    vjp as vjp,
)
from s2s.api.source import source as source
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
