"""Derivative rules of users': traced when they are needed, for arguments of one type.

A rule is not traced before, since most rules call the function that they belong to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from s2s.control.bodies import Flags, chosen, inverted, transpose_of
from s2s.control.higher_order import HigherOrder
from s2s.ir.dims import Size
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.primitive import Linear, Primitive, Value, Zero, jaxpr_with_sizes
from s2s.trace import aval, evaluate, inline, inline_call


class Rule:
    """A rule by its jaxpr, which may depend on what is known to be zero.

    Two rules are the same only if they are one object.
    """

    def __init__(
        self, name: str, trace: Callable[[Flags], ClosedJaxpr], symbolic_zeros: bool = False
    ) -> None:
        self.name = name
        self.symbolic_zeros = symbolic_zeros
        self._trace = trace
        self._jaxprs: dict[Flags, ClosedJaxpr] = {}

    def jaxpr(self, flags: Flags) -> ClosedJaxpr:
        """The rule where the flagged values are not known to be zero."""
        if flags not in self._jaxprs:
            self._jaxprs[flags] = self._trace(flags)
        return self._jaxprs[flags]

    def flags(self, values: Sequence[Value]) -> Flags:
        """For which tangents or cotangents the rule is to be: all, or with symbolic zeros those
        that are not known to be zero."""
        return tuple(not self.symbolic_zeros or not isinstance(v, Zero) for v in values)

    def mapped(self, transform: Callable[[ClosedJaxpr, Flags], ClosedJaxpr]) -> Rule:
        """The rule with its jaxprs transformed, which also depends on the flags."""
        return Rule(
            self.name, lambda flags: transform(self.jaxpr(flags), flags), self.symbolic_zeros
        )

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class CustomRule(HigherOrder):
    """A function with derivative rules of the user's: `call_jaxpr` on the operands.

    The first `num_consts` operands are what the function and its rules close over; the rules do
    not say how to differentiate by these.
    """

    callee: str
    call_jaxpr: ClosedJaxpr
    num_consts: int

    @property
    def main_rule(self) -> Rule:
        """The rule that `symbolic_zeros` is printed of."""
        raise NotImplementedError

    def parameters(self) -> dict[str, Any]:
        fields = {
            name.removesuffix("_rule"): value.name if isinstance(value, Rule) else value
            for name, value in self.fields().items()
        }
        fields["symbolic_zeros"] = self.main_rule.symbolic_zeros
        return {"name": fields.pop("callee"), **{key: fields[key] for key in sorted(fields)}}

    def printed_parameters(self) -> Mapping[str, Any]:
        parameters = self.parameters()
        if not self.num_consts:
            del parameters["num_consts"]
        return {name: value for name, value in parameters.items() if value is not None}

    @classmethod
    def printed_types(cls) -> dict[str, Any]:
        kinds = {"call_jaxpr": ClosedJaxpr, "num_consts": int, "symbolic_zeros": bool}
        return {"name": str, **kinds, "bwd": str, "fwd": str, "jvp": str}

    @classmethod
    def from_printed(
        cls, printed: Mapping[str, Any], out_avals: Sequence[ShapedArray]
    ) -> Primitive:
        fields: dict[str, Any] = {"num_consts": 0, **printed, "callee": printed["name"]}
        symbolic_zeros = fields.pop("symbolic_zeros")
        del fields["name"]
        for name in {"bwd", "fwd", "jvp"} & fields.keys():
            fields[f"{name}_rule"] = Rule(fields.pop(name), _no_rule, symbolic_zeros)
        return cls(**fields)

    def with_sizes(self, sizes: Mapping[str, Size]) -> Primitive:
        fields: dict[str, Any] = self.fields()
        call = jaxpr_with_sizes(self.call_jaxpr, sizes)
        if call is self.call_jaxpr:
            return self
        for name, value in fields.items():
            if isinstance(value, Rule):
                fields[name] = value.mapped(lambda jaxpr, _: jaxpr_with_sizes(jaxpr, sizes))
        return self.with_fields({**fields, "call_jaxpr": call})

    def abstract(self, *avals: ShapedArray) -> list[ShapedArray]:
        return self.call_jaxpr.out_avals

    def evaluate(self, *arrays: Any) -> list[Any]:
        return evaluate(self.call_jaxpr, *arrays)

    def transpose(self, cts: Sequence[Value], *args: Value) -> Sequence[Value]:
        """For a function that is linear itself, its own transpose."""
        linear = tuple(isinstance(arg, Linear) for arg in args)
        ct_on = tuple(not isinstance(ct, Zero) for ct in cts)
        backward, found = transpose_of(self.call_jaxpr, linear, ct_on)
        bars = iter(inline(backward, *chosen(args, inverted(linear)), *chosen(cts, ct_on)))
        return [
            next(bars) if on else Zero(arg.aval) if is_linear else None
            for arg, is_linear, on in zip(args, linear, found, strict=True)
        ]

    def finish(self, args: Sequence[Value]) -> Sequence[Value] | None:
        return inline_call(self.call_jaxpr, *args)

    def refuse_constants(self, tangents: Sequence[Value]) -> None:
        """Raise the error for a derivative by a value that the function closes over."""
        for tangent in tangents[: self.num_consts]:
            if not isinstance(tangent, Zero):
                raise TypeError(
                    f"the derivative rule of {self.callee} cannot give the derivative by a value "
                    f"of type {aval(tangent)} that {self.callee} takes from outside; make it an "
                    "argument of the function"
                )


def _no_rule(flags: Flags) -> ClosedJaxpr:
    raise TypeError("a jaxpr that was read from text has no derivative rules of the user's")
