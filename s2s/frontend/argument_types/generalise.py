"""From an example's sizes to named dimensions.

    x: f64[3, 2], w: f64[2], with `x @ w`   ->   x: f64[n, m], w: f64[m]

Every axis of an example starts as a dimension of its own; an axis of size 1 stays 1. Where an
operation needs two sizes to be equal and the example's are, they become one and the trace starts
again. Where a number is needed, or a comparison comes out as it need not for other sizes, the axis
is fixed to the example's size, which the generated function checks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

from s2s.errors import KeptOutside, UserError
from s2s.frontend.argument_types.types import ArgumentType
from s2s.ir import dims
from s2s.ir.bounds import bounds
from s2s.ir.dims import Dim, Size
from s2s.ir.jaxpr import ShapedArray
from s2s.tree import flatten, tree_map

Result = TypeVar("Result")


class Restart(BaseException):
    """Ends an attempt that needs more to be known: `sizes` says what each name is to become.

    Not an Exception, so that no handler in the user's function catches it.
    """

    def __init__(self, sizes: Mapping[str, Size]) -> None:
        self.sizes = sizes
        super().__init__(", ".join(f"{name} := {size}" for name, size in sizes.items()))


@dataclass
class ExampleSizes(dims.Assumptions):
    """Assumptions that answer from an example, and see to it that the answer holds.

    `sizes` has the example's size for each dimension that s2s named, and `given` for those that
    the user named. The latter are what the user says they are: never merged and never fixed.
    """

    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    given: Mapping[str, int] = field(default_factory=dict[str, int])

    def decide(self, question: str, difference: Dim) -> bool:
        match self._value(difference):
            case None:
                return super().decide(question, difference)
            case 0:
                self._make_zero(f"whether {question}", difference)
            case value:
                self._keep_positive(
                    f"whether {question}", difference - 1 if value > 0 else -difference - 1
                )
                return False

    def decide_sign(self, question: str, difference: Dim) -> bool:
        value = self._value(difference)
        if value is None:
            return super().decide_sign(question, difference)
        self._keep_positive(f"whether {question}", difference if value >= 0 else -difference - 1)
        return value >= 0

    def unify(self, difference: Dim) -> bool:
        if self._value(difference) != 0 or not difference.names() & self.sizes.keys():
            return False
        self._make_zero(f"whether {difference} == 0", difference)

    def assume_at_least(self, name: str, least: int) -> None:
        if self.sizes.get(name, least) < least:
            self._fix(f"whether {name} >= {least}", dims.dimension(name), _is_number)
        super().assume_at_least(name, least)

    def number(self, size: Dim) -> int:
        if self._value(size) is None:
            return super().number(size)
        self._fix(f"the value of {size}", size, _is_number)

    def _value(self, size: Size) -> int | None:
        """The example's value of a size; None if it depends on a name that has none."""
        value = dims.substitute(size, {**self.sizes, **self.given})
        return value if isinstance(value, int) else None

    def _keep_positive(self, question: str, size: Size) -> None:
        """See to it that `size` is at least 0, as it is in the example, by a bound or a number."""
        bound = _lower_bound(size)
        if bound is None:
            self._fix(question, size, lambda fixed: _lower_bound(fixed) is not None)
        self.assume_at_least(*bound)

    def _make_zero(self, question: str, difference: Dim) -> NoReturn:
        solved = _solve(difference, self.sizes)
        if solved is None:
            self._fix(question, difference, lambda fixed: dims.same_size(fixed, 0))
        raise Restart(dict([solved]))

    def _fix(self, question: str, size: Size, is_settled: Callable[[Size], bool]) -> NoReturn:
        """Fix one name in `size` to its number if that settles the question; else all of them."""
        names = dims.names_of(size)
        # The last axes are rather those of a fixed size, such as the coordinates of points.
        for name in reversed([name for name in self.sizes if name in names]):
            alone = {name: self.sizes[name]}
            if is_settled(dims.substitute(size, alone)):
                raise Restart(alone)
        if not names or not names <= self.sizes.keys():
            raise dims.UndecidedDimension(question, sorted(names))
        raise Restart({name: self.sizes[name] for name in sorted(names)})


def _is_number(size: Size) -> bool:
    return isinstance(size, int)


def _lower_bound(size: Size) -> tuple[str, int] | None:
    """`n >= k` if that is what makes `size` at least 0."""
    return dims.bound_on_one_name(size) if isinstance(size, Dim) else None


def _solve(difference: Dim, names: Collection[str]) -> tuple[str, Size] | None:
    """One of `names` and what it is if `difference` is zero: `n - m - 1` gives n = m + 1.

    None unless there is one with coefficient 1 or -1, and a solution that is at least 1 for all
    sizes.
    """
    for name in sorted(difference.names().intersection(names)):
        for coefficient in (1, -1):
            rest = coefficient * difference - dims.dimension(name)
            if name not in dims.names_of(rest):
                solution = -rest
                low, _ = bounds(solution)
                if low is not None and low >= 1:
                    return name, solution
    return None


