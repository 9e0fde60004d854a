"""The builders of jaxprs in force: all of tracing that a call of a compiled function asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from s2s.trace import Builder

builders: list[Builder] = []
"""The innermost last."""


def builder_in_force() -> Builder | None:
    """The builder that equations are appended to, or None outside of any trace."""
    return builders[-1] if builders else None
