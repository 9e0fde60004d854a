"""Functions with derivative rules applied to arguments: the function and its rules as jaxprs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from s2s.control.bodies import Flags, chosen
from s2s.control.custom_jvp import CustomJvpCall, inexact
from s2s.control.custom_vjp import CustomVjpCall
from s2s.control.rules import Rule
from s2s.control.user_functions import (
    Body,
    call,
    converted_to,
    fits,
    identity,
    is_pair,
    place,
    trace_body,
    with_consts,
)
from s2s.ir.dims import Shape
from s2s.ir.dtypes import DType, is_inexact
from s2s.ir.jaxpr import ClosedJaxpr, ShapedArray
from s2s.primitive import Value, Zero
from s2s.primitives.core import instantiate
from s2s.trace import Tracer, aval, bind
from s2s.tree import LEAF, TreeDef, flatten, flatten_up_to, leaf_paths, unflatten

if TYPE_CHECKING:
    from s2s.control.custom_rules import CustomFunction


class SymbolicZero:
    """A tangent or cotangent that is zero throughout, as rules with `symbolic_zeros` get it."""

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    @property
    def shape(self) -> Shape:
        """The shape of the value it belongs to."""
        return self.aval.shape

    @property
    def dtype(self) -> DType:
        """The element type of the value it belongs to."""
        return self.aval.dtype

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval})"


class CustomVJPPrimal:
    """An argument as forward rules with `symbolic_zeros` get it: its value, and whether it is
    differentiated by."""

    def __init__(self, value: Any, perturbed: bool) -> None:
        self.value = value
        self.perturbed = perturbed


def apply(function: CustomFunction[Any], given: Sequence[Any]) -> Any:
    """The result of a function with derivative rules."""
    moving = [i for i in range(len(given)) if i not in function.nondiff_argnums]
    parts = [flatten(given[i]) for i in moving]
    leaves = [leaf for part, _ in parts for leaf in part]
    structures = [structure for _, structure in parts]
    avals = [aval(leaf) for leaf in leaves]

    def fun(*values: Any) -> Any:
        arguments = list(given)
        for i, value in zip(moving, values, strict=True):
            arguments[i] = value
        return call(function.fun, *arguments)

    body = trace_body(fun, structures, avals, names=function.parameter_names(moving))
    fixed = [given[i] for i in function.nondiff_argnums]
    key = (tuple(structures), tuple(avals), tuple(map(id, fixed)))
    application = function.applications.get(key)
    if application is None:
        application = Application(function, list(given), moving, structures, avals, body.result)
        application.find_consts(body, key)
    primitive = application.primitive(with_consts(body, application.consts))
    return unflatten(body.result, bind(primitive, *application.consts, *leaves))


class Application:
    """The rules of a function for arguments of given types, and what they close over."""

    def __init__(
        self,
        function: CustomFunction[Any],
        given: list[Any],
        moving: list[int],
        structures: list[TreeDef],
        avals: list[ShapedArray],
        result: TreeDef,
    ) -> None:
        self.function = function
        self.given = given
        self.moving = moving
        self.structures = structures
        self.avals = avals
        self.result = result
        self.result_avals: list[ShapedArray] = []
        self.consts: list[Value] = []
        self._bodies: dict[tuple[str, Flags], Body] = {}
        self._residuals: dict[Flags, tuple[TreeDef, list[Any]]] = {}
        self.jvp_rule = self._rule("jvp", function.jvp_rule, function.jvp_symbolic)
        self.fwd_rule = self._rule("fwd", function.fwd_rule, function.vjp_symbolic)
        self.bwd_rule = self._rule("bwd", function.bwd_rule, function.vjp_symbolic)

    def _rule(self, kind: str, function: Callable[..., Any] | None, symbolic: bool) -> Rule | None:
        if function is None:
            return None

        def trace(flags: Flags) -> ClosedJaxpr:
            return with_consts(self._body(kind, flags), self.consts)

        return Rule(getattr(function, "__name__", kind), trace, symbolic)

    def _body(self, kind: str, flags: Flags) -> Body:
        found = self._bodies.get((kind, flags))
        if found is None:
            trace = {"jvp": self._trace_jvp, "fwd": self._trace_fwd, "bwd": self._trace_bwd}[kind]
            found = self._bodies[kind, flags] = trace(flags)
        return found

    def primitive(self, jaxpr: ClosedJaxpr) -> CustomJvpCall | CustomVjpCall:
        """The primitive to bind, for the function's own jaxpr."""
        name, num_consts = self.function.name, len(self.consts)
        if self.fwd_rule is not None and self.bwd_rule is not None:
            return CustomVjpCall(
                name, jaxpr, num_consts, self.fwd_rule, self.bwd_rule, self.jvp_rule
            )
        assert self.jvp_rule is not None
        return CustomJvpCall(name, jaxpr, num_consts, self.jvp_rule)

    # -- what the rules close over --------------------------------------------------------------

    def find_consts(self, body: Body, key: Hashable) -> None:
        """Find what the function and its rules close over.

        Most rules apply the function themselves; these applications are this one. Rules without
        closures close over nothing, and are traced when they are needed.
        """
        self.result_avals = body.jaxpr.out_avals
        consts = {identity(const): const for const in body.consts}
        self.consts = list(consts.values())
        applications = self.function.applications
        applications[key] = self
        rules = (self.function.jvp_rule, self.function.fwd_rule, self.function.bwd_rule)
        try:
            while any(map(_has_closure, rules)):
                self._bodies.clear()
                for rule_body in self._trace_all():
                    consts.update({identity(const): const for const in rule_body.consts})
                consts = {
                    key: const
                    for key, const in consts.items()
                    if isinstance(const, Tracer) or key in map(identity, self.consts)
                }
                if len(consts) == len(self.consts):
                    break
                self.consts = list(consts.values())
        finally:
            if self.consts or self.function.nondiff_argnums:
                del applications[key]

    def _trace_all(self) -> list[Body]:
        every = (True,) * sum(inexact(self.avals))
        each_ct = (True,) * sum(inexact(self.result_avals))
        bodies: list[Body] = []
        if self.jvp_rule is not None:
            bodies.append(self._body("jvp", every))
        if self.fwd_rule is not None:
            bodies += [self._body("fwd", every), self._body("bwd", (*every, *each_ct))]
        return bodies

    # -- tracing --------------------------------------------------------------------------------

    @property
    def _fixed(self) -> list[Any]:
        return [self.given[i] for i in self.function.nondiff_argnums]

    def _trace_jvp(self, flags: Flags) -> Body:
        rule = self.function.jvp_rule
        assert rule is not None
        with_tangent = chosen(chosen(self.avals, inexact(self.avals)), flags)
        num = len(self.structures)

        def fun(*values: Any) -> list[Value]:
            dots = self._filled(self.avals, values[num:], flags, self.function.jvp_symbolic)
            tangents = _by_structure(self.structures, dots)
            pair = call(rule, *self._fixed, tuple(values[:num]), tuple(tangents))
            if not is_pair(pair):
                raise TypeError(
                    f"the jvp rule of {self.function.name} must return a pair, the result and "
                    "its tangent"
                )
            results = self._results(pair[0], "jvp rule")
            parts = self._like_result(pair[1], "tangent")
            found = _checked(
                parts, self.result_avals, self.result, f"{self.function.name}'s tangent"
            )
            return [*results, *found]

        structures = [*self.structures, *[LEAF] * len(with_tangent)]
        return trace_body(fun, structures, [*self.avals, *with_tangent], names=())

    def _trace_fwd(self, flags: Flags) -> Body:
        rule = self.function.fwd_rule
        assert rule is not None
        active = iter(flags)
        perturbed = [is_inexact(a.dtype) and next(active) for a in self.avals]

        def fun(*values: Any) -> list[Value]:
            arguments = list(self.given)
            leaves = [leaf for value in values for leaf in flatten(value)[0]]
            if self.function.vjp_symbolic:
                leaves = [
                    CustomVJPPrimal(leaf, on) for leaf, on in zip(leaves, perturbed, strict=True)
                ]
            trees = _by_structure(self.structures, leaves)
            for i, value in zip(self.moving, trees, strict=True):
                arguments[i] = value
            pair = call(rule, *arguments)
            if not is_pair(pair):
                raise TypeError(
                    f"the forward rule of {self.function.name} must return a pair, the result and "
                    "what the backward rule needs"
                )
            residuals, structure = flatten(pair[1])
            self._residuals[flags] = (structure, [_fixed_leaf(leaf) for leaf in residuals])
            traced = [leaf for leaf in residuals if _fixed_leaf(leaf) is TRACED]
            return [*self._results(pair[0], "forward rule"), *traced]

        return trace_body(fun, self.structures, self.avals, names=())

    def _trace_bwd(self, flags: Flags) -> Body:
        rule = self.function.bwd_rule
        assert rule is not None
        num_active = sum(inexact(self.avals))
        active, ct_on = flags[:num_active], flags[num_active:]
        forward = self._body("fwd", active)
        structure, fixed_leaves = self._residuals[active]
        residual_avals = forward.jaxpr.out_avals[len(self.result_avals) :]
        with_ct = chosen(chosen(self.result_avals, inexact(self.result_avals)), ct_on)

        def fun(*values: Any) -> list[Value]:
            given = iter(values[: len(residual_avals)])
            leaves = [next(given) if leaf is TRACED else leaf for leaf in fixed_leaves]
            cts = self._filled(
                self.result_avals,
                values[len(residual_avals) :],
                ct_on,
                self.function.vjp_symbolic,
            )
            bars: Any = call(
                rule, *self._fixed, unflatten(structure, leaves), unflatten(self.result, cts)
            )
            if type(bars) not in (tuple, list) or len(bars) != len(self.moving):
                raise TypeError(
                    f"the backward rule of {self.function.name} must return a tuple with a "
                    f"cotangent for each of {len(self.moving)} arguments"
                )
            found: list[Value] = []
            start = 0
            for bar, argument in zip(bars, self.structures, strict=True):
                stop = start + argument.num_leaves
                what = f"a cotangent of {self.function.name}"
                parts = _like(argument, bar, what)
                found += _checked(parts, self.avals[start:stop], argument, what)
                start = stop
            return found

        avals = [*residual_avals, *with_ct]
        return trace_body(fun, [LEAF] * len(avals), avals, names=())

    def _filled(
        self,
        avals: Sequence[ShapedArray],
        given: Sequence[Value],
        flags: Flags,
        symbolic: bool,
    ) -> list[Any]:
        """A tangent or cotangent for each value: those given, and zeros."""
        remaining = iter(given)
        on = iter(flags)
        return [
            next(remaining)
            if is_inexact(a.dtype) and next(on)
            else SymbolicZero(a)
            if symbolic
            else instantiate(Zero(a))
            for a in avals
        ]

    def _results(self, value: Any, what: str) -> list[Value]:
        """The leaves of a result by a rule, which must be like those of the function itself."""
        leaves, structure = flatten(value)
        if structure != self.result:
            raise TypeError(
                f"the {what} of {self.function.name} returns a result of structure {structure}, "
                f"but {self.function.name} itself one of structure {self.result}"
            )
        for leaf, wanted, path in zip(
            leaves, self.result_avals, leaf_paths(structure), strict=True
        ):
            if not fits(wanted, aval(leaf)):
                raise TypeError(
                    f"the {what} of {self.function.name} returns {aval(leaf)} for "
                    f"{place(path, 'the result')}, but {self.function.name} itself {wanted}"
                )
        return converted_to(leaves, self.result_avals)

    def _like_result(self, value: Any, what: str) -> list[Any]:
        return _like(self.result, value, f"the {what} of {self.function.name}")


