"""Loading a function from a user's file, and what is said where that fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from s2s.errors import UserError
from s2s.frontend.load import load, load_module


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder that is the working directory; what is imported from it is forgotten."""
    monkeypatch.chdir(tmp_path)
    path, modules = list(sys.path), dict(sys.modules)
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - set(modules):
        del sys.modules[name]


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        sys.modules.pop(name, None)  # another test's
        (folder / f"{name}.py").write_text(text)


MODEL = """
import sibling

executed = []
executed.append(1)


def loss(w):
    return sibling.double(w)


def gradient_step(w, rate=0.1):
    return w


class Net:
    def __call__(self, x):
        return x

    def forward(self, x):
        return x


net = Net()
CONSTANT = 3
"""


def message(specification: str) -> str:
    with pytest.raises(UserError) as caught:
        load(specification)
    return str(caught.value)


def test_functions_methods_and_objects(folder: Path) -> None:
    write(folder, model=MODEL, sibling="def double(w):\n    return 2 * w\n")
    assert load("model.py:loss")(3) == 6
    assert load(f"{folder}/model.py:net")(3) == 3
    assert load("model.py:net.forward")(3) == 3
    assert load("model.py:Net.forward").__name__ == "forward"


def test_the_file_is_executed_once(folder: Path) -> None:
    write(folder, model=MODEL, sibling="def double(w):\n    return 2 * w\n")
    module = load_module("model.py")
    load("model.py:loss")
    assert load_module(f"{folder}/./model.py") is module
    assert module.executed == [1]
    assert sys.modules["model"] is module and module.__name__ == "model"


def test_siblings_that_import_the_file_get_the_same_module(folder: Path) -> None:
    write(folder, first="import second\nX = []\n", second="import first\n")
    module = load_module("first.py")
    assert module.second.first is module


def test_files_of_packages_may_import_from_them(folder: Path) -> None:
    package = folder / "layers"
    package.mkdir()
    write(package, __init__="", dense="from .base import g\n", base="def g(x):\n    return x\n")
    assert load("layers/dense.py:g")(3) == 3
    assert load_module("layers/dense.py").__name__ == "layers.dense"


def test_a_file_may_be_called_as_a_module_of_pythons_is(folder: Path) -> None:
    write(folder, signal="def f(x):\n    return x\n")
    import signal

    assert load("signal.py:f")(3) == 3
    assert sys.modules["signal"] is signal


def test_no_such_file(folder: Path) -> None:
    write(folder, model=MODEL)
    assert message("modle.py:loss") == "there is no file modle.py. Did you mean model.py?"
    assert message("other.py:loss") == "there is no file other.py."
    assert (
        message("src/model.py:f") == "there is no file src/model.py. There is no folder src either."
    )
    assert message(".:loss") == ". is a folder. Give a Python file in it."


def test_no_such_function(folder: Path) -> None:
    write(folder, model=MODEL, sibling="", empty="X = 1\n")
    assert message("model.py:los") == (
        "there is no function `los` in model.py. Did you mean loss? It defines loss, gradient_step."
    )
    assert message("model.py") == (
        "say which function of model.py, as in model.py:loss. It defines loss, gradient_step."
    )
    assert message("model.py:CONSTANT") == (
        "`CONSTANT` in model.py is a int, not a function. It defines loss, gradient_step."
    )
    assert message("model.py:Net.backward").startswith("there is no function `backward` of Net in")
    assert message("empty.py:f") == "there is no function `f` in empty.py. It defines no functions."


def test_syntax_error(folder: Path) -> None:
    write(folder, model="def f(x):\n    return x +\n", outer="import model\n")
    assert message("model.py:f") == "model.py:2: `return x +`: invalid syntax."
    assert message("outer.py:f") == "model.py:2: `return x +`: invalid syntax."


def test_errors_on_import_name_the_line(folder: Path) -> None:
    write(
        folder,
        divides="def g():\n    return 1 / 0\n\nY = g()\n",
        imports="import json\nimport nothing_like_it\n",
        library="import json\nX = json.loads('{')\n",
    )
    assert message("divides.py:g") == (
        "divides.py:2: `return 1 / 0`: importing divides.py raises "
        "ZeroDivisionError: division by zero."
    )
    assert message("imports.py:g") == (
        "imports.py:2: `import nothing_like_it`: importing imports.py raises "
        "ModuleNotFoundError: No module named 'nothing_like_it'."
    )
    assert message("library.py:g").startswith("library.py:2: `X = json.loads('{')`: importing")
    assert "divides" not in sys.modules, "so that a second attempt does not find half a module"


def test_files_that_end_the_program(folder: Path) -> None:
    write(folder, script="import sys\nsys.exit(2)\n")
    assert message("script.py:f") == (
        "script.py:2: `sys.exit(2)`: script.py ends the program when it is imported. "
        'Put what runs as a script under `if __name__ == "__main__":`.'
    )


def test_what_is_not_python(folder: Path) -> None:
    (folder / "data.py").write_bytes(b"\xff\xfe")
    assert message("data.py:f").startswith("data.py is not Python source:")
    (folder / "null.py").write_bytes(b"x = 1\0")
    assert "null" in message("null.py:f")
