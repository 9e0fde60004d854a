"""A limit on how long code may run: at arguments that nobody chose, a user's loop may not end."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Generator
from types import FrameType


class TookTooLong(BaseException):
    """Ends what runs. Not an Exception, so that no handler in the user's function catches it."""


@contextlib.contextmanager
def at_most(seconds: float) -> Generator[None]:
    """Raise TookTooLong in what stands inside, once it has computed for so many seconds.

    There is no limit where the platform has no such signals, outside of the main thread, and if
    somebody else has set an alarm.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not hasattr(signal, "setitimer") or not is_main or any(signal.getitimer(_TIMER)):
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGVTALRM, end)
    # Again and again: an exception that is raised while garbage is collected gets lost.
    signal.setitimer(_TIMER, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(_TIMER, 0.0)
        signal.signal(signal.SIGVTALRM, before)


_TIMER: int = getattr(signal, "ITIMER_VIRTUAL", 0)
