"""The text of a generated module, for any transformed function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import s2s
from s2s.api.tracing import argument_types_of, trace
from s2s.api.transformed import Arguments, Transformed, function_name, signature
from s2s.collector import collector_paused
from s2s.frontend.argument_types.generalise import generalise
from s2s.frontend.options import choices, choosing
from s2s.frontend.traced import Traced
from s2s.ir.assumptions import assumptions
from s2s.ir.jaxpr import ClosedJaxpr
from s2s.passes.pipeline import optimise

if TYPE_CHECKING:
    from s2s_codegen.numpy_source import Description


@dataclass(frozen=True, eq=False)
class GeneratedModule:
    """The text of a module, and what it was made from."""

    text: str
    traced: Traced
    """The transformed function, with the jaxpr as the transformation gave it."""
    closed: ClosedJaxpr
    """The jaxpr that the text was written from."""


@collector_paused()
def generate(
    fun: Callable[..., Any],
    arguments: Arguments,
    name: str | None = None,
    command: Sequence[str] = (),
) -> GeneratedModule:
    """The module of a user's or a transformed function for given argument types.

    Args:
        fun: the function; a user's own gives a module that computes the same.
        arguments: for each parameter by name, a pytree of `ShapedArray` and `Static`.
        name: what the generated function is called; by default `loss_grad` for `grad(loss)`.
        command: the command that makes the module again, word by word, for its docstring.
    """
    from s2s_codegen.numpy_source import render

    traced = trace(fun, arguments)
    closed = optimise(traced.closed)
    return GeneratedModule(render(describe(fun, traced, name, command), closed), traced, closed)


def describe(
    fun: Callable[..., Any], traced: Traced, name: str | None, command: Sequence[str]
) -> Description:
    """What a generated module says about its function."""
    from s2s_codegen.numpy_source import Description

    if isinstance(fun, Transformed):
        summary = fun.describe(traced)
    else:
        summary = f"`{function_name(fun)}`, traced."
    function = traced.function
    users = fun
    while isinstance(users, Transformed):
        users = users.fun
    own = signature(users).parameters
    return Description(
        name=name or function_name(fun),
        parameters=traced.parameters,
        result=traced.result,
        summary=summary,
        function=function.name,
        file=function.file,
        doc=function.doc,
        command=tuple(command),
        version=s2s.__version__,
        minimum={**traced.minimum, **assumptions().minimum},
        left=traced.left,
        in_order=traced.in_order,
        added=tuple(p.name for p in traced.parameters if p.name not in own),
        changes=function.changes,
        notes={change.parameter: _note(traced, change.parameter) for change in function.changes},
    )


def _note(traced: Traced, parameter: str) -> str:
    """What is said of a parameter that the user's function changes."""
    name = traced.function.name
    if any(left.parameter == parameter for left in traced.left):
        return f"changed as `{name}` changes it"
    return f"left as it is, though `{name}` changes it"


def source(fun: Callable[..., Any], *args: Any, keep_mutation: bool = False, **kwargs: Any) -> str:
    """The text of the standalone module that s2s writes for a function.

    Args:
        fun: a transformed function such as `grad(loss)`, or a user's own.
        args, kwargs: an example of its arguments. Their sizes are generalised: the module works
            for all sizes of the axes that the function does not need to be of one size.
        keep_mutation: whether the module's function changes those arguments that the user's
            function changes, as it does; by default no argument is written to.

    Returns:
        A Python module, as `s2s grad ... -o` writes it.
    """
    arguments, _ = argument_types_of(signature(fun), args, kwargs)
    with choosing(replace(choices(), keep_mutation=keep_mutation)):
        return generalise(arguments, arguments, lambda types: generate(fun, types).text)
