"""np.unique of values, of which only these tell how many elements differ."""

import numpy as np
import pytest

from s2s.errors import UserError
from s2s.numpy import COUNTERPARTS
from tests.numpy.agreement import VALUES, assert_expression_agrees, traced


@pytest.mark.parametrize("name", ["m", "i", "j", "g", "b", "f", "v", "n"])
@pytest.mark.parametrize(
    "text",
    [
        "np.unique({x}).sum()",
        "np.unique({x}, return_inverse=True)[1]",
        "(np.unique({x}, return_counts=True)[1] ** 2).sum()",
        "np.unique({x}, return_index=True)[1].sum()",
        "sum((a * 3).sum() for a in np.unique({x}, True, True, True))",
        "np.unique({x}, return_inverse=True)[0][np.unique({x}, return_inverse=True)[1]] + 0",
    ],
)
def test_unique(name, text):
    assert_expression_agrees(text.format(x=name))


@pytest.mark.parametrize("name", ["x", "x[::2]", "np.concatenate([x, x])"])
def test_nans_are_one(name):
    x = np.array([np.nan, 1.0, np.nan, -0.0, 0.0, 1.0, np.inf])
    assert_expression_agrees(f"np.unique({name}, return_inverse=True)[1]", x=x)
    assert_expression_agrees(
        f"(np.unique({name}, return_counts=True, equal_nan=False)[1] ** 3).sum()", x=x
    )
    assert_expression_agrees(f"(np.unique({name}, return_counts=True)[1] ** 3).sum()", x=x)


def test_along_an_axis_it_is_refused():
    with pytest.raises(UserError, match="`axis` is not supported"):
        traced(lambda m: COUNTERPARTS[np.unique](m, axis=0), VALUES["m"])
