"""Writing a module where it replaces nothing that is a person's work.

What s2s prints or writes ends in a line with a digest of what stands above it. A file whose last
line agrees with it was written by s2s and not edited since, and may be replaced.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import tempfile
from pathlib import Path

from s2s.errors import UserError

_MARK = "# s2s digest: "


def signed(text: str) -> str:
    """The text of a module with its digest as the last line."""
    # Black wants two empty lines between a function and a comment that follows it.
    return f"{text.rstrip()}\n\n\n{_MARK}{_digest(text)}\n"


def _digest(text: str) -> str:
    # Version control may have changed how lines end.
    plain = text.replace("\r\n", "\n").rstrip()
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def is_as_written(text: str) -> bool:
    """Whether a file's text is as s2s wrote it."""
    body, mark, digest = text.rstrip().rpartition(_MARK)
    return bool(mark) and digest == _digest(body)


def check_replaceable(path: Path) -> None:
    """Raise UserError if there is something at `path` that s2s must not replace."""
    if path.is_dir():
        raise UserError(f"{path} is a folder; give the name of a file with -o.")
    if not path.parent.is_dir():
        raise UserError(f"There is no folder {path.parent} to write {path.name} to.")
    if not path.exists():
        return
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} exists and cannot be read ({error}).") from error
    if text.strip() and not is_as_written(text):
        edited = _MARK in text
        what = "was edited since s2s wrote it" if edited else "was not written by s2s"
        raise UserError(f"{path} {what}, so it is kept. Give --force to replace it.")


def replace(path: Path, contents: str | bytes) -> None:
    """Write a file so that at any moment the old or the new one is there, and whole."""
    data = contents.encode() if isinstance(contents, str) else contents
    path = path.resolve()  # a link stays a link
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(temporary, _mode(path))
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}.") from error


def _mode(path: Path) -> int:
    """The permissions of the file to be replaced, or those that a new file gets."""
    if path.exists():
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def difference(path: Path, text: str) -> str:
    """A unified diff from the file at `path` to the text; empty if they are the same."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = difflib.unified_diff(
        old.splitlines(keepends=True),
        text.splitlines(keepends=True),
        str(path),
        f"{path} (as it would be written)",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
