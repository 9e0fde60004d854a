"""Linear algebra. NumPy broadcasts stacks of matrices, so what is repeated stands as it is."""

from __future__ import annotations

from s2s.ir.dims import same_shape
from s2s.ir.jaxpr import Atom, JaxprEqn
from s2s.primitives.inverses import Solve, TriangularSolve
from s2s_codegen.numpy_source.expression import Expression, attribute, call
from s2s_codegen.numpy_source.scope import Scope
from s2s_codegen.numpy_source.spell.dispatch import spell


@spell.register(Solve)
@spell.register(TriangularSolve)
def spell_solve(primitive: Solve | TriangularSolve, eqn: JaxprEqn, scope: Scope) -> Expression:
    """`np.linalg.solve(a, b)`, where one of the two may be the same for the whole stack."""
    a, b = (_matrices(atom, scope) for atom in eqn.invars)
    if a.shape is not None and b.shape is not None:
        a = scope.broadcast(a, eqn.invars[0])
    if isinstance(primitive, TriangularSolve) and primitive.transpose_a:
        a = attribute(a, "T" if eqn.invars[0].aval.ndim == 2 else "mT")
    return call("np.linalg.solve", a, b)


def _matrices(atom: Atom, scope: Scope) -> Expression:
    """An operand with all of its rows and columns; its stack may be smaller than its type says."""
    found = scope.expression(atom)
    if found.shape is not None and len(found.shape) >= 2:
        if same_shape(found.shape[-2:], atom.aval.shape[-2:]):
            return found
    return scope.broadcast(found, atom)
