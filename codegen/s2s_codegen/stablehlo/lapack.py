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
from s2s_codegen.stablehlo.text import tensor

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
    letter: str, routine: str, stack: Shape, m: Size, n: Size, options: str
) -> tuple[str, list[Kind]]:
    """What stands behind the operands of a call, and the types of its results.

    `options` has the letter of each option of the routine.
    """
    described, element = ROUTINES[routine], FLOATS[letter]
    operands = [((m, n), element), *described.further(m, n, element)]
    results = described.results(m, n, element)
    given = zip(described.options, options, strict=True)
    config = ", ".join(f"{name} = {ord(value)} : ui8" for (name, _), value in given)
    attributes = (
        f"api_version = 4 : i32, backend_config = {{{config}}}, "
        f"operand_layouts = {_layouts(operands, stack)}, "
        f"result_layouts = {_layouts(results, stack)}"
    )
    types = _types(results, stack)
    returned = types[0] if len(types) == 1 else f"({', '.join(types)})"
    taken = ", ".join(_types(operands, stack))
    return f"{{{attributes}}} : ({taken}) -> {returned}", results


def _types(kinds: Sequence[Kind], stack: Shape) -> list[str]:
    return [tensor((*stack, *shape), element) for shape, element in kinds]


def _layouts(kinds: Sequence[Kind], stack: Shape) -> str:
    """The axes of each array, the fastest first: LAPACK has matrices column by column."""
    layouts: list[str] = []
    for shape, _ in kinds:
        rank = len(stack) + len(shape)
        axes = list(reversed(range(rank)))
        if len(shape) == 2:
            axes[:2] = reversed(axes[:2])
        layouts.append(f"dense<{axes if rank else ''}> : tensor<{rank}xindex>")
    return f"[{', '.join(layouts)}]"


_MATRICES = re.compile(r"\(tensor<((?:\d+x)+)f(?:32|64)>")
_OPTION = re.compile(r"(\w+) = (\d+) : ui8")


def is_sound(target: str, text: str) -> bool:
    """Whether a call in a module is one that would be written, of fixed sizes.

    `text` is what stands behind its operands, as MLIR prints it.
    """
    found, matrices = _NAME.fullmatch(target), _MATRICES.search(text)
    if found is None or matrices is None:
        return False
    letter, routine = found.groups()
    *stack, m, n = map(int, matrices[1].removesuffix("x").split("x"))
    given = dict(_OPTION.findall(text))
    options = "".join(chr(int(given.get(name, 0))) for name, _ in ROUTINES[routine].options)
    allowed = zip(options, ROUTINES[routine].options, strict=True)
    if not all(option in values for option, (_, values) in allowed):
        return False
    if (routine in SQUARE and m != n) or (routine == "orgqr" and m < n) or not m or not n:
        return False
    return text == call_text(letter, routine, tuple(stack), m, n, options)[0]
