"""The places where a mask is true, and how many they are."""

from __future__ import annotations

from s2s.ir.jaxpr import JaxprEqn
from s2s.primitives.counts import NonZero
from s2s_codegen.numpy_source.blocks import outer_expression
from s2s_codegen.numpy_source.write import Writer, write


@write.register
def write_nonzero(primitive: NonZero, eqn: JaxprEqn, writer: Writer) -> None:
    """The places where a mask is true, and their number, as far as they are read."""
    (mask,), (count, *indices) = eqn.invars, eqn.outvars
    names = writer.scope.names
    give = names.give
    read = [index for index in indices if index in writer.scope.plan.last_use]
    if read:
        text = writer.scope.expression(mask).text
        given = [
            give(index, writer.hint(eqn, index), writer.is_dead) if index in read else "_"
            for index in indices
        ]
        function = "np.flatnonzero" if len(given) == 1 else "np.nonzero"
        writer.line(f"{', '.join(given)} = {function}({text})")
        length = f"len({next(name for name in given if name != '_')})"
    else:
        length = f"np.count_nonzero({outer_expression(mask, 'mask', writer).text})"
    size = names.reserve("count")
    names.alias(count, size)
    writer.scope.counted.add(size)
    writer.line(f"{size} = {length}")
    writer.scope.size_names[str(primitive.steps)] = size
