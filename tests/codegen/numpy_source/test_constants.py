"""Arrays of the user's module, written into the generated one."""

from typing import Any

import black
import numpy as np
import pytest

from s2s import lax
from s2s.errors import UserError
from s2s.ir.jaxpr import aval_of
from s2s.trace import make
from s2s_codegen.numpy_source import constants
from s2s_codegen.numpy_source.constants import Constants
from s2s_codegen.numpy_source.name import Names


def written(array: Any) -> str:
    closed = make(lambda x: [lax.select_n(lax.eq(x, x), x, array)], [aval_of(array)], ["x"])
    closed.jaxpr.constvars[0].name = "table"
    constants = Constants()
    constants.name(closed, Names())
    return "\n".join(["import numpy as np", "", *constants.definitions(), ""])


@pytest.mark.parametrize(
    "array",
    [
        np.array([1.0, 0.1, -2.5e-300]),
        np.array([[1, 2], [3, 4]]),
        np.array([1.5, 2.5], np.float32),
        np.array([True, False]),
        np.linspace(0.0, 1.0, 200).reshape(2, 100),
        np.arange(100),
        np.arange(90) % 7 == 0,
        np.array([np.inf, -np.inf, np.nan, 1.0]),
        np.linspace(0.0, 1.0, 50, dtype=np.float32),
        np.zeros((0, 3)),
        np.zeros(0, np.int64),
        np.zeros((2, 0), bool),
        np.arange(40) * (1 + 2j),
    ],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_the_text_is_the_array(array: Any) -> None:
    text = written(array)
    assert black.format_str(text, mode=black.Mode()) == text
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    found = namespace["TABLE"]
    assert found.dtype == array.dtype and found.shape == array.shape
    np.testing.assert_array_equal(found, array)


def test_a_short_one_is_on_a_line() -> None:
    assert "TABLE = np.array([1.0, 0.1])\n" in written(np.array([1.0, 0.1]))


def test_a_large_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "LARGEST", 10)
    with pytest.raises(UserError, match=r"of shape \(11,\), too large.*argument of the function"):
        written(np.zeros(11))
