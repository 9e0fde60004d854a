"""How NumPy says each operation well.

`spell` dispatches on the class of the primitive. What has no rule here is said as the primitive
itself says it (`Primitive.spell`), which is always right but may be clumsy.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import cast

from s2s.ir.dims import Dim, Shape, dimension, names_of, same_shape, same_size
from s2s.ir.jaxpr import Atom, JaxprEqn, ShapedArray
from s2s.primitive import Primitive, substitute_in
from s2s_codegen.numpy_source.expression import Expression
from s2s_codegen.numpy_source.scope import Scope


@functools.singledispatch
def spell(primitive: Primitive, eqn: JaxprEqn, scope: Scope) -> Expression:
    """The expression of an equation's result, its operands being of the shape of their types."""
    operands = [scope.whole(atom) for atom in eqn.invars]
    texts = [x.within(primitive.operand_precedence(i)) for i, x in enumerate(operands)]
    for value in primitive.parameters().values():
        _note_sizes(value, scope)
    # A size is called in the text by what it is there: a variable, or a length.
    names = {name: dimension(text) for name, text in scope.size_names.items() if name != text}
    own = primitive.with_sizes(names)
    avals = [atom.aval for atom in eqn.invars]
    shapes = [substitute_in(aval.shape, names) for aval in avals]
    avals = [ShapedArray(s, a.dtype, a.weak_type) for s, a in zip(shapes, avals, strict=True)]
    text = own.spell(texts, avals)
    function = primitive.copied_function
    if function is not None:
        text = scope.callees.copy(function, scope.names) + text.removeprefix(function.__name__)
    return Expression(text, primitive.precedence)


def _note_sizes(value: object, scope: Scope) -> None:
    if isinstance(value, Dim):
        scope.sizes_read.update(names_of(value))
    elif isinstance(value, tuple):
        for item in cast("tuple[object, ...]", value):
            _note_sizes(item, scope)


def joint_shape(own: Shape, atoms: Sequence[Atom], operands: Sequence[Expression]) -> Shape | None:
    """The shape that operands broadcast to; None where it is `own`, that of the result's type."""
    shape: Shape = ()
    for atom, x in zip(atoms, operands, strict=True):
        part = atom.aval.shape if x.shape is None else x.shape
        if same_shape(part, own):
            return None
        if len(part) > len(shape):
            shape, part = part, shape
        at = len(shape) - len(part)
        behind = [b if same_size(a, 1) else a for a, b in zip(part, shape[at:], strict=True)]
        shape = (*shape[:at], *behind)
    return None if same_shape(shape, own) else shape