class _Traced:
    pass


TRACED = _Traced()
"""Stands for a residual that is a number or an array."""


def _fixed_leaf(leaf: Any) -> Any:
    """A residual that is no number or array, such as a string, as it is."""
    try:
        aval(leaf)
    except TypeError:
        return leaf
    return TRACED


def _has_closure(rule: Any) -> bool:
    return rule is not None and not (isinstance(rule, FunctionType) and rule.__closure__ is None)


def _by_structure(structures: Sequence[TreeDef], leaves: Sequence[Any]) -> list[Any]:
    remaining = iter(leaves)
    return [
        unflatten(structure, [next(remaining) for _ in range(structure.num_leaves)])
        for structure in structures
    ]


def _like(structure: TreeDef, value: Any, what: str) -> list[Any]:
    """The parts of a tangent or cotangent; None for what is zero."""
    if value is None or isinstance(value, SymbolicZero):
        return [None] * structure.num_leaves
    try:
        return flatten_up_to(structure, value)
    except ValueError:
        raise TypeError(f"{what} must have the structure {structure}") from None


def _checked(
    parts: Sequence[Any], avals: Sequence[ShapedArray], structure: TreeDef, what: str
) -> list[Value]:
    """Tangents or cotangents of the values that have one, zeros written out."""
    found: list[Value] = []
    for part, like, path in zip(parts, avals, leaf_paths(structure), strict=True):
        if not is_inexact(like.dtype):
            continue
        if part is None or isinstance(part, SymbolicZero):
            part = instantiate(Zero(like))
        if not fits(like, aval(part)):
            raise TypeError(
                f"{place(path, what)} has type {aval(part)}, but the value it belongs to has {like}"
            )
        found += converted_to([part], [like])
    return found
