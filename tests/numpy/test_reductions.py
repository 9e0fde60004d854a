"""Reductions, running totals, means and norms: NumPy's values and types."""

import numpy as np
import pytest

from tests.numpy.agreement import VALUES, assert_agrees, assert_expression_agrees

ARRAYS = ["v", "m", "t", "f", "i", "j", "g", "b", "s", "si", "w", "k", "l", "big", "z", "h"]


@pytest.mark.parametrize(
    "name", ["sum", "prod", "max", "min", "any", "all", "ptp", "count_nonzero"]
)
def test_a_reduction_of_all_elements(name):
    for array in ARRAYS:
        if (name, array) in [("ptp", "b"), ("prod", "l"), ("prod", "big")]:
            continue
        assert_expression_agrees(f"np.{name}({array})")


@pytest.mark.parametrize("name", ["mean", "var", "std", "average", "nansum", "nanmean", "nanprod"])
def test_a_statistic_of_all_elements(name):
    for array in ARRAYS:
        if not (name == "nanprod" and array in ("l", "big")):
            assert_expression_agrees(f"np.{name}({array})")


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all", "mean", "var", "std"])
@pytest.mark.parametrize("axis", [0, 1, -1, (0, 2), (2, 0), (), (0, 1, 2)])
def test_a_reduction_over_axes(name, axis):
    for keepdims in (False, True):
        for array in (
            VALUES["t"],
            VALUES["t"].astype(np.float32),
            np.round(VALUES["t"]).astype(np.int32),
        ):
            function = getattr(np, name)
            assert_agrees(lambda x, f=function, k=keepdims: f(x, axis=axis, keepdims=k), array)
            assert_agrees(lambda x, k=keepdims: getattr(x, name)(axis=axis, keepdims=k), array)


def test_sums_of_large_arrays_are_exact():
    x = np.random.default_rng(0).standard_normal((300, 257))
    for array in (x, x.astype(np.float32), x.astype(np.float16), x.T):
        for name in ("sum", "mean", "var", "std"):
            for axis in (None, 0, 1):
                assert_agrees(lambda x, n=name, a=axis: getattr(np, n)(x, axis=a), array)


@pytest.mark.parametrize(
    "text",
    [
        "np.sum(m, 0)",
        "np.sum(m, dtype=np.float32)",
        "np.sum(i, dtype=float)",
        "np.sum(j, axis=0, dtype=np.int32)",
        "m.sum(-1, keepdims=True)",
        "np.sum([m, m])",
        "np.mean(m, dtype=np.float32)",
        "np.mean(f, dtype=np.float64)",
        "np.mean(h)",
        "np.mean(h, axis=0)",
        "np.mean([1, w, 2])",
        "np.var(m, ddof=1)",
        "np.var(m, axis=0, ddof=2)",
        "np.std(f, axis=1, ddof=1)",
        "np.var(m, correction=1)",
        "np.var(m, ddof=0.5)",
        "np.std(m, mean=np.mean(m))",
        "np.var(m, axis=0, mean=np.mean(m, axis=0, keepdims=True))",
        "np.var(i, axis=0)",
        "np.var(c, ddof=5)",
        "m.var()",
        "m.std(ddof=1)",
        "np.average(m, axis=0, weights=c)",
        "np.average(m, weights=p)",
        "np.average(i, weights=p)",
        "np.average(m, axis=1, weights=v, keepdims=True)",
        "np.average(m, returned=True)",
        "np.average(m, axis=0, weights=c, returned=True)",
        "np.average(t, axis=(1, 2), weights=m)",
        "np.average(t, axis=(2, 1), weights=m.T)",
        "np.nansum(np.where(m > 0, m, np.nan), axis=0)",
        "np.nanmean(np.where(m > 0, m, np.nan), axis=0)",
        "np.nanmean(np.where(f > 0, f, np.float32(np.nan)), axis=1)",
        "np.nanmean(np.where(m > 0, m, np.nan))",
        "np.nanmax(np.where(m > 0, m, np.nan), axis=0)",
        "np.nanmin(m)",
        "np.nanmax(z)",
        "np.nanvar(np.where(m > 0, m, np.nan))",
        "np.nanstd(np.where(m > 0, m, np.nan), axis=0)",
        "np.argmax(m)",
        "np.argmax(m, axis=0)",
        "np.argmin(m, 1)",
        "m.argmax(-1)",
        "np.argmax(m, axis=1, keepdims=True)",
        "np.argmax(z)",
        "np.argmin(i)",
        "np.argmax(b, axis=0)",
        "np.argmin(m, keepdims=True)",
        "np.cumsum(m)",
        "np.cumsum(m, axis=0)",
        "np.cumsum(j)",
        "np.cumprod(m, 1)",
        "v.cumsum()",
        "np.cumsum(b)",
        "np.cumsum(f, axis=-1)",
        "np.cumsum(i, dtype=float)",
        "np.cumsum(s)",
        "np.ptp(m, axis=0, keepdims=True)",
        "np.count_nonzero(m > 0, axis=0)",
        "np.count_nonzero(m, keepdims=True)",
        "np.any(m > 1, axis=0)",
        "(m > 0).all()",
        "(m > 0).sum()",
        "(m > 0).mean()",
        "np.max(s)",
        "np.sum(w)",
        "np.mean(w)",
        "np.max([w, 1.0])",
        "np.sum(m, axis=None)",
        "np.add.reduce(m)",
        "np.add.reduce(m, axis=1)",
        "np.add.reduce(m, axis=None)",
        "np.maximum.reduce(m, axis=1, keepdims=True)",
        "np.multiply.reduce(v)",
        "np.minimum.reduce(m)",
        "np.logical_and.reduce(b)",
        "np.add.accumulate(m)",
        "np.multiply.accumulate(m, 1)",
        "np.multiply.outer(v, c)",
        "np.add.outer(m, v)",
        "np.subtract.outer(s, v)",
        "np.hypot.outer(c, c)",
    ],
)
def test_other_reductions(text):
    assert_expression_agrees(text)


@pytest.mark.parametrize(
    "text",
    [
        "np.linalg.norm(v)",
        "np.linalg.norm(m)",
        "np.linalg.norm(f)",
        "np.linalg.norm(i)",
        "np.linalg.norm(t)",
        "np.linalg.norm(m, axis=0)",
        "np.linalg.norm(m, axis=-1, keepdims=True)",
        "np.linalg.norm(m, 'fro')",
        "np.linalg.norm(v, 1)",
        "np.linalg.norm(v, 2)",
        "np.linalg.norm(v, np.inf)",
        "np.linalg.norm(v, -np.inf)",
        "np.linalg.norm(v, 0)",
        "np.linalg.norm(v, 3)",
        "np.linalg.norm(p, 2.5, axis=0)",
        "np.linalg.norm(m, 1)",
        "np.linalg.norm(m, np.inf)",
        "np.linalg.norm(m, -1)",
        "np.linalg.norm(m, -np.inf, keepdims=True)",
        "np.linalg.norm(t, axis=(0, 2))",
        "np.linalg.norm(m, keepdims=True)",
        "np.linalg.norm(t, 'fro', axis=(1, 2))",
        "np.linalg.norm(m, 1, axis=1)",
        "np.linalg.norm(t, 1, axis=(2, 0))",
        "np.linalg.norm(f, axis=0)",
        "np.linalg.norm(l)",
    ],
)
def test_norms(text):
    assert_expression_agrees(text)
