"""What a function does beside computing: noted where it tells something or reads a file."""

import logging
import os
from pathlib import Path

import numpy as np
import pytest

from tests.frontend.tracing import f64, traced

LOG = logging.getLogger(__name__)


def logs(x):
    LOG.info("x is %s", x)
    return x * x


def reads(x):
    with open(os.devnull) as file:
        return x * (1.0 + len(file.read()))


def reads_environment(x):
    return x * float(os.environ.get("S2S_SCALE", "2.0"))


def keeps_what_it_computed_once(x, memo={}):  # noqa: B006
    if "k" not in memo:
        memo["k"] = 3.0
    return x * memo["k"]


def changes_what_is_its_own(x):
    parts = {"a": x}
    parts["a"] = parts["a"] * 2.0
    nested = {"n": [1.0, {"m": 2.0}]}
    nested["k"] = 1.0
    nested["n"][1]["m"] = 3.0
    nested["n"][0] = 4.0
    found = [1.0]
    found.append(2.0)
    found += [3.0]
    return parts["a"] * found.pop()


@pytest.mark.parametrize(
    ("function", "note"),
    [
        (logs, "info() of a logger is left out of the generated function"),
        (reads, "open() reads a file now: the generated function has the numbers that it holds"),
        (reads_environment, "the environment is read now"),
    ],
)
def test_what_tells_or_reads_is_noted_with_its_line(function, note):
    with pytest.warns(UserWarning) as caught:
        traced(function, f64())
    (warning,) = caught
    assert note in str(warning.message)
    assert Path(warning.filename).name == Path(__file__).name
    assert warning.lineno > function.__code__.co_firstlineno


@pytest.mark.parametrize("function", [keeps_what_it_computed_once, changes_what_is_its_own])
def test_what_is_nobody_elses_may_change(function):
    for _ in range(2):
        traced(function, f64())


def test_a_file_of_numbers_is_noted(tmp_path):
    np.savetxt(tmp_path / "scale.txt", np.array([2.0]))

    def scaled(x):
        return np.sum(x * np.loadtxt(tmp_path / "scale.txt"))

    with pytest.warns(UserWarning, match="np.loadtxt reads a file now"):
        traced(scaled, f64(3))
