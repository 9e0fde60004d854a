"""Covariances, histograms, polynomials, elements put in: NumPy's values and types."""

import numpy as np
import pytest

from tests.numpy.agreement import assert_agrees, assert_expression_agrees


@pytest.mark.parametrize(
    "text",
    [
        "np.cov(m)",
        "np.cov(m, rowvar=False)",
        "np.cov(v, u)",
        "np.cov(m, u)",
        "np.cov(v)",
        "np.cov(m, bias=True)",
        "np.cov(m, ddof=0)",
        "np.cov(f)",
        "np.cov(i)",
        "np.cov(m, m, rowvar=False)",
        "np.corrcoef(m)",
        "np.corrcoef(v, u)",
        "np.corrcoef(m, rowvar=False)",
        "np.corrcoef(v)",
        "np.vander(v, 3)",
        "np.vander(v)",
        "np.vander(v, 4, increasing=True)",
        "np.vander(v, 1)",
        "np.polyder(v)",
        "np.polyder(v, 2)",
        "np.polyint(v)",
        "np.polyint(v, 2, k=[1.0, 2.0])",
        "np.polyint(v, 2, 3.0)",
        "np.polyadd(v, c)",
        "np.polysub(c, v)",
        "np.polyfit(v, u, 1)",
        "np.polyfit(v, u, 2)",
        "np.polyfit(v, m.T, 1)",
        "np.polyfit(v, u, 1, w=v + 9.0)",
        "np.polynomial.polynomial.polyval(m, c)",
        "np.polynomial.polynomial.polyval(0.5, v)",
        "np.gradient(v, edge_order=2)",
        "np.gradient(m, 0.5, edge_order=2)",
        "np.gradient(v, np.array([0.0, 1.0, 1.5, 4.0]), edge_order=2)",
        "np.gradient(m, np.array([0.0, 1.0, 1.5, 4.0]), axis=1, edge_order=2)",
        "np.unwrap(v)",
        "np.unwrap(3.0 * m)",
        "np.unwrap(3.0 * m, axis=0)",
        "np.unwrap(v * 4.0, discont=4.0)",
        "np.unwrap(v * 4.0, period=1.5)",
        "np.unwrap(np.array([0.0, np.pi, 2 * np.pi]) + 0.0 * c)",
        "np.histogram(v, bins=4, range=(-3.0, 3.0))",
        "np.histogram(m, bins=5)",
        "np.histogram(m, [-2.0, 0.0, 0.5, 4.0])",
        "np.histogram(m, bins=5, density=True)",
        "np.histogram(v, 3, (-4.0, 4.0), weights=u)",
        "np.histogram(np.ones(3) + 0.0 * c, 4)",
        "np.delete(v, 1)",
        "np.delete(v, -1)",
        "np.delete(m, 0, axis=0)",
        "np.delete(m, [0, 2], axis=1)",
        "np.delete(m, 3)",
        "np.delete(v, slice(None, None, 2))",
        "np.insert(v, 2, 5.0)",
        "np.insert(v, 0, u)",
        "np.insert(v, 4, 1)",
        "np.insert(m, 1, v, axis=0)",
        "np.insert(m, 1, c, axis=1)",
        "np.insert(m, 1, 2.0, axis=1)",
        "np.insert(m, 5, 2.0)",
        "np.resize(v, 7)",
        "np.resize(v, (2, 3))",
        "np.resize(v, 2)",
        "np.lib.stride_tricks.sliding_window_view(v, 2)",
        "np.lib.stride_tricks.sliding_window_view(m, (2, 2))",
        "np.lib.stride_tricks.sliding_window_view(m, 3, axis=1)",
        "np.lib.stride_tricks.sliding_window_view(m, 2, axis=0)",
        "np.lib.stride_tricks.sliding_window_view(m, 2, axis=0).sum(axis=-1)",
        "np.cumulative_sum(v)",
        "np.cumulative_sum(m, axis=1, include_initial=True)",
        "np.cumulative_prod(v, include_initial=True)",
        "np.maximum.accumulate(v)",
        "np.maximum.accumulate(m, axis=1)",
        "np.minimum.accumulate(m)",
        "np.maximum.accumulate(i)",
        "np.add.reduce(v, initial=2.0)",
        "np.add.reduce(m, axis=1, where=m > 0)",
    ],
)
def test_agrees(text):
    assert_expression_agrees(text)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean"])
def test_of_chosen_elements(name):
    given = ", initial=1.5" if name in ("max", "min") else ""
    for array in ("v", "m", "t", "f"):
        assert_expression_agrees(f"np.{name}({array}, where={array} > 0.0{given})")
        assert_expression_agrees(f"{array}.{name}(where={array} > 0.0{given})")
    for axis in (0, 1):
        assert_expression_agrees(f"np.{name}(m, axis={axis}, where=m > -2.0{given})")
        assert_expression_agrees(f"np.{name}(m, axis={axis}, where=v > -2.0{given}, keepdims=True)")


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_with_an_initial_value(name):
    for array in ("v", "m", "i", "f"):
        assert_expression_agrees(f"np.{name}({array}, initial=2)")
    # Of floats, NumPy adds rows to the initial value one by one, which the last bits show.
    for array in ("v", "m", "i", "f") if name in ("max", "min") else ("v", "i"):
        assert_expression_agrees(f"{array}.{name}(axis=0, initial=-3)")
    assert_agrees(lambda x, s: getattr(np, name)(x, initial=s), np.ones((2, 3)), 1.5)