def dimension_names(avoid: Collection[str]) -> Iterator[str]:
    """n, m, k, p, ... and n1, m1, ..., without those to be avoided."""
    letters = "nmkpqrstuvdhlbcijw"
    numbered = (f"{letter}{i}" for i in itertools.count(1) for letter in letters)
    return (name for name in itertools.chain(letters, numbered) if name not in avoid)


def generalise(
    arguments: Mapping[str, ArgumentType],
    examples: Mapping[str, ArgumentType],
    attempt: Callable[[dict[str, ArgumentType]], Result],
) -> Result:
    """`attempt(arguments)` with the examples among the arguments generalised.

    `examples` has the types of the example, in numbers, for some or all of the arguments. Those of
    the arguments that are the same as in the example are generalised; the others are kept as the
    user gave them, their names having the example's sizes. `attempt` is called with `ExampleSizes`
    in force, again and again until it needs no more to be known; it must do all that asks about
    sizes, from the trace to the last pass. If it fails, it is called once more with the sizes of
    the example, which may need no more than that. Names are given in the order in which they
    appear in the arguments, so the same example gives the same names.
    """
    sizes: dict[str, int] = {}
    given: dict[str, int] = {}
    avoid = {*arguments, *_names_in(arguments.values())}
    current: dict[str, ArgumentType] = {}
    for name, argument in arguments.items():
        if name in examples and argument is examples[name]:
            argument = _each_axis_named(argument, sizes)
        elif name in examples:
            given.update(_sizes_of_names(argument, examples[name]))
        current[name] = argument
    while True:
        current, sizes = _renamed(current, sizes, avoid)
        with dims.assuming(ExampleSizes(sizes=sizes, given=given)):
            try:
                return attempt(current)
            except Restart as restart:
                current = with_sizes(current, restart.sizes)
            except (UserError, dims.UndecidedDimension) as error:
                if not sizes or isinstance(error, KeptOutside):
                    raise
                # What needs numbers gets them, and what is wrong is said in the example's own.
                current = with_sizes(current, sizes)


def _each_axis_named(argument: ArgumentType, sizes: dict[str, int]) -> ArgumentType:
    """The argument with a name for each axis of the example; `sizes` gets the sizes."""

    def name(size: Size) -> Size:
        if not isinstance(size, int) or size <= 1:
            return size
        # Not an identifier, so that it is no name of the user's.
        fresh = f"#{len(sizes)}"
        sizes[fresh] = size
        return dims.dimension(fresh)

    def visit(leaf: Any) -> Any:
        if not isinstance(leaf, ShapedArray):
            return leaf
        return ShapedArray(tuple(map(name, leaf.shape)), leaf.dtype, leaf.weak_type)

    return tree_map(visit, argument)


def _sizes_of_names(argument: ArgumentType, example: ArgumentType) -> dict[str, int]:
    """The values of the names in an argument's type, as far as the example's type shows them."""
    (leaves, structure), (values, example_structure) = flatten(argument), flatten(example)
    found: dict[str, int] = {}
    if structure != example_structure:
        return found
    for leaf, value in zip(leaves, values, strict=True):
        if isinstance(leaf, ShapedArray) and isinstance(value, ShapedArray):
            if leaf.ndim != value.ndim:
                continue
            for size, number in zip(leaf.shape, value.shape, strict=True):
                if isinstance(number, int) and str(size) in dims.names_of(size):
                    found[str(size)] = number
    return found


def with_sizes(
    arguments: Mapping[str, ArgumentType], sizes: Mapping[str, Size]
) -> dict[str, ArgumentType]:
    """The arguments with named dimensions replaced."""

    def visit(leaf: Any) -> Any:
        if not isinstance(leaf, ShapedArray):
            return leaf
        shape = tuple(dims.substitute(size, sizes) for size in leaf.shape)
        return ShapedArray(shape, leaf.dtype, leaf.weak_type)

    return {name: tree_map(visit, argument) for name, argument in arguments.items()}


def _renamed(
    arguments: Mapping[str, ArgumentType], sizes: Mapping[str, int], avoid: Collection[str]
) -> tuple[dict[str, ArgumentType], dict[str, int]]:
    """Short names for the examples' dimensions, in order of appearance."""
    fresh = dimension_names(avoid)
    new = {name: next(fresh) for name in _names_in(arguments.values()) if name in sizes}
    renamed = with_sizes(arguments, {old: dims.dimension(name) for old, name in new.items()})
    return renamed, {name: sizes[old] for old, name in new.items()}


def _names_in(arguments: Iterable[ArgumentType]) -> list[str]:
    found: dict[str, None] = {}

    def visit(leaf: Any) -> Any:
        if isinstance(leaf, ShapedArray):
            for size in leaf.shape:
                found.update(dict.fromkeys(sorted(dims.names_of(size))))
        return leaf

    tree_map(visit, list(arguments))
    return list(found)
