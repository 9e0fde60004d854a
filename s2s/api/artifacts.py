"""Functions as StableHLO: `stablehlo` makes an artifact, `load_artifact` reads one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import s2s
from s2s.api.generation import GeneratedModule, describe
from s2s.api.tracing import argument_types_of, optimised_for_xla, trace
from s2s.api.transformed import Arguments, function_name, signature
from s2s.collector import collector_paused
from s2s.ir.assumptions import assumptions

if TYPE_CHECKING:
    from s2s_codegen.stablehlo.artifact import Artifact
    from s2s_codegen.stablehlo.mesh import Mesh, Partition


def stablehlo(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Artifact:
    """A function as StableHLO, for arguments of the types of the given ones.

    Args:
        fun: a user's or a transformed function, such as `grad(loss)`.
        args, kwargs: its arguments, by example or as `ShapedArray`. The sizes of examples are
            fixed; named dimensions of a `ShapedArray` stay open. Arrays, NumPy scalars and floats
            are inputs of the artifact; integers, strings and other objects are fixed.

    Returns:
        An `Artifact`, with `text`, `save(path)` and `compile()`.
    """
    types, _ = argument_types_of(signature(fun), args, kwargs)
    return make_artifact(fun, types)


@collector_paused()
def make_artifact(
    fun: Callable[..., Any],
    arguments: Arguments,
    name: str | None = None,
    command: Sequence[str] = (),
    dims: Mapping[str, int] | None = None,
    mesh: Mesh | None = None,
    divisions: Mapping[str, Partition] | None = None,
) -> Artifact:
    """The artifact of a function for given argument types.

    Args:
        fun, arguments, name, command: as in `s2s.api.generation.generate`.
        dims: sizes of named dimensions, which are then fixed.
        mesh: the devices over which it is to run, if they are several.
        divisions: how arguments are divided over them; see `s2s_codegen.stablehlo.mesh`.
    """
    from s2s_codegen.stablehlo.artifact import artifact
    from s2s_codegen.stablehlo.compile import is_unbounded
    from s2s_codegen.stablehlo.mesh import sharding_of
    from s2s_codegen.stablehlo.signature import signature_of, with_sizes

    fixed = {key: with_sizes(argument, dims or {}) for key, argument in arguments.items()}
    traced = trace(fun, fixed)
    closed = optimised_for_xla(traced)
    minimum = {**traced.minimum, **assumptions().minimum}
    traced = dataclasses.replace(
        traced, minimum={key: least for key, least in minimum.items() if key not in (dims or {})}
    )
    sharding = sharding_of(mesh, divisions or {}, traced.parameters) if mesh else None
    described = signature_of(traced, name or function_name(fun), command, s2s.__version__, sharding)
    return artifact(closed, described, unbounded=is_unbounded(closed))


@collector_paused()
def generate_for_xla(
    fun: Callable[..., Any],
    arguments: Arguments,
    name: str | None = None,
    command: Sequence[str] = (),
    dims: Mapping[str, int] | None = None,
) -> GeneratedModule:
    """A Python module that holds a function as StableHLO and runs it with jaxlib alone.

    Args:
        fun, arguments, name, command: as in `s2s.api.generation.generate`.
        dims: sizes of named dimensions, which are then fixed. For those that stay open, the module
            is made for given sizes when its function is first called with them.
    """
    from s2s_codegen.stablehlo.python_module import render
    from s2s_codegen.stablehlo.signature import with_sizes

    fixed = {key: with_sizes(argument, dims or {}) for key, argument in arguments.items()}
    traced = trace(fun, fixed)
    closed = optimised_for_xla(traced)
    text = render(describe(fun, traced, name, command), closed)
    return GeneratedModule(text, traced, closed)


def load_artifact(path: str | Path) -> Artifact:
    """The artifact in a file, which need not be trusted: it is checked, and runs nothing but XLA's
    own operations.

    Raises:
        UserError: if the file is no artifact, is damaged, or calls code outside of itself.
    """
    from s2s_codegen.stablehlo.artifact import load_artifact

    return load_artifact(path)
