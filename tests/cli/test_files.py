"""Nothing that a person wrote or edited is replaced; what is replaced is whole at any moment."""

import os
import stat

import pytest

from s2s.cli import files
from s2s.errors import UserError

MODULE = '"""A module."""\n\n\ndef f(x):\n    return x\n'


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "f_grad.py"
    files.replace(path, files.signed(MODULE))
    return path


def test_the_digest_is_a_last_line(written):
    text = written.read_text()
    assert text.startswith(MODULE)
    assert text.splitlines()[-1].startswith("# s2s digest: ")
    assert text == files.signed(MODULE)


def test_black_would_not_change_the_last_line(written):
    black = pytest.importorskip("black")
    text = written.read_text()
    assert black.format_str(text, mode=black.Mode()) == text


def test_what_s2s_wrote_may_be_replaced(written):
    files.check_replaceable(written)


def test_other_line_endings_are_no_edit(written):
    written.write_bytes(written.read_bytes().replace(b"\n", b"\r\n"))
    files.check_replaceable(written)


def test_an_empty_file_may_be_replaced(tmp_path):
    path = tmp_path / "new.py"
    path.write_text("\n")
    files.check_replaceable(path)
    files.check_replaceable(tmp_path / "does_not_exist.py")


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("return x", "return 2 * x"),
        lambda text: text + "\nprint(f(1))\n",
        lambda text: "# mine\n" + text,
        lambda text: text.replace("    return", "        return"),
    ],
)
def test_an_edited_file_is_kept(written, edit):
    written.write_text(edit(written.read_text()))
    with pytest.raises(UserError) as caught:
        files.check_replaceable(written)
    assert str(caught.value) == (
        f"{written} was edited since s2s wrote it, so it is kept. Give --force to replace it."
    )


@pytest.mark.parametrize("text", ["x = 1\n", "# s2s\n", MODULE])
def test_a_persons_file_is_kept(tmp_path, text):
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(UserError, match=r"mine\.py was not written by s2s, so it is kept\."):
        files.check_replaceable(path)


def test_a_file_that_is_no_text_is_kept(tmp_path):
    path = tmp_path / "data.npy"
    path.write_bytes(b"\x93NUMPY\xff")
    with pytest.raises(UserError, match="exists and cannot be read"):
        files.check_replaceable(path)


def test_folders(tmp_path):
    with pytest.raises(UserError, match=r"is a folder; give the name of a file with -o\."):
        files.check_replaceable(tmp_path)
    with pytest.raises(UserError, match=r"There is no folder .*/missing to write f\.py to\."):
        files.check_replaceable(tmp_path / "missing" / "f.py")


def test_replacing_keeps_permissions_and_links(written, tmp_path):
    written.chmod(0o750)
    link = tmp_path / "link.py"
    link.symlink_to(written)
    files.replace(link, "new\n")
    assert link.is_symlink()
    assert written.read_text() == "new\n"
    assert stat.S_IMODE(written.stat().st_mode) == 0o750


def test_a_new_file_gets_the_usual_permissions(tmp_path):
    before = os.umask(0o022)
    try:
        files.replace(tmp_path / "new.py", "new\n")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.py").stat().st_mode) == 0o644


def test_a_failed_write_leaves_the_old_file_and_nothing_else(written, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    old = written.read_text()
    with pytest.raises(UserError, match=r"f_grad\.py cannot be written: No space left on device\."):
        files.replace(written, "new\n")
    assert written.read_text() == old
    assert os.listdir(written.parent) == [written.name]


def test_difference(written):
    assert files.difference(written, written.read_text()) == ""
    diff = files.difference(written, files.signed(MODULE.replace("return x", "return 2 * x")))
    assert f"--- {written}\n+++ {written} (as it would be written)\n" in diff
    assert "\n-    return x\n+    return 2 * x\n" in diff


def test_difference_to_a_file_that_is_not_there(tmp_path):
    assert "+def f(x):\n" in files.difference(tmp_path / "missing.py", MODULE)
