"""From a user's function and the types of its arguments to a traced call.

trace_call(f, {"x": f64[n], "k": Static(2)})  ->  { lambda ; a:f64[n]. let ... in (...) }
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import inspect
import itertools
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from s2s import lax
from s2s.control import user_functions
from s2s.errors import UserError
from s2s.frontend import (
    builtin_functions,
    dispatch,
    functions_of_parts,
    leaks,
    math_functions,
)
from s2s.frontend.argument_types.types import ArgumentType, Static
from s2s.frontend.callables import innermost_function, short_name, signature_of
from s2s.frontend.control_flow.facts import supposing
from s2s.frontend.control_flow.identity import pairs_of_a_trace
from s2s.frontend.control_flow.perhaps_none import all_given
from s2s.frontend.control_flow.stacked import with_lists
from s2s.frontend.control_flow.state import reasons
from s2s.frontend.left import changes_of
from s2s.frontend.located import located
from s2s.frontend.options import choices
from s2s.frontend.own_arrays import OwnArrays, TraceAgain, own_arrays
from s2s.frontend.randomness import Generators
from s2s.frontend.sources import lines_of, shown_path
from s2s.frontend.traced import (
    NO_DEFAULT,
    FunctionInfo,
    InOrder,
    Left,
    Parameter,
    Traced,
    fill,
    full_leaf_names,
    leaf_names,
)
from s2s.ir.assumptions import DEFAULT, Assumptions, assuming, assumptions
from s2s.ir.dims import Dim
from s2s.ir.dtypes import COMPLEX, PYTHON_SCALARS, SHORT_NAMES, DType
from s2s.ir.jaxpr import ClosedJaxpr, Source, Var
from s2s.numpy import writing
from s2s.primitive import Value
from s2s.trace import Tracer, builder_in_force, make
from s2s.tree import TreeDef, flatten, leaf_paths

assert (
    builtin_functions and functions_of_parts and math_functions
)  # imported for what they register


def trace_call(function: Callable[..., Any], arguments: Mapping[str, ArgumentType]) -> Traced:
    """Trace a call of a user's function.

    Args:
        function: anything that can be called.
        arguments: the type of the argument for each parameter by name: for `*args` a tuple of
            types, for `**kwargs` a dict of them. Parameters with a default may be left out.

    Raises:
        UserError: with the user's line, for what the function does that cannot be traced.
    """
    if builder_in_force() is not None:
        return _trace_call(function, arguments)
    arrays = OwnArrays()
    while True:
        try:
            with own_arrays(arrays):
                traced = _trace_call(function, arguments)
        except TraceAgain as again:
            arrays.traced_lines.add((again.line.file, again.line.line))
            continue
        if arrays.types_differ or not arrays.has_items or not _types_differ(traced.closed):
            return traced
        arrays.types_differ = True


def _types_differ(closed: ClosedJaxpr) -> bool:
    """Whether there are values of other types than Python's numbers have in an array."""
    atoms = [*closed.jaxpr.constvars, *closed.jaxpr.invars]
    atoms += [var for eqn in closed.eqns for var in eqn.outvars]
    return any(atom.aval.dtype not in PYTHON_SCALARS.values() for atom in atoms) or any(
        _types_differ(inner) for eqn in closed.eqns for inner in eqn.primitive.jaxprs
    )


def _trace_call(function: Callable[..., Any], arguments: Mapping[str, ArgumentType]) -> Traced:
    parameters = _parameters(function, arguments)
    avals = [leaf for parameter in parameters for leaf in parameter.leaves]
    watch = leaks.Watch()
    line = definition_line(function)
    result: list[TreeDef] = []
    left: list[Left] = []
    inputs: list[Var] = []
    is_outermost = builder_in_force() is None

    def flat(*values: Value) -> Sequence[Value]:
        watch.builder = builder_in_force()
        given = [value.variable for value in values]
        inputs.extend(given)
        arguments = _filled(parameters, values)
        args, kwargs = _arguments(parameters, arguments)
        found = dispatch.call(function, *args, **kwargs)
        found = all_given(found)
        leaves, structure = flatten(with_lists(found, definition_line(function)))
        result.append(structure)
        for leaf, path in zip(leaves, leaf_paths(structure), strict=True):
            if not _is_value(leaf):
                raise UserError(_no_result(leaf, path), definition_line(function))
        keeps = is_outermost and choices().keep_mutation
        kept: list[Value] = []
        for change, value in changes_of(parameters, arguments, given, values, keeps, line):
            left.append(change)
            kept.extend([value] if keeps else [])
        outputs = [lax.dim_as_value(leaf) if isinstance(leaf, Dim) else leaf for leaf in leaves]
        return [*outputs, *kept]

    with _tracing(watch):
        with pairs_of_a_trace(), supposing(()):
            closed = make(flat, avals, _input_names(parameters))
        watch.builder = None
        watch.check()
        minimum = dict(assumptions().minimum)
        places = [(p.name, leaf) for p in parameters for leaf in range(len(p.leaves))]
        in_order = tuple(
            InOrder(*place, itself)
            for place, var in zip(places, inputs, strict=True)
            for itself in (True, False)
            if (var, itself) in assumptions().in_order
        )
    info = dataclasses.replace(information(function), changes=tuple(left))
    kept = tuple(left) if is_outermost and choices().keep_mutation else ()
    return Traced(closed, tuple(parameters), result[0], info, minimum, in_order, kept)


user_functions.calling[0] = dispatch.call


