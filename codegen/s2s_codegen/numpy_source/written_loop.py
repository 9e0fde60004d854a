"""WrittenLoop: a loop of the jaxpr with what the statement in Python says besides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from s2s.control.scan import Scan
from s2s.control.while_loop import While
from s2s.ir.dims import Dim, Size
from s2s.ir.jaxpr import ClosedJaxpr
from s2s.primitive import Primitive


@dataclass(frozen=True, eq=False)
class WrittenLoop(Primitive):
    """A scan or a while loop with what is written with it.

    The operands are those of the loop but for a count and for xs that number the steps. `offsets`
    has for each x the row of its operand that the first step reads, or None if it is the number of
    the step. `starts` has for each stacked result the position, among the carried values, of the
    one whose initial value stands in front of it (behind it if the loop runs in reverse), or None.
    """

    loop: Scan | While
    body: ClosedJaxpr
    """One step of the loop. That of a `for` loop over a range has the counter as its only x."""
    offsets: tuple[int | Dim | None, ...]
    starts: tuple[int | None, ...]
    first: Size = 0
    """The number of the first step of a scan (of the last one if it runs in reverse)."""
    stride: int = 1
    """How far the number of a scan's step is from that of the one before."""
    step: int | None = None
    """Of a while loop written as a `for` loop, by how much its counter grows in each step: the last
    two operands are the bounds."""
    flags: tuple[int, ...] = ()
    """The positions, among the carried values, of those that say in a step that it is the last."""

    name = "written_loop"
    multiple_results = True

    @property
    def num_counts(self) -> int:
        """How many results stand before the carried ones: the number of steps, if it is one."""
        return int(isinstance(self.loop, While) and self.loop.steps is not None)

    @property
    def has_effect(self) -> bool:
        return self.loop.has_effect

    @property
    def bound_dimension(self) -> str | None:
        return self.loop.bound_dimension

    def with_sizes(self, sizes: Mapping[str, Size]) -> Primitive:
        loop = self.loop.with_sizes(sizes)
        if loop is self.loop:
            return self
        assert isinstance(loop, (Scan, While))
        body = loop.jaxpr if isinstance(loop, Scan) else loop.body_jaxpr
        return replace(self, loop=loop, body=body)

    @property
    def reverse(self) -> bool:
        """Whether the last step of the xs comes first."""
        return isinstance(self.loop, Scan) and self.loop.reverse
