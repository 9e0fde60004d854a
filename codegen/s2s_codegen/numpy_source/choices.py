"""A choice between an array and a number, written into the array where nothing else needs it.

y = np.where(y < 0.0, 0.1, y)   ->   y[y < 0.0] = 0.1
"""

from __future__ import annotations

from s2s.ir.dims import same_shape
from s2s.ir.jaxpr import Atom, JaxprEqn, Var
from s2s.primitive import Precedence
from s2s.primitives.core import BroadcastInDim
from s2s.primitives.logic import SelectN
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.write import Writer, write


@write.register
def write_choice(primitive: SelectN, eqn: JaxprEqn, writer: Writer) -> None:
    """Write an assignment to the elements that are to be the number, or else the choice."""
    (var,), scope = eqn.outvars, writer.scope
    which, *cases = eqn.invars
    mask = _mask(which, var, scope)
    if mask is None or len(cases) != 2 or var in scope.plan.copied:
        writer.assign(eqn, scope.spell(eqn))
        return
    for base, number, negated in ((cases[0], cases[1], False), (cases[1], cases[0], True)):
        text = scope.expression(number)
        if text.shape == () and writer.may_be_overwritten(base, var):
            assert isinstance(base, Var)
            name = scope.names[base]
            scope.names.hold(var, name)
            writer.hand_on(base, var)
            index = scope.expression(mask)
            inside = f"~{index.within(Precedence.UNARY)}" if negated else index.text
            writer.line(f"{name}[{inside}] = {text.text}")
            return
    writer.assign(eqn, scope.spell(eqn))


def _mask(which: Atom, var: Var, scope: Scope) -> Atom | None:
    """What tells the elements apart, along the first axes of the result; None if it is one truth
    value, or repeated along the first axes."""
    made = scope.definition(which)
    if made is not None and isinstance(made.primitive, BroadcastInDim):
        axes = made.primitive.broadcast_dimensions
        (which,) = made.invars
        if axes != tuple(range(which.aval.ndim)):
            return None
    shape = which.aval.shape
    return which if shape and same_shape(shape, var.aval.shape[: len(shape)]) else None
