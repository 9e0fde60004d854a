"""The types of a transformed function's arguments, from what is known about the user's function.

`--args` speaks of the function that is generated. Annotations, examples and defaults speak of the
user's own function: where `vmap` makes a batch of an argument they get one axis more, and `jvp`
adds a direction for each argument that it differentiates.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from s2s.api.batching import Vmap
from s2s.api.derivatives import JvpFunction
from s2s.api.transformed import Transformed, function_name, signature
from s2s.errors import UserError
from s2s.frontend.argument_types.collect import ArgumentTypes
from s2s.frontend.argument_types.types import ArgumentType, render, type_of_example
from s2s.ir.dims import Dim, Size, dimension, names_of, same_size
from s2s.ir.jaxpr import ShapedArray
from s2s.tree import flatten, unflatten


def users_function(fun: Callable[..., Any]) -> Callable[..., Any]:
    """The function of the user's that a composition of transformations starts from."""
    while isinstance(fun, Transformed):
        fun = fun.fun
    return fun


def outer_types(
    fun: Callable[..., Any], types: Mapping[str, ArgumentType], given: Collection[str]
) -> dict[str, ArgumentType]:
    """The types of the arguments of `fun`, from those of the user's function in it.

    Those of the parameters in `given` speak of `fun` already. Raises UserError if `vmap` needs a
    type that is not known.
    """
    if not isinstance(fun, Transformed):
        return dict(types)
    inner = outer_types(fun.fun, types, given)
    if isinstance(fun, JvpFunction):
        dots = {f"{name}_dot": argument for name, argument in inner.items()}
        inner = {name: inner.get(name, dots.get(name)) for name in fun.signature.parameters}
    if isinstance(fun, Vmap):
        return _batched(fun, inner, given)
    return inner


def kept_sizes(found: ArgumentTypes, types: Mapping[str, ArgumentType]) -> str:
    """A note about the arguments that keep a size of the example; empty if there are none.

    `types` are the types in `found`, generalised.
    """
    kept = [
        f"{name}: {render(argument)}"
        for name, argument in types.items()
        if found.types[name] is found.examples.get(name)
        and any(
            isinstance(size, int) and size > 1
            for leaf in flatten(argument)[0]
            if isinstance(leaf, ShapedArray)
            for size in leaf.shape
        )
    ]
    return f"sizes of the example are kept, as they are needed: {', '.join(kept)}" if kept else ""


def are_of_types(values: Mapping[str, Any], types: Mapping[str, ArgumentType]) -> bool:
    """Whether values are arguments of these types: some value for each named dimension."""
    if not types.keys() <= values.keys():
        return False
    for name, argument in types.items():
        leaves, structure = flatten(argument)
        shown, its_structure = flatten(type_of_example(values[name]))
        if structure != its_structure or not all(map(_is_instance, shown, leaves)):
            return False
    return True


def _is_instance(example: Any, leaf: Any) -> bool:
    if not isinstance(leaf, ShapedArray) or not isinstance(example, ShapedArray):
        return example == leaf
    return (
        (example.dtype, example.weak_type, example.ndim) == (leaf.dtype, leaf.weak_type, leaf.ndim)
        and all(map(_is_possible, example.shape, leaf.shape))
    )  # fmt: skip


def _is_possible(number: Size, size: Size) -> bool:
    return isinstance(size, Dim) or same_size(number, size)


def _batched(
    fun: Vmap, types: Mapping[str, ArgumentType], given: Collection[str]
) -> dict[str, ArgumentType]:
    missing = [name for name in signature(fun.fun).parameters if name not in types]
    if missing:
        raise UserError(
            f"vmap of `{function_name(fun.fun)}` needs the type of {', '.join(missing)}; "
            f'give it with --args "{missing[0]}: ..."'
        )
    axes = fun.axes_of_parameters(types)
    leaves = {name: flatten(argument) for name, argument in types.items()}
    size = next(
        (
            leaf.shape[axis]
            for name in types
            if name in given
            for leaf, axis in zip(leaves[name][0], axes[name], strict=True)
            if isinstance(leaf, ShapedArray) and axis is not None and axis < leaf.ndim
        ),
        None,
    )
    if size is None:
        size = _new_dimension(types.values())
    return {
        name: argument
        if name in given
        else unflatten(
            leaves[name][1],
            [
                _with_axis(leaf, size, axis)
                for leaf, axis in zip(leaves[name][0], axes[name], strict=True)
            ],
        )
        for name, argument in types.items()
    }


def _with_axis(leaf: Any, size: Size, axis: int | None) -> Any:
    if not isinstance(leaf, ShapedArray) or axis is None:
        return leaf
    place = axis if axis >= 0 else axis + leaf.ndim + 1
    return ShapedArray((*leaf.shape[:place], size, *leaf.shape[place:]), leaf.dtype)


def _new_dimension(types: Collection[ArgumentType]) -> Size:
    """The dimension `batch`, or `batch2` if there is one of that name already."""
    used = {
        name
        for leaf in flatten(list(types))[0]
        if isinstance(leaf, ShapedArray)
        for size in leaf.shape
        for name in names_of(size)
    }
    candidates = ("batch" if i == 1 else f"batch{i}" for i in range(1, len(used) + 2))
    return dimension(next(name for name in candidates if name not in used))
