"""docs/primitives.md: its program runs, and its sessions show what they say."""

import doctest
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from s2s.primitive import registry
from tests.conftest import ROOT

DOCUMENT = ROOT / "docs" / "primitives.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
BLOCKS: list[str] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of a file, since rules are copied from theirs."""
    monkeypatch.chdir(tmp_path)
    file = Path("program.py")
    file.write_text("\n\n".join(block for block in BLOCKS if not block.startswith(">>>")))
    made = ModuleType("program")
    made.__file__ = str(file)
    sys.modules["program"] = made
    return made


def test_each_rule_makes_the_next_transformation_work(module: ModuleType) -> None:
    text = Path(str(module.__file__)).read_text(encoding="utf-8")
    runner = doctest.DocTestRunner()
    refusals = 0
    try:
        for block in BLOCKS:
            if block.startswith(">>>"):
                refusals += block.count("Traceback")
                path = str(DOCUMENT)
                test = doctest.DocTestParser().get_doctest(block, {}, DOCUMENT.name, path, 0)
                test.globs = vars(module)
                runner.run(test, clear_globs=False)
            else:
                # On the lines that the block has in the file.
                before = "\n" * text[: text.index(block)].count("\n")
                exec(compile(before + block, str(module.__file__), "exec"), vars(module))
    finally:
        del sys.modules["program"]
        for name in ("multiply_add", "hypotenuse"):
            registry.pop(name, None)
    assert runner.summarize().failed == 0
    assert refusals == 6
