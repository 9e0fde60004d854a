"""Primitives of your own. docs/primitives.md explains them by an example.

    multiply_add_p = Primitive("multiply_add")
    multiply_add_p.bind(x, y, z)

A primitive is given one rule after the other; each makes a transformation work, which without it
raises NotImplementedError. Or it is a class like those of s2s itself: a subclass of `Operation`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn, TypeVar

from s2s import trace
from s2s.errors import UserError
from s2s.ir.dims import Size
from s2s.ir.jaxpr import ShapedArray as ShapedArray, Var
from s2s.primitive import (
    BatchAxis,
    Linear as Linear,
    Primitive as Operation,
    Value,
    Zero as Zero,
)
from s2s.primitives.core import instantiate as instantiate

F = TypeVar("F", bound=Callable[..., Any])

bind = trace.bind
"""Apply an `Operation` to operands: traced where there is a trace, else evaluated."""


class MissingRule(UserError, NotImplementedError):
    """A transformation met a primitive that has no rule for it yet."""


class Primitive:
    """An operation of your own, named and given its rules step by step.

    Args:
        name: what it is called, in jaxprs and messages; a Python identifier.
        multiple_results: whether its results are a list.
    """

    def __init__(self, name: str, multiple_results: bool = False) -> None:
        if not name.isidentifier():
            raise ValueError(f"a primitive's name must be an identifier, and {name!r} is none")
        self.name = name
        self.multiple_results = multiple_results
        self.rules: dict[str, Callable[..., Any]] = {}
        self.text: str | None = None
        members: dict[str, Any] = {
            "name": name,
            "multiple_results": multiple_results,
            "definition": self,
        }
        self._operation: type[_Applied] = type(f"_{name}", (_Applied,), members)

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the primitive: traced where there is a trace, else evaluated.

        `params` are fixed values, which the rules get as keywords and jaxprs print.
        """
        return trace.bind(self._operation(params), *args)

    # -- the rules ------------------------------------------------------------------------------

    def def_impl(self, fun: F) -> F:
        """Say how it is evaluated: `fun(*arrays, **params)` on NumPy arrays and numbers.

        The function is copied into generated modules, so it may use nothing but its arguments,
        builtins, `np` and `math`. It returns new arrays, neither its arguments nor views of them.
        See `def_numpy` for an expression instead.
        """
        self.rules["impl"] = fun
        return fun

    def def_numpy(self, template: str) -> None:
        """Say how it is evaluated by the expression to write: `"{0} * {1} + {2}"`.

        The operands' texts take the places of the numbers, in parentheses where need be, and the
        parameters' values those of their names.
        """
        self.text = template

    def def_abstract_eval(self, fun: F) -> F:
        """Say the type of its result: `fun(*avals, **params)`, which returns a `ShapedArray`, or a
        list of them with `multiple_results`. It raises TypeError for operands that do not fit."""
        self.rules["abstract_eval"] = fun
        return fun

    def def_lowering(self, fun: F) -> F:
        """Say how it is compiled: `fun(*operands, **params)` computes the same by other operations,
        those of `s2s.lax` or NumPy. It is what StableHLO is made from."""
        self.rules["lowering"] = fun
        return fun

    def def_jvp(self, fun: F) -> F:
        """Say its derivative: `fun(primals, tangents, **params)` gives the result and its tangent.

        A tangent that is known to be zero is a `Zero`; `instantiate` makes an array of it.
        """
        self.rules["jvp"] = fun
        return fun

    def def_transpose(self, fun: F) -> F:
        """Say its transpose: `fun(ct, *args, **params)` returns a cotangent for each operand in
        which it is linear, and None for the others.

        `ct` is the cotangent of the result, or a list of them with `multiple_results`. The operands
        in which the operation is linear are `Linear`, of which only the type is known.
        """
        self.rules["transpose"] = fun
        return fun

    def def_batch(self, fun: F) -> F:
        """Say how it applies to a batch: `fun(args, axes, **params)` returns the result and its
        batch axis. An axis is that of the operand at its place; None if it is the same for all."""
        self.rules["batch"] = fun
        return fun

    def rule(self, kind: str) -> Callable[..., Any]:
        """The rule of a kind. Raises MissingRule if there is none."""
        if kind not in self.rules:
            self.missing(kind)
        return self.rules[kind]

    def missing(self, kind: str) -> NoReturn:
        """Raise the error for a rule that has not been given."""
        raise MissingRule(
            f"the primitive {self.name!r} has no rule {kind!r}. Give it one with def_{kind}."
        )

    def __repr__(self) -> str:
        return self.name


class _Applied(Operation):
    """A primitive of a user's with its parameters."""

    definition: ClassVar[Primitive]

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.params = dict(params)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.params == getattr(other, "params", None)

    def __hash__(self) -> int:
        return hash((type(self), tuple(sorted(self.params.items()))))

    def parameters(self) -> dict[str, Any]:
        return dict(sorted(self.params.items()))

    @classmethod
    def from_printed(
        cls, printed: Mapping[str, Any], out_avals: Sequence[ShapedArray]
    ) -> Operation:
        return cls(printed)

    # -- rules ----------------------------------------------------------------------------------

    def abstract(self, *avals: ShapedArray) -> Any:
        return self.definition.rule("abstract_eval")(*avals, **self.params)

    def evaluate(self, *arrays: Any) -> Any:
        if self.definition.text is not None:
            return super().evaluate(*arrays)
        return self.definition.rule("impl")(*arrays, **self.params)

    def spell(self, operands: Sequence[str], avals: Sequence[ShapedArray]) -> str:
        if self.definition.text is not None:
            return self.definition.text.format(*operands, **self.params)
        fixed = [f"{name}={value!r}" for name, value in self.parameters().items()]
        return f"{self.definition.rule('impl').__name__}({', '.join([*operands, *fixed])})"

    @property
    def copied_function(self) -> Callable[..., Any] | None:
        return None if self.definition.text is not None else self.definition.rule("impl")

    def composition(self, *operands: Value) -> Any:
        return self.definition.rule("lowering")(*operands, **self.params)

    def jvp(self, primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
        rule = self.definition.rule("jvp")
        builder = trace.builder_in_force()
        start = 0 if builder is None else len(builder.eqns)
        result = rule(primals, tangents, **self.params)
        if builder is not None:
            _mark_tangents(builder, start, tangents)
        return result

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        ct = list(cts) if self.multiple_results else cts[0]
        return self.definition.rule("transpose")(ct, *args, **self.params)

    def batch(
        self, size: Size, args: Sequence[Value], dims: Sequence[BatchAxis]
    ) -> tuple[Value, Any]:
        return self.definition.rule("batch")(args, dims, **self.params)


def _mark_tangents(builder: trace.Builder, start: int, tangents: Sequence[Value]) -> None:
    """Let the equations that a rule made from tangents be those of a derivative."""
    found: set[Var] = {t.variable for t in tangents if isinstance(t, trace.Tracer)}
    for eqn in builder.eqns[start:]:
        if not found.isdisjoint(atom for atom in eqn.invars if isinstance(atom, Var)):
            eqn.phase = "tangent"
            found.update(eqn.outvars)


def source_of(function: Callable[..., Any]) -> str:
    """The text of a function, for what copies it. Raises UserError if there is none."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        raise UserError(
            f"the text of {getattr(function, '__name__', function)} cannot be found, so it cannot "
            "be copied into a generated module. Write the function in a file."
        ) from None
