"""Arithmetic and functions of single elements.

NumPy broadcasts operands, so they stand as they are, however much smaller than their types say.
"""

from __future__ import annotations

from collections.abc import Sequence

from s2s.ir.dims import Shape, same_shape
from s2s.ir.jaxpr import Atom, JaxprEqn, Literal, Var
from s2s.primitive import Precedence
from s2s.primitives.arithmetic import Add, Div, Mul, Neg, Sub
from s2s.primitives.families import AddAny, Elementwise
from s2s.primitives.logic import And, Not, Or, SelectN
from s2s.primitives.powers import IntegerPow, Pow, Sqrt
from s2s_codegen.numpy_source.expression import (
    ATOM,
    Expression,
    binary,
    call,
    dtype_name,
    is_negative,
    is_python_s,
    negative,
    without_sign,
)
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.spell.composites import spell_norm, spell_statistic
from s2s_codegen.numpy_source.spell.dispatch import joint_shape, spell


@spell.register
def spell_elementwise(primitive: Elementwise, eqn: JaxprEqn, scope: Scope) -> Expression:
    operands = scope.operands(eqn)
    if primitive.is_of_numbers(eqn.outvars[0].aval):
        texts = [x.text for x in operands]
        text = primitive.math.format(*texts, **primitive.parameters())
        return Expression(text, ATOM, ())
    texts = [x.within(primitive.operand_precedence(i)) for i, x in enumerate(operands)]
    text = primitive.spell(texts, [atom.aval for atom in eqn.invars])
    return Expression(text, primitive.precedence, _shape(eqn, operands))


def _shape(eqn: JaxprEqn, operands: Sequence[Expression]) -> Shape | None:
    return joint_shape(eqn.outvars[0].aval.shape, eqn.invars[: len(operands)], operands)


def _combine(operator: str, eqn: JaxprEqn, x: Expression, y: Expression) -> Expression:
    combined = binary(operator, x, y)
    shape = _shape(eqn, [x, y])
    return Expression(combined.text, combined.precedence, shape)


@spell.register(Add)
@spell.register(AddAny)
def spell_sum(primitive: Add | AddAny, eqn: JaxprEqn, scope: Scope) -> Expression:
    x, y = scope.operands(eqn)
    if may_be_subtracted(y, eqn):
        return _combine("-", eqn, x, without_sign(y))
    if eqn.phase != "primal" and is_negative(x):
        swapped = _combine("-", eqn, y, without_sign(x))
        return Expression(swapped.text, swapped.precedence, _shape(eqn, [x, y]))
    if eqn.phase != "primal" and y.precedence is Precedence.SUM:
        y = Expression(y.text, Precedence.PRODUCT, y.shape)  # sums of cotangents have no order
    return _combine("+", eqn, x, y)


@spell.register
def spell_difference(primitive: Sub, eqn: JaxprEqn, scope: Scope) -> Expression:
    x, y = scope.operands(eqn)
    if may_be_subtracted(y, eqn):
        return _combine("+", eqn, x, without_sign(y))
    return _combine("-", eqn, x, y)


def may_be_subtracted(y: Expression, eqn: JaxprEqn) -> bool:
    """Whether `x + y` is `x - (-y)`, to the last bit where the user computes it: the opposite of a
    sum that is zero is zero again."""
    return is_negative(y) and (eqn.phase != "primal" or y.precedence is not Precedence.SUM)


@spell.register
def spell_product(primitive: Mul, eqn: JaxprEqn, scope: Scope) -> Expression:
    x, y = scope.operands(eqn)
    for factor, other in ((eqn.invars[0], y), (eqn.invars[1], x)):
        if isinstance(factor, Literal) and factor.value == -1.0 and eqn.phase != "primal":
            opposite = negative(other)
            return Expression(opposite.text, opposite.precedence, _shape(eqn, [x, y]))
    if eqn.phase != "primal" and isinstance(eqn.invars[1], Literal):
        return _combine_swapped("*", eqn, y, x)
    if eqn.phase != "primal" and y.precedence is Precedence.PRODUCT and _is_plain_product(eqn, y):
        y = Expression(y.text, Precedence.UNARY, y.shape)
    return _combine("*", eqn, x, y)


def _combine_swapped(operator: str, eqn: JaxprEqn, y: Expression, x: Expression) -> Expression:
    combined = binary(operator, y, x)
    return Expression(combined.text, combined.precedence, _shape(eqn, [x, y]))


def _is_plain_product(eqn: JaxprEqn, y: Expression) -> bool:
    """Whether `x * (a * b)` is as cheap as `x * a * b`: not if `a * b` is smaller than x."""
    if any(operator in y.text for operator in ("@", "%", "//", "-")):
        return False
    x_shape, y_shape = eqn.invars[0].aval.shape, eqn.invars[1].aval.shape
    return not x_shape or same_shape(x_shape, y_shape if y.shape is None else y.shape)


