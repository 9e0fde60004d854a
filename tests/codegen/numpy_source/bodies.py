"""What the tests of the generator share: small jaxprs and the statements written for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2s.ir.dims import dimension
from s2s.ir.jaxpr import ClosedJaxpr, Phase, ShapedArray, Source
from s2s.trace import Tracer, builder_in_force, make, named, phase
from s2s_codegen.numpy_source.format import format_statements
from s2s_codegen.numpy_source.module import name_sizes
from s2s_codegen.numpy_source.name import Names
from s2s_codegen.numpy_source.schedule import Lines
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.write import Writer

FLOAT = ShapedArray((), np.dtype(np.float64), weak_type=True)
"""The type of a Python float."""


def f64(*shape: int | str) -> ShapedArray:
    """The type of a float64 array; a size that is a string is a named dimension."""
    sizes = tuple(dimension(size) if isinstance(size, str) else size for size in shape)
    return ShapedArray(sizes, np.dtype(np.float64))


def jaxpr(
    fun: Callable[..., Any],
    *avals: ShapedArray,
    names: str = "x y z w",
    in_phase: Phase = "primal",
) -> ClosedJaxpr:
    """The jaxpr of a function of one result, or of a list of results."""

    def flat(*args: Any) -> Sequence[Any]:
        with phase(in_phase):
            result = fun(*args)
        return result if isinstance(result, list) else [result]

    return make(flat, avals, names.split()[: len(avals)])


def at(line: int, text: str, caller: Source | None = None) -> None:
    """What is built next comes from this line of the user's."""
    builder = builder_in_force()
    assert builder is not None
    builder.source = Source("model.py", line, text, caller)


def called(name: str, value: Any) -> Any:
    """The value, called `name` by the user."""
    assert isinstance(value, Tracer)
    return named(value, name)


def body(closed: ClosedJaxpr) -> list[str]:
    """The statements for a jaxpr, and the return statement."""
    names = Names()
    for var in closed.jaxpr.invars:
        assert var.name is not None
        names.hold(var, var.name)
    writer = Writer(
        closed.jaxpr, Scope(names, name_sizes(closed.jaxpr, names), Lines(closed.jaxpr))
    )
    lines = list(format_statements(writer.write(), 0))
    return [*lines, f"return {', '.join(writer.result_texts())}"]


def expression(fun: Callable[..., Any], *avals: ShapedArray, **options: Any) -> str:
    """The expression of a function of one equation or a few, which is one statement."""
    lines = [line for line in body(jaxpr(fun, *avals, **options)) if not line.startswith("#")]
    statement, result = lines
    name = result.removeprefix("return ").removesuffix(".copy()")
    return statement.removeprefix(f"{name} = ")
