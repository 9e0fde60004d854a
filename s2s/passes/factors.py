"""Products of a derivative collected: constants multiplied out, cheap factors first.

Transposition multiplies by one factor an equation, in the order in which the chain rule meets
them. A person would multiply the constants at once, the numbers before the arrays, and write a
difference instead of a sum with a factor of -1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, cast

from s2s.ir.dims import same_shape
from s2s.ir.jaxpr import Atom, ClosedJaxpr, JaxprEqn, Var
from s2s.passes.names import hand_on_names
from s2s.passes.product import Product, expanded, factored, is_same, same_product
from s2s.passes.rewrite import rewrite
from s2s.primitive import Value
from s2s.primitives.arithmetic import Div, Mul, mul, sub
from s2s.primitives.contractions import dot_general
from s2s.primitives.core import BroadcastInDim, ReduceSum
from s2s.primitives.families import AddAny, add_any, defined_by, is_number
from s2s.primitives.logic import SelectN, select_n
from s2s.primitives.structural import number
from s2s.trace import Tracer, aval, bind, copy_equation


def collect_factors(closed: ClosedJaxpr) -> ClosedJaxpr:
    """(xs -> ys)  ->  (xs -> ys), up to rounding in the derivative phases

    before:  { lambda ; x:f64[n] s:f64[]. let a = mul 2.0 x; b = mul a s; c = neg b; d = mul c 0.5 }
    after:   { lambda ; x:f64[n] s:f64[]. let c:f64[] = neg s; d:f64[n] = mul c x in (d,) }

    A product waits for its single use; one that is used more often is computed where it stands
    (but for a mere change of sign).
    Equations of the primal phase are left as they are.
    """
    uses: Counter[Var] = Counter(
        atom
        for atoms in (*map(_operands, closed.eqns), closed.jaxpr.outvars)
        for atom in atoms
        if isinstance(atom, Var)
    )

    # What is returned is computed where it stands, so that it has the phase and the line of there.
    results = {atom for atom in closed.jaxpr.outvars if isinstance(atom, Var)}

    def step(eqn: JaxprEqn, operands: Sequence[Any]) -> Sequence[Any]:
        found = None
        if _may_reassociate(eqn):
            (var,) = eqn.outvars
            # What is used more than once and made of finished values stands as it is, but for
            # a change of sign, which costs nothing to absorb.
            if (
                uses[var] == 1
                or eqn.primitive.name in ("neg", "add_any")
                or any(isinstance(operand, Product) for operand in operands)
                or all(map(is_number, operands))
            ):
                # What is read only here need not be computed by itself.
                parts = [
                    _taken_apart(x) if isinstance(atom, Var) and uses[atom] == 1 else x
                    for atom, x in zip(eqn.invars, operands, strict=True)
                ]
                found = _product(eqn, parts) or _like_terms(eqn, operands, uses)
        if found is None:
            values = [_computed(operand) for operand in operands]
            if eqn.primitive.multiple_results or not eqn.invars:
                return copy_equation(eqn, values)
            result = bind(eqn.primitive, *values)
            hand_on_names([result], eqn.outvars)
            return [result]
        (var,) = eqn.outvars
        if var.name is not None:
            found.name = var.name
        waits = var not in results and (
            uses[var] == 1 or found.is_negation or (found.is_constant and not found.aval.shape)
        )
        return [found if waits else found.compute()]

    return rewrite(closed, step, folding=True, result=_computed)


def _operands(eqn: JaxprEqn) -> Iterable[Atom]:
    """The operands, each once where a value plus itself is twice the value."""
    is_double = eqn.primitive.name in ("add", "add_any") and eqn.invars[0] is eqn.invars[1]
    return eqn.invars[:1] if is_double else eqn.invars


def _may_reassociate(eqn: JaxprEqn) -> bool:
    return (
        eqn.phase != "primal"
        and not eqn.primitive.multiple_results
        and eqn.outvars[0].aval.dtype.kind == "f"
    )


def _computed(operand: Any) -> Value:
    return operand.compute() if isinstance(operand, Product) else operand


def _taken_apart(operand: Any) -> Any:
    """A multiple of a reciprocal, such as the user's `1 / x`, as a product; others as they are."""
    if not isinstance(operand, Tracer):
        return operand
    found = defined_by(operand, Div, operand.builder.producer)
    if found is None or not is_number(found[1][0]) or not number(found[1][0]):
        return operand
    above, below = found[1]
    return Product(aval(operand), float(number(above)), (), (below,))