@spell.register
def spell_quotient(primitive: Div, eqn: JaxprEqn, scope: Scope) -> Expression:
    statistic = spell_statistic(eqn, scope)
    return _combine("/", eqn, *scope.operands(eqn)) if statistic is None else statistic


@spell.register
def spell_negative(primitive: Neg, eqn: JaxprEqn, scope: Scope) -> Expression:
    (x,) = scope.operands(eqn)
    result = negative(x)
    return Expression(result.text, result.precedence, _shape(eqn, [x]))


@spell.register
def spell_integer_power(primitive: IntegerPow, eqn: JaxprEqn, scope: Scope) -> Expression:
    (x,) = scope.operands(eqn)
    result = binary("**", x, _number(primitive.y))
    return Expression(result.text, result.precedence, _shape(eqn, [x]))


def _number(value: int) -> Expression:
    return Expression(str(value), ATOM if value >= 0 else Precedence.UNARY, ())


@spell.register
def spell_power(primitive: Pow, eqn: JaxprEqn, scope: Scope) -> Expression:
    return _combine("**", eqn, *scope.operands(eqn))


@spell.register
def spell_root(primitive: Sqrt, eqn: JaxprEqn, scope: Scope) -> Expression:
    said = spell_norm(eqn, scope) or spell_statistic(eqn, scope)
    return spell_elementwise(primitive, eqn, scope) if said is None else said


@spell.register
def spell_choice(primitive: SelectN, eqn: JaxprEqn, scope: Scope) -> Expression:
    operands = scope.operands(eqn)
    shape = _shape(eqn, operands)
    aval = eqn.outvars[0].aval
    dtype = None if aval.weak_type or is_python_s(aval.dtype) else aval.dtype
    if is_choice_of_numbers(eqn):
        if dtype is not None:  # Python's numbers are of 64 bits
            is_plain = [scope.is_plain_number(atom) for atom in eqn.invars]
            operands = [
                call(dtype_name(dtype), x) if plain else x
                for x, plain in zip(operands, is_plain, strict=True)
            ]
        which, otherwise, then = (x.within(Precedence.DISJUNCTION) for x in operands)
        return Expression(f"{then} if {which} else {otherwise}", Precedence.CONDITIONAL, shape)
    if eqn.invars[0].aval.dtype.kind != "b":
        cases = ", ".join(x.text for x in operands[1:])
        return Expression(f"np.choose({operands[0].text}, [{cases}])", ATOM, shape)
    which, otherwise, then = operands
    if dtype is not None and all(map(scope.is_plain_number, eqn.invars[1:])):
        then = call(dtype_name(dtype), then)  # of two plain numbers NumPy makes 64 bits
    return Expression(call("np.where", which, then, otherwise).text, ATOM, shape)


def is_choice_of_numbers(eqn: JaxprEqn) -> bool:
    """Whether a choice is between two numbers by a truth value, and not one that the user has left
    to NumPy."""
    (var,), which = eqn.outvars, eqn.invars[0].aval
    if which.dtype.kind != "b":
        return var.aval.weak_type and len(eqn.invars) == 3
    return var.aval.weak_type or (eqn.phase != "primal" and not var.aval.shape)


@spell.register(And)
@spell.register(Or)
def spell_both(primitive: And | Or, eqn: JaxprEqn, scope: Scope) -> Expression:
    """`a and b` of truth values, `a & b` of arrays."""
    (var,), operands = eqn.outvars, [atom for atom in eqn.invars if isinstance(atom, Var)]
    is_one = var.aval.dtype.kind == "b" and not var.aval.shape
    if not is_one or not scope.without_axes.isdisjoint([var, *operands]):
        return spell_elementwise(primitive, eqn, scope)
    return _combine("and" if isinstance(primitive, And) else "or", eqn, *scope.operands(eqn))


@spell.register
def spell_not(primitive: Not, eqn: JaxprEqn, scope: Scope) -> Expression:
    (x,) = scope.operands(eqn)
    shape = _shape(eqn, [x])
    if eqn.outvars[0].aval.weak_type and eqn.outvars[0].aval.dtype.kind == "b":
        return Expression(f"not {x.within_not}", Precedence.NEGATION, shape)
    if _is_array(eqn.invars[0]):
        return Expression(f"~{x.within(Precedence.UNARY)}", Precedence.UNARY, shape)
    return Expression(call("np.logical_not", x).text, ATOM, shape)


def _is_array(atom: Atom) -> bool:
    return bool(atom.aval.shape)
