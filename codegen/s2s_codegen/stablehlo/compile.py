"""From a jaxpr to a function of NumPy arrays that XLA has compiled."""

from __future__ import annotations

from s2s.control.while_loop import While
from s2s.ir.jaxpr import ClosedJaxpr, Jaxpr, Literal, ShapedArray
from s2s_codegen.stablehlo.cache import compiled
from s2s_codegen.stablehlo.emit import emit_module
from s2s_codegen.stablehlo.executable import Compiled, Executable
from s2s_codegen.stablehlo.mesh import Sharding
from s2s_codegen.stablehlo.runtime import ArrayType, runtime
from s2s_codegen.stablehlo.sharded import mesh_devices


def compile_jaxpr(
    closed: ClosedJaxpr, name: str, platform: str | None = None, sharding: Sharding | None = None
) -> Compiled:
    """The jaxpr as a function of arrays, compiled for one device or those of a mesh.

    All sizes must be fixed, and the jaxpr finished (`s2s.passes.pipeline.optimise`).
    """
    distinct, places = _distinct_results(closed)
    text = emit_module(distinct, name, sharding=sharding)
    devices = runtime(platform) if sharding is None else mesh_devices(sharding, platform)
    loaded, stored = compiled(devices, text)
    executable = Executable(
        devices,
        loaded,
        [array_type(aval) for aval in closed.in_avals],
        [array_type(aval) for aval in distinct.out_avals],
        unbounded=is_unbounded(closed),
    )
    return Compiled(executable, places, stored)


def array_type(aval: ShapedArray) -> ArrayType:
    """A type without named dimensions, as the runtime has it."""
    return ArrayType(tuple(map(int, aval.shape)), aval.dtype)


def is_unbounded(closed: ClosedJaxpr) -> bool:
    """Whether there is a loop of which the number of steps depends on values."""
    return any(
        isinstance(eqn.primitive, While) or any(map(is_unbounded, eqn.primitive.jaxprs))
        for eqn in closed.eqns
    )


def _distinct_results(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, list[int]]:
    """The jaxpr with each result once, and where each of the results is then.

    XLA copies a value for each time that it is returned, each copy on a thread of its own.
    """
    jaxpr = closed.jaxpr
    keys = [atom.key() if isinstance(atom, Literal) else atom for atom in jaxpr.outvars]
    first = {key: atom for key, atom in reversed(list(zip(keys, jaxpr.outvars, strict=True)))}
    order = list(dict.fromkeys(keys))
    if len(order) == len(keys):
        return closed, list(range(len(keys)))
    outvars = [first[key] for key in order]
    distinct = Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.eqns, outvars)
    return ClosedJaxpr(distinct, closed.consts), [order.index(key) for key in keys]
