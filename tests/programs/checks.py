"""How programs in the style of users are checked.

A program is a function of a file in `tests/programs/table` whose docstring shows calls:

    >>> newton(2.0)
    >>> newton(0.3)

The calls are the points at which it is checked, and the first of them gives the types of the
arguments, as it does for a user. They stand away from where the function branches, take different
branches and numbers of steps between them, and may be of other sizes. What is not a float, an
array of floats, or a container of these, is neither differentiated nor batched. Functions without
such calls are what the programs call. To add programs, add functions to a file there, or a file,
and run `pytest tests/programs --update-golden`; then read what was generated.

What is refused stands in the same form in `tests/programs/refused`, one call each, and its whole
message under `tests/golden/refused`.

For each, `check` runs the command line as a user would, and demands:

  value     equal to the user's function's, to the bit (but for `sum` of floats, see `is_exact`);
  vjp       its slope along random directions, which is checked against central differences;
  jvp       the same, and the value to the bit;
  second    the pullback of the pullback, reverse over reverse, against differences of the first;
  vmap      of the function and of its gradient: a loop over the points of the first's sizes.

The module of the first two is kept under `tests/golden/programs`. No argument is written to.
"""

from __future__ import annotations

import contextlib
import copy
import doctest
import importlib.util
import inspect
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from s2s.cli import main
from s2s.frontend.load import load_module
from s2s.tree import flatten, unflatten

TABLE = Path(__file__).with_name("table")
STEP = 1e-4
"""Of central differences, whose errors, once extrapolated, are about STEP⁴."""
CLOSE = {"rtol": 1e-6, "atol": 1e-6}
BATCHED = {"rtol": 1e-12, "atol": 1e-13}
"""NumPy's functions of arrays round differently from those of numbers, in the last place."""


@dataclass(frozen=True)
class Program:
    """A function of a user's file, and the calls that its docstring shows."""

    file: Path
    name: str

    @property
    def target(self) -> str:
        return f"{self.file.name}:{self.name}"

    @cached_property
    def function(self) -> Callable[..., Any]:
        return getattr(module_of(self.file), self.name)

    @cached_property
    def points(self) -> list[list[Any]]:
        """The arguments of each call, in the order of the parameters."""
        found: list[list[Any]] = []
        signature = inspect.signature(self.function)

        def record(*args: Any, **kwargs: Any) -> None:
            found.append(list(signature.bind(*args, **kwargs).arguments.values()))

        names = {**vars(module_of(self.file)), self.name: record}
        for example in doctest.DocTestParser().get_examples(self.function.__doc__ or ""):
            exec(example.source, names)
        return found

    @cached_property
    def parameters(self) -> list[str]:
        """Those that the calls give; others have defaults, and come last."""
        return list(inspect.signature(self.function).parameters)[: len(self.points[0])]

    @cached_property
    def wrt(self) -> list[int]:
        """Which parameters can be differentiated with respect to."""
        return [k for k, arg in enumerate(self.points[0]) if is_real(arg)]

    @cached_property
    def is_exact(self) -> bool:
        """Whether its value is the same to the bit. From Python 3.12 on, `sum` of Python's floats
        carries a compensation, which the `a + b + c` that is made of it has not."""
        calls_sum = re.search(r"(?<![.\w])sum\(", inspect.getsource(self.function))
        return sys.version_info < (3, 12) or calls_sum is None

    @property
    def argnums(self) -> int | tuple[int, ...]:
        return tuple(self.wrt) if len(self.wrt) > 1 else self.wrt[0]

    def value(self, args: Sequence[Any]) -> Any:
        """What the user's function returns; it may write to what it is given."""
        return self.function(*copy.deepcopy(list(args)))


_modules: dict[Path, ModuleType] = {}


def module_of(file: Path) -> ModuleType:
    if file not in _modules:
        _modules[file] = load_module(str(file))
    return _modules[file]


def programs(*files: Path) -> list[Program]:
    """The programs of the files, in their order."""
    return [
        Program(file, name)
        for file in files
        for name, found in vars(module_of(file)).items()
        if getattr(found, "__module__", None) == module_of(file).__name__
        and callable(found)
        and f">>> {name}(" in (found.__doc__ or "")
    ]


def identifier(program: Program) -> str:
    """What a test of the program is called."""
    return f"{program.file.stem}-{program.name}"


def is_real(tree: Any) -> bool:
    """Whether all of a container are floats or arrays of floats, and there is one at least."""
    leaves, _ = flatten(tree)
    return bool(leaves) and all(
        isinstance(leaf, (float, np.floating, np.ndarray)) and np.asarray(leaf).dtype.kind == "f"
        for leaf in leaves
    )


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.generic)) or (
        isinstance(value, np.ndarray) and value.shape == ()
    )


