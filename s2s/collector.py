"""Python's collector of cycles, which looks at all objects again and again as they become more."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Generator


@contextlib.contextmanager
def collector_paused() -> Generator[None]:
    """Keep the collector of cycles from running for the duration of a `with` block or a function.

    What imports and tracing make is many small objects, hardly any of them garbage before the end.
    The collector would look at all of them again and again, so that twice the equations took more
    than twice the time.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
