"""The table of programs in the style of users; `checks` says what is demanded of each."""

from pathlib import Path

import pytest

from tests.conftest import ExpectedFiles
from tests.programs.checks import TABLE, Program, check, identifier, programs

PROGRAMS = programs(*sorted(TABLE.glob("*.py")))


@pytest.mark.parametrize("program", PROGRAMS, ids=identifier)
def test_program(program: Program, tmp_path: Path, golden: ExpectedFiles) -> None:
    check(program, tmp_path, golden)


def test_every_golden_is_of_a_program(golden: ExpectedFiles) -> None:
    wanted = {Path(program.file.stem, f"{program.name}.py") for program in PROGRAMS}
    found = golden.directory / "programs"
    assert {file.relative_to(found) for file in found.rglob("*.py")} == wanted
