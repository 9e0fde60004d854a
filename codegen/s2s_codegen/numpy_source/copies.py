"""Copies that are none: of what a loop has put into a new array, which nothing else needs.

traj = np.array(traj)                        # a list that a loop has made
traj = traj.copy()            ->
"""

from __future__ import annotations

from s2s.ir.jaxpr import JaxprEqn, Var
from s2s.primitives.identity import Copy
from s2s_codegen.numpy_source.write import Writer, write


@write.register
def write_copy(primitive: Copy, eqn: JaxprEqn, writer: Writer) -> None:
    """Write the copy of an array, unless the array itself can be it."""
    (array,), (var,) = eqn.invars, eqn.outvars
    if isinstance(array, Var) and array in writer.stacked and writer.can_become(array, var):
        writer.scope.names.hold(var, writer.scope.names[array])
        writer.owned.add(var)
    else:
        writer.assign(eqn, writer.scope.spell(eqn))
