"""What is known about one argument before the function is traced.

The type of an argument is a pytree whose leaves are `ShapedArray` (a value that is traced) or
`Static` (a value that is fixed when the module is made). An argument without anything to trace is
one `Static`, whatever its structure.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from s2s.ir.dtypes import PYTHON_SCALARS, SHORT_NAMES
from s2s.ir.jaxpr import ShapedArray, aval_of
from s2s.tree import flatten, unflatten


class Static:
    """An argument, or a part of one, that is fixed to `value` in the generated module.

    A leaf of pytrees, hence no dataclass.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self.value == other.value

    def __hash__(self) -> int:
        return hash((Static, self.value))

    def __repr__(self) -> str:
        return f"Static({self.value!r})"


class Missing:
    """A part of an argument whose type is not known in full: `f64[...]` as far as it is."""

    __slots__ = ("placeholder", "why")

    def __init__(self, placeholder: str, why: str = "") -> None:
        self.placeholder = placeholder
        self.why = why


ArgumentType: TypeAlias = Any
"""A pytree of `ShapedArray` and `Static` leaves."""


def as_numpys(value: Any) -> Any:
    """An array of another library, or of a device, as NumPy's; anything else as it is."""
    kind = cast("Any", type(value))
    is_numpys = issubclass(kind, (np.ndarray, np.generic))
    return np.asarray(value) if hasattr(kind, "__array__") and not is_numpys else value


def place_of(name: str, path: Sequence[Hashable]) -> str:
    """What a user calls a part of an argument: `params['w']`, between backticks."""
    return f"`{name}{''.join(f'[{key!r}]' for key in path)}`"


def type_of_example(value: Any) -> ArgumentType:
    """The type of an argument given by an example of it, such as a default.

    Arrays, NumPy scalars and Python floats are traced. Integers, booleans, strings, functions and
    other objects of Python's are static: they count steps, choose options, and name things.
    Raises TypeError for arrays whose elements are not numbers.
    """
    leaves, structure = flatten(value)
    return simplified(unflatten(structure, [_type_of_leaf(leaf) for leaf in leaves]))


def _type_of_leaf(value: Any) -> ShapedArray | Static:
    if isinstance(value, (np.ndarray, np.generic)) or type(value) in (float, complex):
        return aval_of(value)
    return Static(value)


def simplified(argument: ArgumentType) -> ArgumentType:
    """The same type, as one `Static` if nothing in it is traced."""
    leaves, structure = flatten(argument)
    if isinstance(argument, Static) or not all(isinstance(leaf, Static) for leaf in leaves):
        return argument
    return Static(unflatten(structure, [leaf.value for leaf in leaves]))


def render(argument: ArgumentType) -> str:
    """A type as `--args` reads it: `{a: f64[n], b: [int, float]}`; for a `Static`, its value."""
    if isinstance(argument, ShapedArray):
        return render_array(argument)
    if isinstance(argument, Static):
        return repr(argument.value)
    if isinstance(argument, Missing):
        return argument.placeholder
    parts, structure = flatten(argument, is_leaf=lambda node: node is not argument)
    texts = [render(part) for part in parts]
    kind = structure.kind
    if kind is None or kind is type(None):
        return "None"
    if kind is list:
        return f"[{', '.join(texts)}]"
    if kind is tuple:
        return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"
    if issubclass(kind, dict):
        items = zip(structure.keys, texts, strict=True)
        return "{" + ", ".join(f"{_render_key(key)}: {text}" for key, text in items) + "}"
    items = zip(structure.keys, texts, strict=True)
    return f"{kind.__name__}({', '.join(f'{key}={text}' for key, text in items)})"


def _render_key(key: Any) -> str:
    return key if isinstance(key, str) and key.isidentifier() else repr(key)


def render_array(aval: ShapedArray) -> str:
    """`f64[n, d]`; `float` for a Python scalar."""
    if aval.weak_type:
        return next(kind.__name__ for kind, dtype in PYTHON_SCALARS.items() if dtype == aval.dtype)
    return f"{SHORT_NAMES[aval.dtype]}[{', '.join(map(str, aval.shape))}]"
