"""New arrays, and what is known of arrays while tracing."""

import pytest

from tests.numpy.agreement import assert_expression_agrees


@pytest.mark.parametrize(
    "text",
    [
        "np.array([w, 1.0, s])",
        "np.array([[w, 1], [2, 3]])",
        "np.array([1, k])",
        "np.array([v, u])",
        "np.array([v, [1, 2, 3, 4]])",
        "np.array(m)",
        "np.array([w, 1], dtype=np.float32)",
        "np.array(w)",
        "np.array([[v], [u]])",
        "np.array([sf, 1.0])",
        "np.array((w, k))",
        "np.array(v, ndmin=2)",
        "np.array([k, yes])",
        "np.asarray(m)",
        "np.asarray([w, 2.0])",
        "np.asarray(m, np.float32)",
        "np.ascontiguousarray(m.T)",
        "np.zeros_like(m) + m",
        "np.ones_like(f)",
        "np.full_like(m, w)",
        "np.full_like(i, 2.7)",
        "np.empty_like(m) * 0",
        "np.zeros_like(m, dtype=int)",
        "np.zeros_like(w)",
        "np.ones_like(m, shape=(2,))",
        "np.full((2, 3), w)",
        "np.full((2, 4), v)",
        "np.linspace(0.0, w, 5)",
        "np.linspace(w, 2, 4, endpoint=False)",
        "np.linspace(v, u, 3)",
        "np.linspace(v, 1.0, 3, axis=1)",
        "np.linspace(w, 3, 1)",
        "np.linspace(s, 2, 7, retstep=True)",
        "np.linspace(0, sf, 4)",
        "np.linspace(k, 9, 4, dtype=int)",
        "np.linspace(w, w, 3)",
        "np.logspace(w, 2.0, 4)",
        "np.indices((2, 3)) + w",
        "np.identity(3) * w",
    ],
)
def test_creation_from_traced_values(text):
    assert_expression_agrees(text)
