"""Conversions, and what NumPy's functions tell of traced arrays while tracing."""

import numpy as np
import pytest

from s2s.numpy import COUNTERPARTS
from s2s.trace import builder_in_force
from tests.numpy.agreement import VALUES, assert_agrees, assert_expression_agrees, traced


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.bool_])
def test_a_type_called_converts(dtype):
    def converted(x):
        return dtype(x) if builder_in_force() is None else COUNTERPARTS[dtype](x)

    for name in ["m", "f", "i", "b", "s", "w", "k"]:
        assert_agrees(converted, VALUES[name])


@pytest.mark.parametrize(
    "text",
    [
        "m * np.shape(m)[1]",
        "m * m.shape[0]",
        "m * np.ndim(m) * m.ndim",
        "m * np.size(m)",
        "m * np.size(m, 0)",
        "m.size * m",
        "m * len(m)",
        "np.zeros(3, np.result_type(f, w)) * f[:, 0]",
        "np.zeros(3, np.result_type(f, m))",
        "m * np.iscomplexobj(m)",
        "m * np.isscalar(w)",
        "m * np.isrealobj(m)",
        "m * np.iterable(m)",
        "m * m.itemsize",
        "m * m.nbytes",
        "np.isreal(m)",
        "np.iscomplex(m)",
        "m * np.can_cast(f, float)",
        "m.astype(f.dtype)",
        "m * np.finfo(m.dtype).eps",
        "m * (m.dtype == np.float64)",
    ],
)
def test_what_is_known_while_tracing(text):
    assert_expression_agrees(text)


def test_a_python_number_has_no_array_attributes():
    def fun(x):
        assert not hasattr(x, "shape")
        return x

    traced(fun, 0.5)
