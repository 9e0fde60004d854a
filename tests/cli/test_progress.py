"""Progress is shown on a terminal, after a second, and leaves no trace."""

import io
import sys
import time

from s2s.cli import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, stream, patience, seconds):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_PATIENCE", patience)
    it = progress.Progress()
    with it.shown():
        it.step("tracing loss")
        time.sleep(seconds)
    return stream.getvalue()


def test_slow_work_is_shown_and_then_erased(monkeypatch):
    text = shown(monkeypatch, Terminal(), 0.0, 0.5)
    assert "\r\033[Ktracing loss ... 0 s" in text
    assert text.endswith("\r\033[K")


def test_fast_work_is_not_shown(monkeypatch):
    assert shown(monkeypatch, Terminal(), 60.0, 0.1) == ""


def test_nothing_is_shown_where_there_is_no_terminal(monkeypatch):
    assert shown(monkeypatch, io.StringIO(), 0.0, 0.3) == ""
