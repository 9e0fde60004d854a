"""Inverse functions near the ends of their domains."""

from decimal import Decimal

import numpy as np
import pytest

from s2s import lax
from tests.primitives.derivatives import tangent


@pytest.mark.parametrize(
    "fun, x, formula",
    [
        (lax.asin, 1 - 1e-10, lambda x: 1 / (1 - x * x).sqrt()),
        (lax.acos, 1 - 1e-10, lambda x: -1 / (1 - x * x).sqrt()),
        (lax.acosh, 1 + 1e-10, lambda x: 1 / (x * x - 1).sqrt()),
        (lax.atanh, 1 - 1e-10, lambda x: 1 / (1 - x * x)),
    ],
)
def test_no_digits_are_lost(fun, x, formula) -> None:
    expected = float(formula(Decimal(x)))
    assert tangent(fun, [np.float64(x)], [np.float64(1.0)]) == pytest.approx(expected, rel=1e-15)


def test_atan2_in_all_quadrants() -> None:
    for x, y in [(1.0, 2.0), (1.0, -2.0), (-1.0, -2.0), (-1.0, 2.0)]:
        by_x = tangent(lax.atan2, [np.float64(x), np.float64(y)], [np.float64(1.0), None])
        assert by_x == pytest.approx(y / 5.0, rel=1e-15)
