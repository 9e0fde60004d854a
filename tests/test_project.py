"""The project as its users meet it: the README, the package, the start of the command."""

import doctest
import os
import re
import resource
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

import s2s
from tests.conftest import ROOT, CommandLine
from tests.isolation import IsolatedRun

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
README = (ROOT / "README.md").read_text()


def console_blocks(markdown: str) -> list[str]:
    return re.findall(r"^```console\n(.*?)^```", markdown, re.MULTILINE | re.DOTALL)


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with the output shown under it."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif line.startswith("> ") and not found[-1][1]:
            found[-1] = (found[-1][0] + line[2:], "")
        else:
            found[-1] = (found[-1][0], found[-1][1] + line)
    return found


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What the README's reader has: the examples, and `s2s` both installed and in scripts/."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    command = (
        f"#!{sys.executable}\n"
        f"import sys\nsys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'codegen')!r}]\n"
        "from s2s.cli import main\nsys.exit(main())\n"
    )
    for path in (tmp_path / "bin" / "s2s", tmp_path / "scripts" / "s2s"):
        path.parent.mkdir()
        path.write_text(command)
        path.chmod(0o755)
    return tmp_path


def test_readme_has_commands() -> None:
    shown = [command for block in console_blocks(README) for command, _ in commands(block)]
    assert "scripts/s2s grad examples/mlp.py:loss -o loss_grad.py\n" in shown


def test_readme_commands_do_what_is_shown(checkout: Path) -> None:
    path = os.pathsep.join([str(checkout / "bin"), str(Path(sys.executable).parent)])
    environment = {**os.environ, "PATH": os.pathsep.join([path, os.environ["PATH"]])}
    for block in console_blocks(README):
        for command, expected in commands(block):
            process = subprocess.run(
                ["bash", "-c", command],
                cwd=checkout,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert process.returncode == 0, f"$ {command}{process.stdout}"
            if expected:
                same = doctest.OutputChecker().check_output(
                    expected, process.stdout, doctest.ELLIPSIS
                )
                assert same, f"$ {command}{process.stdout}\nbut README.md shows\n{expected}"


@pytest.mark.parametrize("document", ["README.md", ".github/CONTRIBUTING.md"])
def test_code_is_shown_as_it_is(document: str) -> None:
    """Code in a document is an excerpt of a file, except where it is a session at the prompt."""
    files = [*(ROOT / "examples").rglob("*.py"), *(ROOT / "s2s").rglob("*.py")]
    sources = [file.read_text() for file in files]
    text = (ROOT / document).read_text()
    shown = re.findall(r"^```python\n(?!>>>)(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert shown
    for code in shown:
        assert any(code in source for source in sources), code


def test_readme_python_examples(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout)
    result = doctest.testfile(
        str(ROOT / "README.md"), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert result.attempted > 0 and result.failed == 0


@pytest.mark.parametrize("document", ["README.md", ".github/CONTRIBUTING.md"])
def test_links_lead_somewhere(document: str) -> None:
    file = ROOT / document
    targets = re.findall(r"\]\((?!https?://|#)([^)#]+)", file.read_text())
    missing = [target for target in targets if not (file.parent / target).exists()]
    assert targets and not missing


def test_version_is_one() -> None:
    assert s2s.__version__ == PYPROJECT["project"]["version"]
    assert f"\n## {s2s.__version__}\n" in (ROOT / "CHANGELOG.md").read_text()


def test_oracle_is_of_the_compiler_s_version() -> None:
    assert version("jax") == version("jaxlib")


def test_each_module_has_its_room() -> None:
    """A module that the layers do not name would escape their check."""
    (rooms,) = (c for c in PYPROJECT["tool"]["importlinter"]["contracts"] if c["id"] == "rooms")
    named = {name.strip(" ()") for layer in rooms["layers"] for name in layer.split(":")}
    modules = {f"s2s.{path.stem}" for path in (ROOT / "s2s").iterdir() if is_module(path)}
    assert modules | {"s2s_codegen"} <= named


def is_module(path: Path) -> bool:
    if path.is_dir():
        return path.name != "__pycache__"
    return path.suffix == ".py" and not path.name.startswith("__")


@pytest.mark.parametrize("module", ["s2s", "s2s.cli"])
def test_import_is_light(module: str) -> None:
    heavy = ["black", "jax", "jaxlib", "scipy"]
    program = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    process = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert process.stdout == "[]\n"


def test_help_starts_at_once() -> None:
    """Within 0.15 s of a bare Python; CPU time, the best of five, as the machine is shared."""
    bare = cpu_seconds("pass")
    help_shown = cpu_seconds("import sys, s2s.cli; sys.argv[1:] = ['--help']; s2s.cli.main()")
    assert help_shown - bare < 0.15


def cpu_seconds(program: str) -> float:
    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert process.returncode == 0, process.stderr.decode()
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return min(once() for _ in range(5))


def test_wheel_holds_all_and_works(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True)
    (wheel,) = tmp_path.glob("s2s_compiler-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for source, package in [(ROOT, "s2s"), (ROOT / "codegen", "s2s_codegen")]:
        files = (source / package).rglob("*.py")
        assert {file.relative_to(source).as_posix() for file in files} <= names
    assert "s2s/py.typed" in names and "s2s_codegen/py.typed" in names

    # Installed, it works without the checkout.
    place = tmp_path / "site"
    subprocess.run([*pip, "install", "--no-deps", "--target", str(place), str(wheel)], check=True)
    program = (
        f"import sys; sys.path.insert(0, {str(place)!r})\n"
        "import s2s.cli, s2s_codegen\n"
        f"assert s2s.__file__.startswith({str(place)!r})\n"
        f"assert s2s_codegen.__file__.startswith({str(place)!r})\n"
        "sys.exit(s2s.cli.main())"
    )
    command = [sys.executable, "-I", "-c", program, "grad", "mlp.py:loss"]
    process = subprocess.run(command, cwd=ROOT / "examples", capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert "def loss_grad(" in process.stdout


def test_script_works_from_anywhere(tmp_path: Path) -> None:
    """scripts/s2s makes its own environment; its arguments are relative to the caller."""
    shutil.copy(ROOT / "examples" / "mlp.py", tmp_path / "mlp.py")
    command = [str(ROOT / "scripts" / "s2s"), "grad", "mlp.py:loss", "-o", "loss_grad.py"]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert "def loss_grad(" in (tmp_path / "loss_grad.py").read_text()


def test_isolated_run_returns_the_result(isolated_run: IsolatedRun, tmp_path: Path) -> None:
    module = tmp_path / "double.py"
    module.write_text("def double(x):\n    return 2 * x\n")
    assert isolated_run(module, "result = module.double(x)", {"x": 21}, packages=()) == 42


@pytest.mark.parametrize("imported", ["s2s", "jax", "scipy"])
def test_isolated_run_refuses_other_packages(
    isolated_run: IsolatedRun, tmp_path: Path, imported: str
) -> None:
    module = tmp_path / "imports.py"
    module.write_text(f"import numpy\nimport {imported}\n")
    with pytest.raises(pytest.fail.Exception, match=f"{imported} may not be imported here"):
        isolated_run(module, "result = None")


def test_command_line_reports_failure(command_line: CommandLine) -> None:
    process = command_line("grad", "no_such_file.py:loss")
    assert process.returncode == 1
    assert "no_such_file.py" in process.stderr and "Traceback" not in process.stderr
