"""The calls of LAPACK that a module may have: jaxlib's routines for the CPU.

Each routine is described once: by its description calls are written, and calls in modules that are
read from files are checked, since a call of other shapes would write outside of its arrays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from s2s.ir.dims import Shape, Size, same_size
from s2s_codegen.stablehlo.text import function_type, tensor

Kind: TypeAlias = "tuple[tuple[Size, ...], str]"
"""What follows the axes of the stack in the shape of an array, and its element type."""

FLOATS = {"s": "f32", "d": "f64"}
"""The element type of a routine, by the letter that its name begins with."""

INTEGER = "i32"


@dataclass(frozen=True)
class Routine:
    """A routine of LAPACK: the types of its arguments and results, for matrices of m x n elements.

    `results` is given m, n and the element type; so is `further`, which says what arguments there
    are beside the matrices. `options` has the values that each option may have.
    """

    results: Callable[[Size, Size, str], list[Kind]]
    further: Callable[[Size, Size, str], list[Kind]] = lambda m, n, element: []
    options: tuple[tuple[str, str], ...] = ()


def _smaller(m: Size, n: Size) -> Size:
    if same_size(m, n):
        return m
    return m if m <= n else n


def _decomposed(m: Size, n: Size, element: str) -> list[Kind]:
    k = _smaller(m, n)
    return [((m, n), element), ((k,), element), ((m, k), element), ((k, n), element), _INFO]


_INFO: Kind = ((), INTEGER)
"""Zero, or what went wrong."""

ROUTINES: dict[str, Routine] = {
    "potrf": Routine(lambda m, n, e: [((m, n), e), _INFO], options=(("uplo", "L"),)),
    "getrf": Routine(lambda m, n, e: [((m, n), e), ((_smaller(m, n),), INTEGER), _INFO]),
    "geqrf": Routine(lambda m, n, e: [((m, n), e), ((_smaller(m, n),), e)]),
    "orgqr": Routine(lambda m, n, e: [((m, n), e)], lambda m, n, e: [((n,), e)]),
    "syevd": Routine(
        lambda m, n, e: [((m, n), e), ((n,), e), _INFO], options=(("mode", "VN"), ("uplo", "LU"))
    ),
    "gesdd": Routine(_decomposed, options=(("mode", "SN"),)),
}
SQUARE = ("potrf", "syevd")
"""The routines that are of square matrices."""

_NAME = re.compile(r"lapack_([sd])([a-z]+)_ffi")


def is_lapack(target: str) -> bool:
    """Whether a custom call is of a routine that modules may call."""
    found = _NAME.fullmatch(target)
    return found is not None and found[2] in ROUTINES


def target_of(letter: str, routine: str) -> str:
    """What jaxlib calls a routine."""
    return f"lapack_{letter}{routine}_ffi"


def call_text(
    letter: str,
    routine: str,
    stack: Shape,
    m: Size,
    n: Size,
    options: str,
    open_sizes: bool = False,
) -> tuple[str, list[Kind]]:
    """What stands behind the operands of a call, as MLIR prints it, and the types of its results.

    `options` has the letter of each option of the routine. With `open_sizes` the operands are
    followed by the shape of each result, which go when the sizes are given.
    """
    described, element = ROUTINES[routine], FLOATS[letter]
    operands = [((m, n), element), *described.further(m, n, element)]
    results = described.results(m, n, element)
    taken, returned = _types(operands, stack), _types(results, stack)
    layouts = _layouts(operands, stack)
    attributes = {"api_version": "4 : i32"}
    given = zip(described.options, options, strict=True)
    config = ", ".join(f"{name} = {ord(value)} : ui8" for (name, _), value in given)
    if config:
        attributes["backend_config"] = f"{{{config}}}"
    if open_sizes:
        places = range(len(operands), len(operands) + len(results))
        one = len(results) == 1
        listed = f"dense<{places[0] if one else list(places)}> : tensor<{len(results)}xi64>"
        attributes["indices_of_shape_operands"] = listed
        taken += [f"tensor<{len(stack) + len(shape)}xi32>" for shape, _ in results]
        layouts += [_layout([0])] * len(results)
    attributes["operand_layouts"] = f"[{', '.join(layouts)}]"
    attributes["result_layouts"] = f"[{', '.join(_layouts(results, stack))}]"
    listed = ", ".join(f"{name} = {value}" for name, value in attributes.items())
    return f"{{{listed}}} : {function_type(taken, returned)}", results


def _types(kinds: Sequence[Kind], stack: Shape) -> list[str]:
    return [tensor((*stack, *shape), element) for shape, element in kinds]


def _layouts(kinds: Sequence[Kind], stack: Shape) -> list[str]:
    """The axes of each array, the fastest first: LAPACK has matrices column by column."""
    layouts: list[str] = []
    for shape, _ in kinds:
        axes = list(reversed(range(len(stack) + len(shape))))
        if len(shape) == 2:
            axes[:2] = reversed(axes[:2])
        layouts.append(_layout(axes))
    return layouts


def _layout(axes: Sequence[int]) -> str:
    listed = "" if not axes else axes[0] if len(axes) == 1 else list(axes)
    return f"dense<{listed}> : tensor<{len(axes)}xindex>"


_CALL = re.compile(r"custom_call @(\w+)\([^()]*\) (.*)")
_MATRICES = re.compile(r": \(tensor<((?:\d+x)+)f(?:32|64)>")
_OPTION = re.compile(r"(\w+) = (\d+) : ui8")


def is_sound(call: str) -> bool:
    """Whether a call in a module is one that would be written, for matrices of these sizes.

    `call` is the call as MLIR prints it.
    """
    parts = _CALL.search(call)
    found = _NAME.fullmatch(parts[1]) if parts else None
    matrices = _MATRICES.search(parts[2]) if parts else None
    if parts is None or found is None or matrices is None:
        return False
    letter, routine = found.groups()
    described = ROUTINES.get(routine)
    *stack, m, n = (0, 0, *map(int, matrices[1].removesuffix("x").split("x")))
    if described is None or not m or not n:
        return False
    if (routine in SQUARE and m != n) or (routine == "orgqr" and m < n):
        return False
    given = dict(_OPTION.findall(parts[2]))
    options = "".join(chr(int(given.get(name, 0))) for name, _ in described.options)
    if not all(o in v for o, (_, v) in zip(options, described.options, strict=True)):
        return False
    return parts[2] == call_text(letter, routine, tuple(stack[2:]), m, n, options)[0]