def _loop_over(step: Callable[[Value, Any], Value], start: Value, rows: Any) -> Value:
    return lax.scan(lambda x, row: (step(x, row), ()), start, rows)[0]


writing.loop_over[0] = _loop_over


def call_user(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a user's function, converted, on traced values of the builder in force."""
    with located():
        return dispatch.call(function, *args, **kwargs)


@contextlib.contextmanager
def _tracing(watch: leaks.Watch) -> Generator[None]:
    """What is in force while a function is traced."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(located())
        stack.enter_context(leaks.watching(watch))
        if builder_in_force() is None:
            reasons.clear()
            stack.enter_context(_deep_recursion())
            dispatch.generators.append(Generators())
            stack.callback(dispatch.generators.pop)
        if assumptions() is DEFAULT:
            stack.enter_context(assuming(Assumptions()))
        yield


@contextlib.contextmanager
def _deep_recursion() -> Generator[None]:
    """Each call in the user's code goes through several of s2s's."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(5 * before)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


# -- parameters and arguments ---------------------------------------------------------------------


def _parameters(
    function: Callable[..., Any], arguments: Mapping[str, ArgumentType]
) -> list[Parameter]:
    found: list[Parameter] = []
    signature = signature_of(function)
    for name, parameter in signature.parameters.items():
        if name in arguments:
            argument = arguments[name]
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            argument = Static(())
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            argument = Static({})
        elif parameter.default is not NO_DEFAULT:
            argument = Static(parameter.default)
        else:
            raise UserError(f"no type is known for the parameter `{name}`.")
        found.append(Parameter(name, argument, parameter.default, parameter.kind))
        if any(leaf.dtype.kind == "c" for leaf in found[-1].leaves):
            raise UserError(f"`{name}`: {COMPLEX}; pass real and imaginary parts.")
    unknown = [name for name in arguments if name not in signature.parameters]
    if unknown:
        raise UserError(
            f"there is no parameter `{unknown[0]}`; "
            f"the parameters are {', '.join(signature.parameters)}."
        )
    return found


def _filled(parameters: Sequence[Parameter], values: Sequence[Value]) -> list[Any]:
    """The argument for each parameter, from the traced values."""
    found: list[Any] = []
    start = 0
    for parameter in parameters:
        stop = start + len(parameter.leaves)
        found.append(fill(parameter.type, values[start:stop]))
        start = stop
    return found


def _arguments(
    parameters: Sequence[Parameter], arguments: Sequence[Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments of the call."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for parameter, value in zip(parameters, arguments, strict=True):
        match parameter.kind:
            case inspect.Parameter.VAR_POSITIONAL:
                args.extend(value)
            case inspect.Parameter.VAR_KEYWORD:
                kwargs.update(value)
            case inspect.Parameter.KEYWORD_ONLY:
                kwargs[parameter.name] = value
            case _:
                args.append(value)
    return args, kwargs


def _input_names(parameters: Sequence[Parameter]) -> list[str]:
    """`params["w1"]` is called w1, unless something else is: then params_w1."""
    short = [name for parameter in parameters for name in leaf_names(parameter)]
    full = [name for parameter in parameters for name in full_leaf_names(parameter)]
    return [
        name if short.count(name) == 1 else long for name, long in zip(short, full, strict=True)
    ]


# -- results --------------------------------------------------------------------------------------


def _is_value(leaf: Any) -> bool:
    """Whether a leaf of what the function returns is a number or an array of numbers."""
    if isinstance(leaf, (Tracer, Dim)) or type(leaf) in PYTHON_SCALARS:
        return True
    return isinstance(leaf, (np.ndarray, np.generic)) and _dtype(leaf) in SHORT_NAMES


def _dtype(array: Any) -> DType:
    return array.dtype


def _no_result(leaf: Any, path: Sequence[Any]) -> str:
    where = "".join(f"[{key!r}]" for key in path)
    kind = f"array of {_dtype(leaf)}" if isinstance(leaf, np.ndarray) else type(leaf).__name__
    return (
        f"the function returns a value of type {kind}{f' at {where}' if where else ''}. "
        "Results must be numbers and arrays, in tuples, lists, dicts or dataclasses."
    )


# -- what is known about the function -------------------------------------------------------------


def information(function: Callable[..., Any]) -> FunctionInfo:
    """Where a user's function stands and what it says about itself."""
    inner = innermost_function(function)
    name = short_name(function)
    doc = inspect.getdoc(function if isinstance(function, type) or inner is function else inner)
    if not isinstance(inner, FunctionType):
        return FunctionInfo(name, "", 0, doc or "", "")
    code = inner.__code__
    text = "".join(lines_of(code.co_filename, inner.__globals__))
    digest = hashlib.sha256(text.encode()).hexdigest()[:16] if text else ""
    line = code.co_firstlineno
    return FunctionInfo(name, shown_path(code.co_filename), line, doc or "", digest)


def definition_line(function: Callable[..., Any]) -> Source | None:
    """The line on which a user's function begins, for errors about it as a whole."""
    inner = innermost_function(function)
    if not isinstance(inner, FunctionType):
        return None
    code = inner.__code__
    lines = lines_of(code.co_filename, inner.__globals__)[code.co_firstlineno - 1 :]
    decorators = sum(1 for _ in itertools.takewhile(_is_decorator, lines))
    text = lines[decorators].strip() if decorators < len(lines) else code.co_qualname
    return Source(shown_path(code.co_filename), code.co_firstlineno + decorators, text)


def _is_decorator(line: str) -> bool:
    return line.lstrip().startswith("@")