# -- the command line -----------------------------------------------------------------------------


@contextlib.contextmanager
def directory(path: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


def generate(program: Program, target: Path, *command: str) -> Callable[..., Any]:
    """The function that a command writes, run where the user's file is; `target` gets the text."""
    with directory(program.file.parent), contextlib.redirect_stdout(io.StringIO()) as output:
        assert main(command) == 0, f"s2s {' '.join(command)} failed"
    target.write_text(output.getvalue(), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(target.stem, target)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    functions = [f for f in vars(module).values() if getattr(f, "__module__", "") == target.stem]
    return functions[-1]


# -- numbers --------------------------------------------------------------------------------------


def moved(args: Sequence[Any], wrt: Sequence[int], direction: Sequence[Any], by: float) -> Any:
    """The arguments, those of `wrt` moved along a direction."""
    found = list(args)
    for k, change in zip(wrt, direction, strict=True):
        leaves, structure = flatten(args[k])
        changes, _ = flatten(change)
        moved_leaves = [leaf + by * d for leaf, d in zip(leaves, changes, strict=True)]
        found[k] = unflatten(structure, moved_leaves)
    return found


def random_like(tree: Any, seed: int) -> Any:
    """A container of the same structure, of numbers of the same size."""
    generator = np.random.default_rng(seed)
    leaves, structure = flatten(tree)
    drawn = [
        generator.uniform(0.5, 1.0, np.shape(leaf)) * (np.max(np.abs(leaf), initial=0.0) or 1.0)
        for leaf in leaves
    ]
    return unflatten(
        structure,
        [float(d) if isinstance(x, float) else d for x, d in zip(leaves, drawn, strict=True)],
    )


def inner(xs: Any, ys: Any) -> float:
    """The sum of the products of two containers' numbers."""
    pairs = zip(flatten(xs)[0], flatten(ys)[0], strict=True)
    return float(sum(np.sum(np.asarray(x) * y) for x, y in pairs))


def difference(xs: Any, ys: Any, by: float) -> list[Any]:
    pairs = zip(flatten(xs)[0], flatten(ys)[0], strict=True)
    return [(np.asarray(x) - y) / by for x, y in pairs]


def slope(function: Callable[..., Any], program: Program, args: Any, direction: Any) -> list[Any]:
    """The slope of a function of the arguments along a direction, by central differences of two
    steps, extrapolated to none."""

    def central(step: float) -> list[Any]:
        up, down = (function(moved(args, program.wrt, direction, by)) for by in (step, -step))
        return difference(up, down, 2.0 * step)

    return [f + (f - c) / 3.0 for f, c in zip(central(STEP / 2), central(STEP), strict=True)]


def assert_same(found: Any, wanted: Any, exact: bool = True) -> None:
    """Equal, to the bit if `exact`, in structure and in dtype of arrays."""
    (fs, found_structure), (ws, wanted_structure) = flatten(found), flatten(wanted)
    assert found_structure == wanted_structure
    for f, w in zip(fs, ws, strict=True):
        np.testing.assert_allclose(f, w, rtol=0.0 if exact else 1e-15)
        assert np.asarray(f).dtype == np.asarray(w).dtype
        assert np.shape(f) == np.shape(w)


def assert_close(found: Any, wanted: Any, **tolerance: float) -> None:
    for f, w in zip(flatten(found)[0], flatten(wanted)[0], strict=True):
        np.testing.assert_allclose(f, w, **tolerance)


def stacked(trees: Sequence[Any]) -> Any:
    """Arrays of the leaves of several containers of one structure."""
    _, structure = flatten(trees[0])
    columns = zip(*(flatten(tree)[0] for tree in trees), strict=True)
    return unflatten(structure, [np.stack(column) for column in columns])


def batch_of(program: Program) -> list[list[Any]]:
    """The points that differ from the first in nothing but their numbers."""
    first = program.points[0]
    fixed = [k for k in range(len(first)) if k not in program.wrt]
    shapes = [np.shape(leaf) for k in program.wrt for leaf in flatten(first[k])[0]]

    def belongs(args: list[Any]) -> bool:
        same = all(repr(args[k]) == repr(first[k]) for k in fixed)
        found = [np.shape(leaf) for k in program.wrt for leaf in flatten(args[k])[0]]
        return same and found == shapes

    return [args for args in program.points if belongs(args)]


# -- checks ---------------------------------------------------------------------------------------


def check(program: Program, scratch: Path, golden: Callable[[str, str], None]) -> None:
    """Everything that the module's docstring demands of a program."""
    pullback = check_value_and_gradient(program, scratch, golden)
    check_forward(program, scratch)
    check_second(program, scratch, pullback)
    check_batches(program, scratch, pullback)


Pullback = Callable[[list[Any], Any], "tuple[Any, Any]"]
"""The value, and the cotangents of the arguments of `wrt` for a given one of it."""


def check_value_and_gradient(
    program: Program, scratch: Path, golden: Callable[[str, str], None]
) -> Pullback:
    names = ",".join(program.parameters[k] for k in program.wrt)
    wanted = program.value(program.points[0])
    scalar = is_number(wanted)
    command = "value-and-grad" if scalar else "vjp"
    target = scratch / f"{program.name}_{command.replace('-', '_')}.py"
    generated = generate(program, target, command, program.target, "--wrt", names)
    golden(f"programs/{program.file.stem}/{program.name}.py", target.read_text(encoding="utf-8"))

    def pullback(args: list[Any], ct: Any) -> tuple[Any, Any]:
        value, bars = generated(*args) if scalar else generated(*args, ct)
        bars = bars if len(program.wrt) > 1 else (bars,)
        return value, bars

    for args in program.points:
        given = copy.deepcopy(args)
        wanted = program.value(args)
        ct = 1.0 if scalar else random_like(wanted, seed=5)
        value, bars = pullback(given, ct)
        assert_same(value, wanted, program.is_exact)
        assert_same(given, args)
        for seed in range(2):
            direction = random_like([args[k] for k in program.wrt], seed)
            found = inner(bars, direction)
            expected = inner(slope(program.value, program, args, direction), ct)
            np.testing.assert_allclose(found, expected, **CLOSE)
    return pullback


def check_forward(program: Program, scratch: Path) -> None:
    names = ",".join(program.parameters[k] for k in program.wrt)
    target = scratch / f"{program.name}_jvp.py"
    generated = generate(program, target, "jvp", program.target, "--wrt", names, "--no-verify")
    for args in program.points:
        direction = random_like([args[k] for k in program.wrt], seed=2)
        value, dot = generated(*args, *direction)
        assert_same(value, program.value(args), program.is_exact)
        assert_close(dot, slope(program.value, program, args, direction), **CLOSE)


def check_second(program: Program, scratch: Path, pullback: Pullback) -> None:
    """Reverse over reverse: the cotangents of the cotangents, with those of the value fixed."""
    value = program.value(program.points[0])
    scalar = is_number(value)
    argnums = program.argnums
    inner_text = f"grad({program.name}, {argnums})" if scalar else f"vjp({program.name}, {argnums})"
    text = f"vjp({inner_text}, {argnums})"
    target = scratch / f"{program.name}_second.py"
    generated = generate(program, target, "compile", program.file.name, text, "--no-verify")
    for args in program.points[:3]:
        value = program.value(args)
        ct = 1.0 if scalar else random_like(value, seed=5)
        bars = pullback(args, ct)[1]
        ct_bars = random_like(bars, seed=6)
        if scalar:
            found = generated(*args, ct_bars if len(program.wrt) > 1 else ct_bars[0])[1]
        else:
            zeros = unflatten(flatten(value)[1], [np.zeros(np.shape(v)) for v in flatten(value)[0]])
            outer = (zeros, ct_bars if len(program.wrt) > 1 else ct_bars[0])
            found = generated(*args, ct, outer)[1]
        found = found if len(program.wrt) > 1 else (found,)
        direction = random_like([args[k] for k in program.wrt], seed=7)
        slopes = slope(lambda xs, ct=ct: pullback(xs, ct)[1], program, args, direction)
        expected = inner(slopes, ct_bars)
        np.testing.assert_allclose(inner(found, direction), expected, rtol=1e-5, atol=1e-5)


def check_batches(program: Program, scratch: Path, pullback: Pullback) -> None:
    points = batch_of(program)
    assert len(points) > 1, "one call is no batch: show another, of the same sizes"
    axes = tuple(0 if k in program.wrt else None for k in range(len(program.parameters)))
    given = [
        stacked([args[k] for args in points]) if k in program.wrt else arg
        for k, arg in enumerate(points[0])
    ]
    text = f"vmap({program.name}, in_axes={axes})"
    target = scratch / f"{program.name}_vmap.py"
    generated = generate(program, target, "compile", program.file.name, text, "--no-verify")
    values = [program.value(args) for args in points]
    assert_close(generated(*given), stacked(values), **BATCHED)

    if not is_number(values[0]):
        return
    text = f"vmap(grad({program.name}, {program.argnums}), in_axes={axes})"
    target = scratch / f"{program.name}_grad_vmap.py"
    generated = generate(program, target, "compile", program.file.name, text, "--no-verify")
    found = generated(*given)
    bars = stacked([tuple(pullback(args, 1.0)[1]) for args in points])
    assert_close(found if len(program.wrt) > 1 else (found,), bars, rtol=1e-9, atol=1e-11)
