"""Tables, interpolation and sliding windows."""

import numpy as np
import pytest

from tests.numpy.agreement import VALUES, assert_expression_agrees

TABLE = {
    "xp": np.array([-2.0, -0.5, 0.0, 1.0, 2.5]),
    "fp": np.array([1.0, 3.0, -1.0, 0.3, 2.0]),
    "x": np.concatenate([VALUES["v"], [-2.0, 0.0, 2.5, -9.0, 9.0, 0.25, np.nan]]),
}


@pytest.mark.parametrize(
    "text",
    [
        "np.interp(x, xp, fp)",
        "np.interp(x, xp, fp, left=7.0, right=w)",
        "np.interp(m, xp, fp)",
        "np.interp(w, xp, fp)",
        "np.interp(i, xp, fp)",
        "np.searchsorted(xp, x[:-1])",
        "np.searchsorted(xp, m, side='right')",
        "np.searchsorted(xp, w)",
    ],
)
def test_tables(text):
    assert_expression_agrees(text, **TABLE)


@pytest.mark.parametrize(
    "text",
    [
        "np.convolve(v, c)",
        "np.convolve(c, v)",
        "np.convolve(v, c, 'same')",
        "np.convolve(v, c[:2], mode='same')",
        "np.convolve(l[:50], v, 'valid')",
        "np.convolve(v, w)",
        "np.correlate(v, c)",
        "np.correlate(c, v, 'full')",
        "np.correlate(v, c, 'full')",
        "np.correlate(v, c, 'same')",
        "np.correlate(v, c[:2], 'same')",
        "np.correlate(i[0], i[1], 'full')",
    ],
)
def test_sliding_windows(text):
    # NumPy adds the products of a window in another order.
    assert_expression_agrees(text, relative=1e-15)
