"""What a function leaves in its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from s2s.api.batching import Vmap
from s2s.api.transformed import Transformed, signature
from s2s.frontend.argument_types.collect import bind
from s2s.tree import flatten, tree_map, unflatten
from s2s.verify.findings import Findings
from s2s.verify.laws import Values, axes_of, copied_leaf, inner_arguments, row_of_arguments


def copied(args: Values) -> dict[str, Any]:
    """The same arguments, of which no array and no container is shared."""
    return tree_map(copied_leaf, dict(args))


def check_left(
    fun: Callable[..., Any],
    left: Values,
    before: Values,
    changes: Sequence[str],
    findings: Findings,
) -> None:
    """Compare what a generated function left in its arguments with what the user's leaves there.

    Raises Disagreement. `changes` names the parameters that may differ from before.
    """
    expected = {**before, **_left_by_user(fun, before)}
    for name in before:
        wanted = expected[name] if name in changes else before[name]
        findings.compare_values(f"what is left in {name}", left[name], wanted)


def _left_by_user(fun: Callable[..., Any], args: Values) -> Mapping[str, Any]:
    """The arguments as the user's function inside of a transformed one leaves them; those of a
    batch as one call for each row does."""
    if isinstance(fun, Vmap):
        return _rows_left(fun, args)
    if isinstance(fun, Transformed):
        return _left_by_user(fun.fun, inner_arguments(fun, args))
    given = copied(args)
    positional, by_keyword = bind(signature(fun), given)
    fun(*positional, **by_keyword)
    return given


def _rows_left(fun: Vmap, args: Values) -> Mapping[str, Any]:
    axes = axes_of(fun, args)
    leaves = {name: flatten(argument) for name, argument in args.items()}
    size = next(
        np.shape(leaf)[axis]
        for name, (parts, _) in leaves.items()
        for leaf, axis in zip(parts, axes[name], strict=True)
        if axis is not None
    )
    rows = [_left_by_user(fun.fun, row_of_arguments(axes, args, i)) for i in range(size)]
    return {
        name: unflatten(
            structure,
            [
                parts[0] if axis is None else np.stack(parts, axis)
                for axis, *parts in zip(
                    axes[name], *[flatten(row[name])[0] for row in rows], strict=True
                )
            ],
        )
        for name, (_, structure) in leaves.items()
    }
