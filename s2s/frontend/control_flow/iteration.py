"""What a `for` runs over that may become a loop of the jaxpr: ranges, rows of arrays, `zip`, ..."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from s2s.ir.bounds import bounds
from s2s.ir.dims import (
    Dim,
    Size,
    bound_names,
    bound_on_one_name,
    known_at_least,
    require_at_least,
    require_same,
    same_size,
)
from s2s.numpy.registry import mistake
from s2s.numpy.traced_sizes import positive_part, smaller, traced_size
from s2s.primitives import functions as lax
from s2s.primitives.creation import dim_as_value
from s2s.trace import Tracer, known_value


@dataclass(frozen=True)
class Counter:
    """The integers start, start + step, ..."""

    start: Any
    step: int = 1
    stop: Any = None
    """Where they end, if it is given."""

    def at(self, index: Any) -> Any:
        return self.start + index * self.step

    def part(self, first: Any) -> Counter:
        return Counter(self.at(first), self.step, self.stop)

    def backwards(self, length: Any) -> Counter:
        return Counter(self.at(length - 1), -self.step, self.start - self.step)

    def limits(self, length: Any) -> tuple[list[Size], list[Size]]:
        """What the integers are at least, and at most, as far as these are sizes."""
        first, last = [_size(self.start)], list[Size]()
        if self.stop is not None:
            last.append(_size(self.stop) - (1 if self.step > 0 else -1))
        if self.stop is None or not isinstance(length, Tracer):
            last.append(first[0] + (_size(length) - 1) * self.step)
        return (first, last) if self.step > 0 else (last, first)


@dataclass(frozen=True)
class Rows:
    """The rows of an array."""

    array: Any

    def at(self, index: Any) -> Any:
        return self.array[index]

    def part(self, first: Any) -> Rows:
        if first == 0:
            return self
        shape = self.array.aval.shape
        if bound_names(shape[0]):
            # There are as many, as is known here: nothing is moved into the array's bounds.
            start = (first, *[0] * (len(shape) - 1))
            return Rows(lax.slice(self.array, start, shape, (1,) * len(shape)))
        return Rows(self.array[first:])

    def backwards(self, length: Any) -> Rows:
        return Rows(self.array[::-1])


@dataclass(frozen=True)
class Listed:
    """Values that are known one by one."""

    values: Sequence[Any]

    def at(self, index: Any) -> Any:
        return self.values[index]

    def part(self, first: Any) -> Listed:
        return Listed(self.values[first:])

    def backwards(self, length: Any) -> Listed:
        return Listed(self.values[length - 1 :: -1] if length else ())


Source = Counter | Rows | Listed


class Items:
    """Items that are made from one value of each of several sources."""

    def __init__(
        self,
        length: Any,
        sources: Sequence[Source],
        build: Callable[[Sequence[Any]], Any],
        functions: Sequence[Callable[..., Any]] = (),
    ) -> None:
        self.length = length
        """An int, a size, or a traced integer."""
        self.sources = sources
        self.build = build
        self.functions = functions
        """The user's functions that `build` calls."""
        self._position = 0

    @property
    def can_be_traced(self) -> bool:
        return not any(isinstance(source, Listed) for source in self.sources)

    def at(self, index: Any) -> Any:
        return self.build([source.at(index) for source in self.sources])

    def part(self, first: Any) -> Items:
        """The items from a number on."""
        sources = [source.part(first) for source in self.sources]
        return Items(self.length - first, sources, self.build, self.functions)

    def backwards(self) -> Items:
        sources = [source.backwards(self.length) for source in self.sources]
        return Items(self.length, sources, self.build, self.functions)

    def by_index(self) -> Items:
        """The same with an index in place of each row."""
        counters = [source for source in self.sources if isinstance(source, Counter)]

        def build(values: Sequence[Any]) -> Any:
            own = iter(values)
            index = values[-1]
            return self.build(
                [
                    next(own) if isinstance(source, Counter) else source.at(index)
                    for source in self.sources
                ]
            )

        return Items(self.length, [*counters, Counter(0)], build, self.functions)

    def counted(self) -> Items:
        """The same with the number of the step as one more source, which is no part of an item."""
        sources = [*self.sources, Counter(0)]
        return Items(self.length, sources, lambda values: self.build(values[:-1]), self.functions)

    def known_length(self) -> int:
        if isinstance(self.length, int):
            return self.length
        what = f"the size {self.length}" if isinstance(self.length, Dim) else "a value"
        raise mistake(
            f"the number of items is {what} that is not known here. Use them in a `for` loop or a "
            "comprehension, or give the size a number in the types of the arguments."
        )

    def __iter__(self) -> Iterator[Any]:
        return iter([self.at(index) for index in range(self.known_length())])

    def __next__(self) -> Any:
        if self._position >= self.known_length():
            raise StopIteration
        self._position += 1
        return self.at(self._position - 1)


