"""What s2s is doing, shown on a terminal where it takes more than a second."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Generator

_PATIENCE = 1.0
"""Seconds of work without a word."""


class Progress:
    """A line on standard error that says what is being done and for how long; it leaves no trace.

    Nothing is shown unless standard error is a terminal.
    """

    def __init__(self) -> None:
        self._doing = ""
        self._start = time.monotonic()
        self._stopped = threading.Event()

    def step(self, doing: str) -> None:
        """Say what begins now, such as `tracing loss`."""
        self._doing = doing

    @contextlib.contextmanager
    def shown(self) -> Generator[None]:
        """Show the progress of what is done inside the `with` block."""
        if not sys.stderr.isatty():
            yield
            return
        thread = threading.Thread(target=self._show, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            thread.join()

    def _show(self) -> None:
        if self._stopped.wait(_PATIENCE):
            return
        while not self._stopped.wait(0.2):
            seconds = time.monotonic() - self._start
            sys.stderr.write(f"\r\033[K{self._doing} ... {seconds:.0f} s")
            sys.stderr.flush()
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()
