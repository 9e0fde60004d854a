"""Arguments and results as arrays by name, as .npz files have them.

f(params: {w: f64[3], b: f64[]}, x: f64[3])   has   params.w, params.b, x
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from s2s.errors import UserError
from s2s.frontend.argument_types.types import render_array
from s2s.tree import flatten, leaf_paths, unflatten
from s2s_codegen.stablehlo.signature import Fixed, Signature


def arguments_from(
    signature: Signature, arrays: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments from arrays by name.

    Raises UserError for arrays that are missing and for others that have no place.
    """
    remaining = dict(arrays)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in signature.parameters:
        if parameter.is_fixed:
            continue
        leaves, structure = flatten(parameter.type)
        names = [_dotted(parameter.name, path) for path in leaf_paths(structure)]
        values: list[Any] = []
        for name, leaf in zip(names, leaves, strict=True):
            if isinstance(leaf, Fixed):
                raise UserError(
                    f"{signature.name}: `{name}` was fixed to {leaf.text} within a container, so "
                    "the arguments cannot come from a file of arrays; use s2s.load_artifact."
                )
            if name not in remaining and parameter.default is not None:
                values.append(parameter.default)
                continue
            if name not in remaining:
                known = ", ".join(arrays) or "none"
                raise UserError(
                    f"{signature.name}: the inputs have no array {name} ({render_array(leaf)}); "
                    f"there are {known}."
                )
            array = remaining.pop(name)
            is_number = leaf.weak_type and array.ndim == 0
            values.append(array.item() if is_number else array[()])
        value = unflatten(structure, values)
        if parameter.stars == "*":
            positional += value
        elif parameter.stars == "**":
            named |= value
        else:
            named[parameter.name] = value
    if remaining:
        raise UserError(
            f"{signature.name}: the inputs have an array {next(iter(remaining))}, which is no "
            f"argument. It is {signature}."
        )
    return positional, named


def named_results(result: Any) -> dict[str, Any]:
    """The arrays of a result by name: `result`, or `result.loss` and so on for its parts."""
    leaves, structure = flatten(result)
    names = [_dotted("result", path) for path in leaf_paths(structure)]
    return {name: np.asarray(leaf) for name, leaf in zip(names, leaves, strict=True)}


def _dotted(name: str, path: tuple[Any, ...]) -> str:
    return ".".join([name, *map(str, path)])
