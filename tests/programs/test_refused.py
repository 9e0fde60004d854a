"""What is refused, with its whole message: the line, what is wrong, and a way out."""

import re
from pathlib import Path

import pytest

from s2s.cli import main
from tests.conftest import ExpectedFiles
from tests.programs.checks import Program, directory, programs

FILES = sorted(Path(__file__).with_name("refused").glob("*.py"))
PROGRAMS = programs(*FILES)


def message_of(program: Program, capsys: pytest.CaptureFixture[str]) -> str:
    with directory(program.file.parent):
        assert main(["grad", program.target]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    return output.err


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_refusal(
    program: Program, capsys: pytest.CaptureFixture[str], golden: ExpectedFiles
) -> None:
    message = message_of(program, capsys)
    line = re.match(rf"s2s: {re.escape(program.file.name)}:(\d+): ", message)
    assert line is not None, message
    assert "fault of s2s" not in message
    text = program.file.read_text(encoding="utf-8").splitlines()[int(line[1]) - 1].strip()
    assert text in message
    golden(f"refused/{program.file.stem}/{program.name}.txt", message)