def _product(eqn: JaxprEqn, operands: Sequence[Any]) -> Product | None:
    """The result of an equation as a product, or None if it is not one."""
    result = eqn.outvars[0].aval
    match eqn.primitive.name, operands:
        case "mul", (x, y):
            product = factored(x).times(factored(y), result)
            return product if product.coefficient else Product(result, 0.0)
        case "div", (x, y) if factored(y).coefficient != 0.0:
            return factored(x).over(factored(y), result)
        case "neg", (x,):
            return factored(x).scaled(-1.0)
        case (("add" | "add_any"), (x, y)):
            return _sum(eqn, x, y, 1.0)
        case "sub", (x, y):
            return _sum(eqn, x, y, -1.0)
        case "broadcast_in_dim", (x,) if isinstance(x, Product) and x.is_number:
            return x.of_type(result)
        case "convert_element_type", (x,) if (
            isinstance(x, Product) and x.aval.dtype == result.dtype
        ):
            return x.of_type(result)
        case "reduce_sum", (x,) if isinstance(x, Product) and _is_inner(eqn, x):
            return _inner(eqn, x)
        case (("broadcast_in_dim" | "reduce_sum" | "transpose" | "reshape" | "squeeze"), (x,)):
            return _pulled_out(eqn, operands)
        case "dot_general", (_, _):
            return _pulled_out(eqn, operands)
        case _:
            return None


def _pulled_out(eqn: JaxprEqn, operands: Sequence[Any]) -> Product | None:
    """A linear operation applied to the arrays alone, the numbers in front of it."""
    if not any(isinstance(operand, Product) for operand in operands):
        return None
    result = eqn.outvars[0].aval
    front = Product(result)
    values: list[Value] = []
    for operand in operands:
        if isinstance(operand, Product) and operand.aval.shape:
            cheap, rest = operand.split()
            if rest.numerators:
                front = front.times(cheap, result)
                values.append(_plain(rest))
                continue
        values.append(_computed(operand))
    if front.is_one:
        return None
    return front.times(Product(result, 1.0, (bind(eqn.primitive, *values),)), result)


def _is_inner(eqn: JaxprEqn, x: Product) -> bool:
    """Whether a sum over the last axis, or over all, is one of products of arrays; or over any
    axes, if an array is one of these axes alone."""
    arrays = [factor for factor in x.numerators if aval(factor).shape]
    axes, rank = cast(ReduceSum, eqn.primitive).axes, x.aval.ndim
    last_or_all = axes == (rank - 1,) or len(axes) == rank
    inner = last_or_all or any(_along(factor, axes) is not None for factor in arrays)
    return inner and len(arrays) > 1 and not any(aval(d).shape for d in x.denominators)


def _inner(eqn: JaxprEqn, x: Product) -> Product:
    """The sum of products as an inner product: no array of the products is made."""
    front, rest = x.split()
    *others, last = rest.numerators
    axes = cast(ReduceSum, eqn.primitive).axes
    result = eqn.outvars[0].aval
    for factor in rest.numerators:
        row = _along(factor, axes)
        if row is not None and len(axes) < x.aval.ndim:
            left = Product(x.aval, 1.0, _without(rest.numerators, factor)).compute()
            value = dot_general(left, row, ((axes, tuple(range(len(axes)))), ((), ())))
            return front.times(Product(result, 1.0, (value,)), result)
    batch = tuple(axis for axis in range(x.aval.ndim) if axis not in axes)
    left = Product(x.aval, 1.0, tuple(others)).compute()
    value = dot_general(left, last, ((axes, axes), (batch, batch)))
    return front.times(Product(result, 1.0, (value,)), result)


def _along(factor: Value, axes: Sequence[int]) -> Value | None:
    """What an array repeats along all axes but the given ones; None if it is no such array."""
    if not isinstance(factor, Tracer):
        return None
    found = defined_by(factor, BroadcastInDim, factor.builder.producer)
    if found is None or found[0].broadcast_dimensions != tuple(axes):
        return None
    sizes = [factor.aval.shape[axis] for axis in axes]
    return found[1][0] if same_shape(aval(found[1][0]).shape, sizes) else None


def _sum(eqn: JaxprEqn, x: Any, y: Any, sign: float) -> Product | None:
    """A sum of multiples of one value, or one whose terms have factors in front: a common factor
    is taken out, or it becomes a difference."""
    numbers = is_number(x) and is_number(y)
    if not (isinstance(x, Product) or isinstance(y, Product) or is_same(x, y) or numbers):
        return None
    a, b = factored(x), factored(y).scaled(sign)
    if a.is_constant and b.is_constant:
        return Product(eqn.outvars[0].aval, a.coefficient + b.coefficient)
    if not a.coefficient or not b.coefficient:
        return (b if not a.coefficient else a).of_type(eqn.outvars[0].aval)
    for p, q in ((a, b), (expanded(a), expanded(b))):
        if _are_multiples(p, q):
            return _multiples(p, q)
    if a.aval.shape != b.aval.shape or not (a.numerators and b.numerators):
        return None
    chosen = _choice(a, b)
    if chosen is not None:
        hand_on_names([chosen], eqn.outvars)
        return Product(eqn.outvars[0].aval, 1.0, (chosen,))
    a_front, a_rest = a.split()
    b_front, b_rest = b.split()
    result = eqn.outvars[0].aval
    is_sign = a_front.is_constant and abs(a_front.coefficient) == 1.0
    if same_product(a_front, b_front) and not is_sign:
        total = add_any(_plain(a_rest), _plain(b_rest))
    elif same_product(a_front, b_front.scaled(-1.0)) and not is_sign:
        if a_front.coefficient < 0:
            a_front, a_rest, b_rest = b_front, b_rest, a_rest
        total = sub(_plain(a_rest), _plain(b_rest))
    elif b_front.coefficient < 0:
        return _difference(eqn, a, b.scaled(-1.0))
    elif a_front.coefficient < 0:
        return _difference(eqn, b, a.scaled(-1.0))
    else:
        return None
    return a_front.times(Product(result, 1.0, (total,)), result)