def items_of(value: Any) -> Items | None:
    """The items of something that can be iterated over; None if Python has to do it."""
    if isinstance(value, Items):
        return value
    if isinstance(value, range):
        return Items(len(value), [Counter(value.start, value.step)], _only)
    if isinstance(value, Tracer) and value.aval.shape:
        return Items(value.aval.shape[0], [Rows(value)], _only)
    if hasattr(value, "as_items"):
        return cast("Any", value).as_items()
    return None


def range_items(*bounds: Any) -> Items:
    """`range(...)` of bounds that depend on arguments or sizes."""
    start, stop, step = {1: (0, *bounds, 1), 2: (*bounds, 1), 3: bounds}[len(bounds)]
    if isinstance(step, Tracer):
        step = known_value(step)
    if not isinstance(step, int):
        raise mistake("the step of range() must be a number that does not depend on the arguments.")
    if step == 0:
        raise mistake("the step of range() must not be zero.")
    for bound in (start, stop):
        if isinstance(bound, Tracer) and (bound.aval.shape or bound.aval.dtype.kind not in "iu"):
            raise mistake(f"range() of a value of type {bound.aval}, which is not an integer.")
    first, last = (start, stop) if step > 0 else (stop, start)
    distance = last if type(first) is int and first == 0 else last - first
    length = distance if abs(step) == 1 else (distance + (abs(step) - 1)) // abs(step)
    return Items(_not_negative(length), [Counter(start, step, stop)], _only)


def _not_negative(length: Any) -> Any:
    """The number of items of a range: none where it ends before it starts. A size that may be
    negative for small values of its one name is taken not to be, which is checked on entry; one
    that depends on values is computed."""
    if isinstance(length, Tracer):
        zero = 0 if length.aval.weak_type else length.aval.dtype.type(0)
        return lax.max(length, zero)
    if not isinstance(length, Dim):
        return max(length, 0)
    least, most = bounds(length)
    if most is not None and most <= 0:
        return 0
    if bound_names(length) and not known_at_least(length, 0):
        return positive_part(length, [] if least is None else [length - least])
    if bound_on_one_name(length) is not None:
        require_at_least(length, 0, f"{length} >= 0")
    return length


def zip_items(*parts: Any, strict: bool = False) -> Items | None:
    found = [items_of(part) or _listed(part) for part in parts]
    items = [part for part in found if part is not None]
    if len(items) < len(found) or not items:
        return None
    length = items[0].length
    for other in items[1:]:
        length = _shorter(length, other.length, strict)
    sizes = [len(part.sources) for part in items]
    sources = [source for part in items for source in part.sources]

    def build(values: Sequence[Any]) -> Any:
        made: list[Any] = []
        start = 0
        for part, size in zip(items, sizes, strict=True):
            made.append(part.build(values[start : start + size]))
            start += size
        return tuple(made)

    cut = [
        Rows(source.array[:length])
        if isinstance(source, Rows) and not same_size(source.array.aval.shape[0], length)
        else source
        for source in sources
    ]
    return Items(length, cut, build, [f for part in items for f in part.functions])


def _shorter(a: Any, b: Any, strict: bool) -> Any:
    if isinstance(a, Tracer) or isinstance(b, Tracer):
        raise mistake("zip() of a number of items that depends on the values of the arguments.")
    if require_same(a, b):
        return a
    depends = bound_names(a) or bound_names(b)
    if strict and depends:
        raise mistake(
            "whether zip() is given as many items of each depends on the values of the arguments. "
            "Leave out strict=True, or compare the lengths in an assert."
        )
    if strict:
        raise mistake(f"zip() of {a} and {b} items.")
    if depends:
        return smaller(a, b)
    return a if a <= b else b


def enumerate_items(part: Any, start: Any = 0) -> Items | None:
    items = items_of(part)
    if items is None:
        return None
    return Items(
        items.length,
        [Counter(start), *items.sources],
        lambda values: (values[0], items.build(values[1:])),
        items.functions,
    )


def mapped_items(part: Any, function: Callable[[Any], Any]) -> Items | None:
    """The results of a function of each item."""
    items = items_of(part)
    if items is None:
        return None
    return Items(
        items.length,
        items.sources,
        lambda values: function(items.build(values)),
        [*items.functions, function],
    )


def _listed(part: Any) -> Items | None:
    if not isinstance(part, (list, tuple)):
        return None
    values = cast("Sequence[Any]", part)
    return Items(len(values), [Listed(values)], _only)


def _size(number: Any) -> Size:
    size = traced_size(number)
    return number if size is None else size


def _only(values: Sequence[Any]) -> Any:
    return values[0]


def as_number(bound: Any) -> Any:
    """A bound of a range as a value."""
    return dim_as_value(bound) if isinstance(bound, Dim) else bound
