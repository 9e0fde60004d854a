"""vmap."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from s2s.api.parameters import and_list
from s2s.api.transformed import Arguments, Transformed, function_name
from s2s.errors import UserError
from s2s.ir.dims import Size, require_same
from s2s.ir.jaxpr import ShapedArray
from s2s.tree import flatten, unflatten

if TYPE_CHECKING:
    from s2s.frontend.argument_types.types import ArgumentType
    from s2s.frontend.traced import Traced
    from s2s.primitive import BatchAxis

Axes = Any
"""An int, None, or a container of these: a prefix of the arguments' or results' structure."""


class Vmap(Transformed):
    """See `vmap`."""

    suffix = "vmap"

    def __init__(self, fun: Callable[..., Any], in_axes: Axes, out_axes: Axes) -> None:
        super().__init__(fun)
        self.in_axes = in_axes
        self.out_axes = out_axes

    def trace(self, arguments: Arguments) -> Traced:
        # These import much, which a function that is compiled already does without.
        from s2s.api.tracing import trace
        from s2s.control.masked import masked
        from s2s.passes.vmap import vmap as vmap_pass

        axes = self.axes_of_parameters(arguments)
        size: Size | None = None
        examples: dict[str, ArgumentType] = {}
        for name, argument in arguments.items():
            leaves, structure = flatten(argument)
            parts: list[Any] = []
            for leaf, axis in zip(leaves, axes[name], strict=True):
                if not isinstance(leaf, ShapedArray) or axis is None:
                    parts.append(leaf)
                    continue
                if not -leaf.ndim <= axis < leaf.ndim:
                    raise UserError(
                        f"vmap of `{function_name(self.fun)}` over axis {axis} of `{name}`: its "
                        f"type {leaf} has {leaf.ndim} axes."
                    )
                found = leaf.shape[axis]
                if size is not None and not require_same(size, found):
                    raise UserError(
                        f"vmap of `{function_name(self.fun)}`: the mapped axes differ in size: "
                        f"{found} in `{name}` but {size} before it. Give the same size, or "
                        f"exclude an argument with None in in_axes."
                    )
                size = found
                axis %= leaf.ndim
                shape = (*leaf.shape[:axis], *leaf.shape[axis + 1 :])
                parts.append(ShapedArray(shape, leaf.dtype))
            examples[name] = unflatten(structure, parts)
        if size is None:
            raise UserError(
                f"vmap of `{function_name(self.fun)}` needs an axis to map over: in_axes must not "
                f"be None for all arguments."
            )
        traced = trace(self.fun, examples)
        flat_axes = [
            None if axis is None else axis % leaf.ndim
            for name in arguments
            for leaf, axis in zip(flatten(arguments[name])[0], axes[name], strict=True)
            if isinstance(leaf, ShapedArray)
        ]
        out_axes = [
            *self._out_axes(traced, traced.result.num_leaves),
            *self._left_axes(traced, flat_axes),
        ]
        try:
            closed, _ = vmap_pass(masked(traced.closed), size, flat_axes, out_axes)
        except ValueError as error:
            raise UserError(f"vmap of `{function_name(self.fun)}`: {error}.") from None
        return dataclasses.replace(
            traced,
            closed=closed,
            parameters=tuple(
                parameter.with_leaves(
                    [leaf for leaf in flatten(arguments[parameter.name])[0]
                     if isinstance(leaf, ShapedArray)]
                )
                for parameter in traced.parameters
            ),
        )  # fmt: skip

    def axes_of_parameters(self, arguments: Arguments) -> dict[str, list[BatchAxis]]:
        """For each parameter, an axis for each leaf of its argument."""
        names = list(arguments)
        in_axes: object = self.in_axes
        by_name: dict[str, Axes] = dict.fromkeys(names, in_axes)
        if isinstance(in_axes, dict):
            named = cast("dict[str, Axes]", in_axes)
            # Otherwise it is a container that is a prefix of each argument.
            if named.keys() <= set(names):
                by_name = {**dict.fromkeys(names), **named}
        elif isinstance(in_axes, (tuple, list)):
            given = cast("Sequence[Axes]", in_axes)
            if len(given) > len(names):
                raise UserError(
                    f"vmap of `{function_name(self.fun)}`: in_axes has {len(given)} entries for "
                    f"the {len(names)} parameters {', '.join(names)}."
                )
            by_name = {**dict.fromkeys(names), **dict(zip(names, given, strict=False))}
        return {
            name: axis_of_each_leaf(by_name[name], arguments[name], f"in_axes for `{name}`")
            for name in names
        }

    def _out_axes(self, traced: Traced, count: int) -> list[BatchAxis]:
        avals = traced.closed.out_avals[:count]
        axes = axis_of_each_leaf(self.out_axes, unflatten(traced.result, avals), "out_axes")
        return [
            None if axis is None else axis % (aval.ndim + 1)
            for axis, aval in zip(axes, avals, strict=True)
        ]

    def _left_axes(self, traced: Traced, axes: Sequence[BatchAxis]) -> list[BatchAxis]:
        """The axes of what is left in the arguments: those of the arguments."""
        names = [parameter.name for parameter in traced.parameters]
        slices = dict(zip(names, traced.parameter_slices(), strict=True))
        places = [slices[left.parameter].start + left.leaf for left in traced.left]
        found: list[BatchAxis] = [axes[place] for place in places]
        for axis, left in zip(found, traced.left, strict=True):
            if axis is None:
                from s2s.api.tracing import definition

                raise UserError(
                    f"vmap of `{function_name(self.fun)}` with --keep-mutation: the function "
                    f"changes `{left.parameter}`, which is the same for all examples. Map it too, "
                    "or work on a copy.",
                    definition(traced),
                )
        return found

    def describe(self, traced: Traced) -> str:
        mapped = [
            name
            for name, axes in self.axes_of_parameters(
                {parameter.name: parameter.type for parameter in traced.parameters}
            ).items()
            if any(axis is not None for axis in axes)
        ]
        inner = (
            self.fun.describe(traced).removesuffix(".")
            if isinstance(self.fun, Transformed)
            else f"`{function_name(self.fun)}`"
        )
        rows = "each row of" if self._maps_first_axis() else "each entry along the mapped axis of"
        return f"{inner}, for {rows} {and_list(mapped)}."

    def _maps_first_axis(self) -> bool:
        axes = flatten(self.in_axes)[0]
        return all(axis == 0 for axis in axes)


def axis_of_each_leaf(axes: Axes, tree: Any, what: str) -> list[BatchAxis]:
    """An axis for each leaf of `tree`, from a container of axes that is a prefix of it."""
    found: list[BatchAxis] = []

    def visit(node: Axes, subtree: Any) -> None:
        if node is None or isinstance(node, int):
            count = len(flatten(subtree)[0])
            found.extend([node] * count)
            return
        keys, structure = _level(node)
        sub_keys, sub_structure = _level(subtree)
        if structure is not sub_structure or set(keys) != set(sub_keys):
            raise UserError(f"{what}: {node!r} does not fit the structure {flatten(subtree)[1]}.")
        for key, child in sub_keys.items():
            visit(keys[key], child)

    visit(axes, tree)
    return found


def _level(node: Any) -> tuple[dict[Any, Any], type | None]:
    """The children of one container by key, and its class; no children for a leaf."""
    parts, structure = flatten(node, is_leaf=lambda part: part is not node)
    return dict(zip(structure.keys, parts, strict=True)), structure.kind


def vmap(fun: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0) -> Transformed:
    """The function of a batch: `fun` for each example, without a loop.

    Args:
        fun: a function of one example.
        in_axes: which axis of each argument counts the examples; None for an argument that is the
            same for all. An int for all arguments, or a sequence with one entry for each parameter
            (those left out are None), or a dict by parameter name; entries may be containers that
            are a prefix of the argument's structure.
        out_axes: where the axis is put in the results, in the same way.

    Returns:
        A function of the same parameters. Static arguments are not mapped.
    """
    return Vmap(fun, in_axes, out_axes)