def _like_terms(eqn: JaxprEqn, operands: Sequence[Any], uses: Counter[Var]) -> Product | None:
    """A sum of a sum and a multiple of one of its terms: `a + x + x` as `a + 2.0 * x`."""
    if not isinstance(eqn.primitive, AddAny):
        return None
    for atom, total, term in zip(eqn.invars, operands, reversed(operands), strict=True):
        if not isinstance(total, Tracer) or not isinstance(atom, Var) or uses[atom] > 1:
            continue
        found = defined_by(total, AddAny, total.builder.producer)
        if found is None:
            continue
        for like, other in (found[1], reversed(found[1])):
            both = expanded(factored(like)), expanded(factored(term))
            if _are_multiples(*both) and like.aval.shape == term.aval.shape:
                value = add_any(other, _multiples(*both).compute())
                return Product(eqn.outvars[0].aval, 1.0, (value,))
            together = _with_number_in_front(like, term)
            if together is not None:
                value = add_any(other, together)
                return Product(eqn.outvars[0].aval, 1.0, (value,))
    return None


def _with_number_in_front(like: Value, term: Any) -> Value | None:
    """The sum of arrays that are multiplied with the same number, multiplied once."""
    if not isinstance(like, Tracer) or not isinstance(term, Product):
        return None
    found = defined_by(like, Mul, like.builder.producer)
    front, rest = term.split()
    if found is None or front.coefficient != 1.0 or front.denominators or not rest.numerators:
        return None
    factor, array = found[1]
    if aval(factor).shape or not same_shape(aval(array).shape, term.aval.shape):
        return None
    if len(front.numerators) != 1 or not is_same(front.numerators[0], factor):
        return None
    return mul(factor, add_any(array, _plain(rest)))


def _are_multiples(p: Product, q: Product) -> bool:
    """Whether two products are the same but for a constant."""
    return same_product(p.scaled(q.coefficient), q.scaled(p.coefficient)) and not p.is_constant


def _multiples(p: Product, q: Product) -> Product:
    """The sum of products that are the same but for a constant."""
    return Product(p.aval, p.coefficient + q.coefficient, p.numerators, p.denominators)


def _choice(a: Product, b: Product) -> Value | None:
    """The sum of multiples of two choices by one condition, of which one is zero where the other is
    not, as a choice of one of the multiples."""
    for factor in a.numerators:
        for other in b.numerators:
            p, q = _with_zero(factor), _with_zero(other)
            if p is None or q is None or not is_same(p[0], q[0]) or p[1] == q[1]:
                continue
            cases = [_instead(a, factor, p[2]), _instead(b, other, q[2])]
            return select_n(p[0], *(cases if p[1] == 0 else reversed(cases)))
    return None


def _with_zero(value: Value) -> tuple[Value, int, Value] | None:
    """The condition of a choice between zero and something else, and where and what that is."""
    found = (
        defined_by(value, SelectN, value.builder.producer) if isinstance(value, Tracer) else None
    )
    if found is None or len(found[1]) != 3:
        return None
    which, *cases = found[1]
    zeros = [is_number(case) and number(case) == 0 for case in cases]
    return (which, zeros.index(False), cases[zeros.index(False)]) if sum(zeros) == 1 else None


def _instead(product: Product, factor: Value, case: Value) -> Value:
    """A product with something else in place of a factor."""
    others = _without(product.numerators, factor)
    rest = Product(product.aval, product.coefficient, others, product.denominators)
    return rest.times(factored(case), product.aval).compute()


def _without(factors: Sequence[Value], factor: Value) -> tuple[Value, ...]:
    """The other factors. One that is there twice stays there once."""
    place = next(i for i, other in enumerate(factors) if other is factor)
    return (*factors[:place], *factors[place + 1 :])


def _difference(eqn: JaxprEqn, a: Product, b: Product) -> Product:
    value = sub(a.compute(), b.compute())
    hand_on_names([value], eqn.outvars)
    return Product(eqn.outvars[0].aval, 1.0, (value,))


def _plain(product: Product) -> Value:
    product.name = None
    return product.compute()
