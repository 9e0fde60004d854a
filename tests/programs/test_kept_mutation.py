"""--keep-mutation: arguments are changed as the user's function changes them, and never else."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2s
from s2s.api.derivatives import JvpFunction
from s2s.cli import main
from s2s.tree import flatten
from tests.programs import checks

FILE = Path(checks.__file__).with_name("kept_mutation.py")
PROGRAMS = {program.name: program for program in checks.programs(FILE)}
COMMANDS: dict[str, list[str]] = {
    "trace": ["trace"],
    "value-and-grad": ["value-and-grad", "--wrt"],
    "grad": ["grad", "--wrt"],
    "jvp": ["jvp", "--wrt"],
    "vjp": ["vjp", "--wrt"],
    "jacrev": ["jacrev", "--wrt"],
}


def assert_equal(found: Any, wanted: Any) -> None:
    for f, w in zip(flatten(found)[0], flatten(wanted)[0], strict=True):
        np.testing.assert_array_equal(f, w)


def given(program: checks.Program, command: str) -> list[Any]:
    """The arguments of the generated function at the first point."""
    args = copy.deepcopy(program.points[0])
    if command == "jvp":
        args += [checks.random_like(args[k], seed=2) for k in program.wrt]
    return [*args, 0.5] if command == "vjp" else args


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_arguments_are_left_as_the_users_function_leaves_them(
    name: str, command: str, tmp_path: Path
) -> None:
    program = PROGRAMS[name]
    words = [command, program.target, *COMMANDS[command][1:]]
    words += [",".join(program.parameters[k] for k in program.wrt)] if "--wrt" in words else []
    kept = checks.generate(program, tmp_path / "kept.py", *words, "--keep-mutation")
    plain = checks.generate(program, tmp_path / "plain.py", *words, "--no-verify")

    wanted = copy.deepcopy(program.points[0])
    program.function(*wanted)
    args, before = given(program, command), given(program, command)
    objects = [leaf for leaf in flatten(args)[0] if isinstance(leaf, np.ndarray)]
    result = kept(*args)
    assert_equal(args[: len(wanted)], wanted)
    assert_equal(args[len(wanted) :], before[len(wanted) :])
    left = [leaf for leaf in flatten(args)[0] if isinstance(leaf, np.ndarray)]
    assert name == "layer" or all(a is b for a, b in zip(objects, left, strict=True))

    args = given(program, command)
    assert_equal(plain(*args), result)
    assert_equal(args, before)
    assert "left as it is, though" in (plain.__doc__ or "")
    assert f"changed as `{name}` changes it" in (kept.__doc__ or "")


@pytest.mark.parametrize("name", ["step", "smoothed", "through_views"])
def test_rows_of_a_batch_are_changed(name: str, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    expression = f"vmap(grad({name}))"
    command = ["compile", program.file.name, expression, "--keep-mutation"]
    gradients = checks.generate(program, tmp_path / "gradients.py", *command)
    batch = [np.stack([np.asarray(a), 2.0 * np.asarray(a)]) for a in program.points[0]]
    rows = [[a[i].copy() for a in batch] for i in range(2)]
    for row in rows:
        program.function(*row)
    gradients(*batch)
    np.testing.assert_allclose(batch[0], np.stack([row[0] for row in rows]), rtol=1e-14)


def test_a_view_of_the_callers_array_is_changed() -> None:
    def doubled(x: Any) -> Any:
        x[1:] *= 2.0
        return np.sum(x)

    namespace: dict[str, Any] = {}
    exec(s2s.source(doubled, np.ones(3), keep_mutation=True), namespace)
    whole = np.ones((3, 2))
    namespace["doubled"](whole[:, 1])
    np.testing.assert_array_equal(whole, [[1.0, 1.0], [1.0, 2.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match="read-only"):
        namespace["doubled"](np.broadcast_to(1.0, (3,)))


@pytest.mark.parametrize("keep", [False, True])
def test_arguments_that_share_memory_are_refused(keep: bool) -> None:
    def moved(x: Any, y: Any) -> Any:
        x[0] = 5.0
        return np.sum(x * y)

    namespace: dict[str, Any] = {}
    exec(s2s.source(moved, np.ones(3), np.ones(3), keep_mutation=keep), namespace)
    whole = np.ones(5)
    for y in (whole[:3], whole[2:]):
        with pytest.raises(ValueError, match="`moved` changes x, which shares memory with another"):
            namespace["moved"](whole[:3], y)
    interleaved = np.ones(6)
    assert namespace["moved"](interleaved[::2], interleaved[1::2]) == 7.0


def test_a_direction_may_be_the_argument_only_if_that_stays() -> None:
    def moved(x: Any) -> Any:
        x[0] = x[1] ** 2
        return np.sum(x * x)

    example = np.array([1.0, 2.0, 3.0])
    for keep in (False, True):
        namespace: dict[str, Any] = {}
        exec(s2s.source(JvpFunction(moved, 0), example, example, keep_mutation=keep), namespace)
        if keep:
            with pytest.raises(ValueError, match="shares memory"):
                namespace["moved_jvp"](example, example)
        else:
            _, dot = namespace["moved_jvp"](example, example)
            assert dot == 2.0 * (4.0 * 2.0 * 2.0 * 2.0 + 4.0 + 9.0)


REFUSED = '''import numpy as np

def appended(p):
    """
    >>> appended([np.ones(2)])
    """
    p.append(p[0])
    return np.sum(p[1])

def renamed(p):
    """
    >>> renamed({"x": np.ones(2), "name": "old"})
    """
    p["name"] = "new"
    return np.sum(p["x"])

def both(p):
    """
    >>> both({"x": np.ones(2)})
    """
    p["x"][0] = 3.0
    p["x"] = p["x"] * 2.0
    return np.sum(p["x"])

def resized(p):
    """
    >>> resized({"x": np.ones(2)})
    """
    p["x"] = np.sum(p["x"])
    return p["x"]

def shared(x, y):
    """
    >>> shared(np.ones(2), np.ones(2))
    """
    x[0] = y[0]
    return np.sum(x * y)
'''


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("appended", "adds to, or takes away from, the container that is its argument `p`"),
        ("renamed", "changes 'old' in its argument `p`, which is fixed when the module is made"),
        ("both", "changes an array in its argument `p` and then puts another one in its place"),
        ("resized", "puts something of another type into its argument `p`"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "refused.py"
    file.write_text(REFUSED, encoding="utf-8")
    assert main(["trace", f"{file}:{name}", "--keep-mutation"]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert "refused.py:" in error
    assert main(["trace", f"{file}:{name}"]) == 0
    assert "left as it is, though" in capsys.readouterr().out


def test_an_argument_that_is_the_same_for_a_batch_is_not_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "refused.py"
    file.write_text(REFUSED, encoding="utf-8")
    command = ["compile", str(file), "vmap(shared, in_axes=(None, 0))"]
    assert main(command) == 0
    assert main([*command, "--keep-mutation"]) == 1
    assert "changes `x`, which is the same for all examples" in capsys.readouterr().err


@pytest.mark.parametrize("form", [["--target", "xla"], ["--stablehlo", "step.mlir"]])
def test_xla_changes_no_arguments(form: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["trace", f"{FILE}:step", "--keep-mutation", *form])
    assert "--keep-mutation is of NumPy modules" in capsys.readouterr().err
